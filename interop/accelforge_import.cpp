// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "interop/accelforge.hpp"
#include "interop/accelforge_chain.hpp"
#include "interop/accelforge_mapping.hpp"
#include "interop/bit_machines.hpp"
#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

const Words kSections{"arch",      "workload", "renames", "mapping",
                      "variables", "mapper",   "config",  "model"};

// The first value that depends on the widths of tensors, which a workload says; or nullptr. What is
// a multiple of the width of a value does not.
const Node* value_by_width(const Node& node) {
  const auto names_width = [](const Node& value) {
    return value.text.find(".bits_per_value") != std::string::npos;
  };
  for (const Entry& entry : node.entries) {
    if (entry.key.text == "values_per_action") {
      return &entry.value;
    }
    if (entry.key.text == "bits_per_value") {
      for (const Entry& each : entry.value.entries) {
        if (!names_width(each.value)) {
          return &each.value;
        }
      }
    } else if (const Node* inside = value_by_width(entry.value)) {
      return inside;
    }
  }
  for (const Node& item : node.items) {
    if (const Node* inside = value_by_width(item)) {
      return inside;
    }
  }
  return names_width(node) ? &node : nullptr;
}

class ForgeImporter {
 public:
  explicit ForgeImporter(const FrontEndSettings& settings) : settings_{settings} {}

  void add(FrontEndDocument document) {
    asked_.insert(document.asked.begin(), document.asked.end());
    documents_.push_back(std::move(document));
  }

  ForgeImport read() {
    for (FrontEndDocument& document : documents_) {
      sources_.push_back({Reader{document.document}, &document});
      try_at(sources_.back(), refuse_compute_in_memory);
      try_at(sources_.back(), [&](Source& source) { find_sections(source); });
    }
    const Section* arch = section("arch");
    const Section* workload = section("workload");
    if (arch == nullptr && workload == nullptr) {
      throw ConfigError{{{documents_.front().document.file, 0, 0, "",
                          "neither an architecture (arch) nor a workload of AccelForge", ""}}};
    }
    refuse_mapping_alone(arch == nullptr       ? "an architecture"
                         : workload == nullptr ? "a workload"
                                               : "");
    if (workload != nullptr) {
      read_workload(*workload);
    } else if (const Section* renames = section("renames")) {
      note(*renames, "renames are ignored: they rename tensors, and no workload was given");
    }
    if (arch != nullptr) {
      read_machines(*arch);
    }
    if (workload != nullptr) {
      make_chain();
    }
    for (const std::string& line : notes_.text()) {
      if (std::find(import_.notes.begin(), import_.notes.end(), line) == import_.notes.end()) {
        import_.notes.push_back(line);
      }
    }
    for (std::string& line : notes_on_settings(settings_, asked_)) {
      import_.notes.push_back(std::move(line));
    }
    return std::move(import_);
  }

 private:
  struct Source {
    Reader reader;
    const FrontEndDocument* document;
  };
  struct Section {
    Source* source;
    const Node* node;
  };

  // Notes stand at the lines that people wrote.
  void stand_in(const Source& source) {
    notes_.place = [&source](const Node& node) { return place_of(*source.document, node); };
  }

  void note(const Section& section, const std::string& text) {
    stand_in(*section.source);
    notes_.add(*section.node, text);
  }

  // Complaints stand at the lines that people wrote.
  template <class Work>
  void try_at(Source& source, const Work& work) {
    stand_in(source);
    try {
      work(source);
      source.reader.finish();
    } catch (const ConfigError& error) {
      throw at_its_place(error, *source.document);
    }
  }

  // Their cells, slices of bits and converters have keys that begin like this.
  static void refuse_compute_in_memory(Source& source) {
    if (const Entry* cells = key_anywhere(source.reader.root(), "cim_")) {
      source.reader.error(cells->key, kInMemory);
    }
  }

  const Section* section(const std::string& key) const {
    const auto found = sections_.find(key);
    return found == sections_.end() ? nullptr : &found->second;
  }

  void find_sections(Source& source) {
    const Fields fields = source.reader.fields(source.reader.root(), kSections);
    for (const std::string& key : kSections) {
      const Node* node = fields.find(key);
      if (node != nullptr && !sections_.try_emplace(key, Section{&source, node}).second) {
        source.reader.error(*node, fmt::format("a second '{}' among the files", key));
      }
      if (node != nullptr && (key == "mapper" || key == "config" || key == "model")) {
        stand_in(source);
        notes_.add(*node, {"ignored sections", key, ""});
      }
    }
  }

  void refuse_mapping_alone(const std::string& missing) {
    if (const Section* mapping = section("mapping"); mapping != nullptr && !missing.empty()) {
      try_at(*mapping->source, [&](Source& source) {
        source.reader.error(*mapping->node, fmt::format("a mapping without {}", missing));
      });
    }
  }

  // Of `variables`: each may name those above it.
  void add_variables(ForgeNames& names) {
    const Section* variables = section("variables");
    if (variables == nullptr) {
      return;
    }
    try_at(*variables->source, [&](Source& source) {
      for (const Entry* entry : source.reader.entries(*variables->node, "a map of variables")) {
        try {
          names.numbers[entry->key.text] = evaluate_number(entry->value.text, names);
        } catch (const ExpressionError& error) {
          source.reader.error(entry->value, error.offset(), error.what());
        }
      }
    });
  }

  // Those that have a value for every einsum.
  std::map<std::string, double> variables_of_all() const {
    const Section* variables = section("variables");
    ForgeNames names;
    for (std::size_t i = 0; variables != nullptr && i < variables->node->entries.size(); ++i) {
      const Entry& entry = variables->node->entries[i];
      try {
        names.numbers[entry.key.text] = evaluate_number(entry.value.text, names);
      } catch (const ExpressionError&) {
        continue;  // it may name tensors of an einsum
      }
    }
    return names.numbers;
  }

  void read_einsums(const Section& workload) {
    const Section* renames = section("renames");
    const auto read = [&](Reader* reader) {
      try_at(*workload.source, [&](Source& source) {
        einsums_ = read_forge_einsums(source.reader, *workload.node,
                                      {reader, renames == nullptr ? nullptr : renames->node},
                                      variables_of_all(), notes_);
      });
    };
    if (renames == nullptr) {
      read(nullptr);
      return;
    }
    Source& source = *renames->source;
    try_at(source, [&](Source&) { check_forge_renames({&source.reader, renames->node}); });
    if (&source == workload.source) {
      read(&source.reader);
    } else {
      try_at(source, [&](Source&) { read(&source.reader); });
    }
    note_foreign_renames(*renames);
  }

  void note_foreign_renames(const Section& renames) {
    stand_in(*renames.source);
    const Node* all = value_of(*renames.node, "einsums");
    for (std::size_t i = 0; all != nullptr && i < all->items.size(); ++i) {
      const Node* name = value_of(all->items[i], "name");
      const bool known = name->text == "default" || std::any_of(einsums_.begin(), einsums_.end(),
                                                                [&](const ForgeEinsum& einsum) {
                                                                  return einsum.name == name->text;
                                                                });
      if (!known) {
        notes_.add(*name, {"renames of einsums that are not in the workload", name->text, ""});
      }
    }
  }

  void read_workload(const Section& workload) {
    read_einsums(workload);
    Network network;
    network.name = "accelforge";
    std::size_t between = 0;
    for (const ForgeEinsum& einsum : einsums_) {
      between += static_cast<std::size_t>(
          (einsum.names.sets.at("Intermediates").surely >> (einsum.tensors.size() - 1)) & 1U);
      if (einsum.copies) {
        notes_.add(*einsum.at, {"copies, which cost nothing where both tensors lie in the "
                                "outermost memory, as in AccelForge",
                                einsum.name, ""});
      } else if (einsum.is_stream()) {
        add_stream(einsum, network);
      } else {
        add_layer(einsum, network);
      }
    }
    if (between > 0) {
      note(workload,
           fmt::format(
               "network.yaml: einsums run one after the other: {} tensors between them go to the "
               "outermost memory and come back; chain.yaml, where it is written, is searched with "
               "fusion",
               between));
    }
    import_.network = std::move(network);
  }

  void add_stream(const ForgeEinsum& einsum, Network& network) {
    Stream stream;
    stream.name = einsum.name;
    stream.count = einsum.count;
    stream.kind = "Elementwise";
    for (const ForgeTensor& tensor : einsum.tensors) {
      (tensor.output ? stream.out : stream.in) = Bits{
          (tensor.output ? stream.out : stream.in).count() + tensor.size * tensor.bits.count()};
    }
    network.streams.push_back(std::move(stream));
  }

  void add_layer(const ForgeEinsum& einsum, Network& network) {
    try {
      network.layers.push_back({einsum.name, forge_workload(einsum), einsum.count});
      import_.layers.emplace_back().name = einsum.name;
    } catch (const ConfigError& error) {
      const std::string& why = error.diagnostics().front().message;
      notes_.add(*einsum.at, fmt::format("{} is left out: {}", einsum.name, why));
      network.unpriced[einsum.name] += einsum.count;
    }
  }

  void read_machines(const Section& arch) {
    ForgeEinsum usual = usual_forge_einsum();
    add_variables(usual.names);
    if (import_.layers.empty()) {
      try_at(*arch.source, [&](Source& source) {
        ForgeMachine machine = forge_machine(source.reader, *arch.node, usual, notes_);
        import_.arch = std::move(machine.arch);
        if (const Node* by_width = value_by_width(*arch.node)) {
          notes_.add(*by_width,
                     "depends on the widths of tensors: without a layer of a workload they have "
                     "8 b here");
        }
        if (!machine.constraints.empty()) {
          note(arch,
               "what min_usage, loop_bounds, tile_shape and reuse demand of loops is written for "
               "each layer of a workload; import one with the architecture");
        }
      });
    }
    if (const Section* mapping = section("mapping")) {
      try_at(*mapping->source, [&](Source& source) {
        check_forge_mapping(source.reader, *mapping->node, *arch.node, einsums_, notes_);
      });
    }
    for (ForgeImport::Layer& layer : import_.layers) {
      ForgeEinsum& einsum =
          *std::find_if(einsums_.begin(), einsums_.end(),
                        [&](const ForgeEinsum& each) { return each.name == layer.name; });
      add_variables(einsum.names);
      try_at(*arch.source, [&](Source& source) {
        ForgeMachine machine = forge_machine(source.reader, *arch.node, einsum, notes_);
        layer.arch = std::move(machine.arch);
        layer.constraints = std::move(machine.constraints);
      });
      import_.arch = import_.arch ? import_.arch : layer.arch;
      if (const Section* mapping = section("mapping")) {
        try_at(*mapping->source, [&](Source& source) {
          const ForgeMapping found =
              forge_mapping(source.reader, *mapping->node, layer.arch, einsum);
          layer.mapping = found.text;
          if (found.state == ForgeMapping::State::kFused) {
            fused_.push_back(layer.name);
          } else if (found.state == ForgeMapping::State::kAbsent) {
            notes_.add(*mapping->node,
                       fmt::format("the mapping does not compute {}, which gets none", layer.name));
          }
        });
      }
    }
  }

  // The einsums as one chain, where one machine runs all of them.
  void make_chain() {
    const Section* arch = section("arch");
    const auto differs = std::find_if(import_.layers.begin(), import_.layers.end(),
                                      [&](const ForgeImport::Layer& layer) {
                                        return arch != nullptr && layer.arch != *import_.arch;
                                      });
    if (differs != import_.layers.end() && einsums_.size() > 1) {
      note(*arch,
           fmt::format(
               "the einsums are not written as a chain: the machine of {} differs from that of {}",
               differs->name, import_.layers.front().name));
      return;
    }
    const auto rides = [&](const ForgeEinsum& einsum) {
      return arch != nullptr &&
             forge_compute_of(*arch->node, einsum.names) != import_.arch->compute.name;
    };
    stand_in(*section("workload")->source);
    import_.chain = forge_chain(einsums_, rides, notes_);
    const Section* mapping = section("mapping");
    if (mapping != nullptr) {
      stand_in(*mapping->source);
    }
    if (import_.chain && arch != nullptr && mapping != nullptr) {
      import_.tree = forge_tree(*mapping->node, *import_.arch, *import_.chain, einsums_, notes_);
    }
    for (const std::string& fused : fused_) {
      if (import_.tree.empty()) {
        note(*mapping,
             einsums_.size() > 1
                 ? fmt::format("the mapping fuses {} with other einsums; it is left out", fused)
                 : fmt::format("the mapping of {} does not keep every tensor in the outermost "
                               "memory, as every mapping does here; it is left out",
                               fused));
      }
    }
  }

  const FrontEndSettings& settings_;
  std::set<std::string> asked_;  // settings
  std::vector<FrontEndDocument> documents_;
  std::deque<Source> sources_;
  std::map<std::string, Section> sections_;
  std::vector<ForgeEinsum> einsums_;
  std::vector<std::string> fused_;  // einsums whose mapping is no mapping of one layer
  ForgeImport import_;
  ImportNotes notes_;
};

}  // namespace

ForgeImport read_accelforge(const std::vector<std::string>& paths,
                            const FrontEndSettings& settings) {
  ForgeImporter importer{settings};
  for (const std::string& path : paths) {
    importer.add(read_front_end(path, settings, Includes::kInherit));
  }
  return importer.read();
}

ForgeImport parse_accelforge(const std::string& text, const std::string& filename,
                             const FrontEndSettings& settings) {
  ForgeImporter importer{settings};
  importer.add(parse_front_end(text, filename, settings, Includes::kInherit));
  return importer.read();
}

}  // namespace mapsim
