// SPDX-License-Identifier: Apache-2.0
#include "interop/zigzag.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "interop/foreign_yaml.hpp"
#include "interop/onnx.hpp"
#include "interop/zigzag_graph.hpp"
#include "interop/zigzag_layer.hpp"
#include "interop/zigzag_result.hpp"

namespace mapsim {

namespace {

// Python reads the last of equal keys; a machine that ZigZag ships has two.
void keep_last(Node& node, const std::string& file, std::vector<std::string>& notes) {
  for (Node& item : node.items) {
    keep_last(item, file, notes);
  }
  for (std::size_t i = 0; i < node.entries.size();) {
    const bool again =
        std::any_of(node.entries.begin() + static_cast<std::ptrdiff_t>(i) + 1, node.entries.end(),
                    [&](const Entry& each) { return each.key.text == node.entries[i].key.text; });
    if (again) {
      notes.push_back(fmt::format("{}:{}: {} appears again below; the last one counts", file,
                                  node.entries[i].key.line, node.entries[i].key.text));
      node.entries.erase(node.entries.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    keep_last(node.entries[i].value, file, notes);
    ++i;
  }
}

class ZigzagImporter {
 public:
  explicit ZigzagImporter(std::vector<Document> documents) : documents_{std::move(documents)} {
    for (Document& document : documents_) {
      keep_last(document.root, document.file, import_.notes);
      join_digits(document.root);
    }
  }

  ZigzagImport read() {
    const Node* cores = value_of(documents_.front().root, "cores");
    if (cores != nullptr && documents_.size() == 1) {
      import_.chip = read_stream_chip(documents_.front(), read_yaml, import_.notes);
      if (import_.chip.cores.empty()) {
        refuse(documents_.front(), *cores, "cores",
               "no core has a counterpart here; " + import_.notes.back());
      }
      return std::move(import_);
    }
    refuse_chip_with_others();
    for (const Document& document : documents_) {
      if (is_zigzag_result(document.root)) {
        results_.push_back(&document);
        continue;
      }
      const Node* array = value_of(document.root, "operational_array");
      const bool list = !document.root.items.empty();
      const bool layers = list && value_of(document.root.items.front(), "equation") != nullptr;
      const Document*& place = array != nullptr ? machine_file_ : layers ? layers_ : mapping_;
      if ((array == nullptr && !list) || place != nullptr) {
        throw ConfigError{
            {{document.file, 0, 0, "",
              place != nullptr ? "a second file of its kind"
                               : "neither an accelerator, a workload nor a mapping of "
                                 "ZigZag",
              ""}}};
      }
      place = &document;
    }
    if (machine_file_ == nullptr) {
      throw ConfigError{{{documents_.front().file, 0, 0, "",
                          "no accelerator among the files (operational_array)", ""}}};
    }
    check_mapping();
    Reader reader{*machine_file_};
    machine_ = read_zigzag_machine(reader, import_.notes);
    if (!machine_.computes) {
      reader.error(reader.root(), fmt::format("{} computes nothing", machine_.name));
    } else if (machine_.on_chip && !machine_.memories.empty() &&
               machine_.memories.back().roles != kAllRoles) {
      reader.error(reader.root(), fmt::format("{} is a core without a memory for all operands; the "
                                              "chip's file says what lies behind it",
                                              machine_.name));
    }
    reader.finish();
    if (machine_.on_chip) {
      import_.notes.push_back(
          fmt::format("{} is a core: its outermost memory has an end, and what lies behind it is "
                      "known to the chip's file only",
                      machine_.name));
    }
    note_outermost();
    ZigzagArch arch = zigzag_arch(machine_, std::vector<ZigzagUnrolling>(machine_.dims.size()));
    import_.arch = std::move(arch.arch);
    if (!arch.note.empty()) {
      import_.notes.push_back(std::move(arch.note));
    }
    import_.notes.emplace_back(
        "ZigZag's conventions of energy and time are others: docs/validation.md");
    for (std::size_t i = 0; layers_ != nullptr && i < layers_->root.items.size(); ++i) {
      add_layer(layers_->root.items[i]);
    }
    if (layers_ != nullptr) {
      find_swapped();
      add_graph();
    }
    for (const Document* result : results_) {
      add_result(*result);
    }
    return std::move(import_);
  }

 private:
  void refuse_chip_with_others() const {
    for (const Document& document : documents_) {
      if (const Node* cores = value_of(document.root, "cores")) {
        refuse(document, *cores, "cores",
               "a chip of Stream is imported alone, without a workload or a mapping; mapsim plan "
               "takes its soc.yaml and a network");
      }
    }
  }

  // The outermost memory is the whole array's, whatever it says.
  void note_outermost() {
    const Node* memories = value_of(machine_file_->root, "memories");
    if (machine_.memories.empty() ||
        machine_.memories.back().shared.size() == machine_.dims.size()) {
      return;
    }
    const std::string& name = machine_.memories.back().name;
    const Node* served = value_of(*value_of(*memories, name.c_str()), "served_dimensions");
    import_.notes.push_back(
        fmt::format("{}:{}: {}, the outermost memory, serves units along all dims of the array "
                    "here: {}",
                    machine_file_->file, served->line, name, fmt::join(machine_.dims, ", ")));
  }

  [[noreturn]] static void refuse(const Document& document, const Node& at, const char* path,
                                  const std::string& why) {
    throw ConfigError{{{document.file, at.line, at.column, path, why, ""}}};
  }

  // What it says must be about some layer, and each layer must find its entry.
  void check_mapping() {
    if (mapping_ == nullptr) {
      return;
    }
    const Node& root = mapping_->root;
    if (layers_ == nullptr) {
      refuse(*mapping_, root, "mapping", "a mapping without a workload");
    }
    check_names();
    std::set<const Node*> used;
    for (const Node& layer : layers_->root.items) {
      const Node* entry = mapping_of(layer);
      if (entry == nullptr) {
        refuse(*mapping_, root, "mapping",
               fmt::format("no entry fits the layer {} ({}), and there is none with `name: "
                           "default`, which ZigZag needs",
                           zigzag_layer_name(layer), zigzag_word(layer, "operator_type")));
      }
      used.insert(entry);
    }
    note_unused(used);
  }

  // ZigZag reads the first of two entries.
  void check_names() const {
    std::map<std::string, int> lines;
    for (const Node& entry : mapping_->root.items) {
      const std::string name = zigzag_word(entry, "name");
      if (name.empty()) {
        refuse(*mapping_, entry, "mapping",
               "an entry without a name: that of a layer, its type, or default");
      }
      const auto [first, is_new] = lines.emplace(name, entry.line);
      if (!is_new) {
        refuse(*mapping_, *value_of(entry, "name"), "mapping",
               fmt::format("a second entry of the name {}; the first stands at line {}, and ZigZag "
                           "reads that one: leave one of them out",
                           quoted(name), first->second));
      }
    }
  }

  void note_unused(const std::set<const Node*>& used) {
    std::vector<std::string> unused;
    for (const Node& entry : mapping_->root.items) {
      const std::string name = zigzag_word(entry, "name");
      if (used.count(&entry) == 0 && name != "default") {
        unused.push_back(fmt::format("{} (line {})", name, entry.line));
      }
    }
    if (!unused.empty()) {
      import_.notes.push_back(
          fmt::format("{}: no layer has the name or the type of these entries: {}", mapping_->file,
                      fmt::join(unused, ", ")));
    }
  }

  // An operator of a graph has its weights in I2.
  void find_swapped() {
    for (const Node& layer : layers_->root.items) {
      const Node* mapping = mapping_of(layer);
      const Node* links = mapping == nullptr ? nullptr : value_of(*mapping, "memory_operand_links");
      if (links != nullptr && zigzag_word(*links, "I") == "I2") {
        import_.no_graph = fmt::format(
            "{}:{}: the network is a list of layers, not a graph: {} has I in I2 and W in I1, and "
            "an operator of a graph has them the other way round",
            mapping_->file, links->line, zigzag_layer_name(layer));
        return;
      }
    }
  }

  // Workloads without `operand_source` are lists.
  void add_graph() {
    const auto has_sources = [](const Node& layer) {
      return value_of(layer, "operand_source") != nullptr;
    };
    const std::vector<Node>& layers = layers_->root.items;
    const std::string stem = std::filesystem::path{layers_->file}.stem().string();
    import_.network = is_name(stem) ? stem : machine_.name;
    if (layers.size() < 2 || !std::all_of(layers.begin(), layers.end(), has_sources)) {
      return;
    }
    if (!import_.no_graph.empty()) {
      import_.notes.push_back(import_.no_graph);
      return;
    }
    ZigzagGraph built = zigzag_graph(*layers_);
    import_.graph = std::move(built.graph);
    import_.notes.insert(import_.notes.end(), built.notes.begin(), built.notes.end());
    if (!built.why.empty()) {
      import_.notes.push_back("the network is a list of layers, not a graph: " + built.why);
    }
  }

  void add_layer(const Node& node) {
    const Node* mapping = mapping_of(node);
    const std::string count = zigzag_word(node, kZigzagCount);
    const std::int64_t times = count.empty() ? 1 : std::stoll(count);
    try {
      import_.layers.push_back(read_zigzag_layer(machine_, node, mapping, nullptr, import_.notes));
      import_.layers.back().count = times;
      return;
    } catch (const ZigzagLeftOut& left) {
      import_.notes.push_back(
          fmt::format("{}{}: {} is left out: {}", left.of_mapping ? mapping_->file : layers_->file,
                      left.at->line > 0 ? fmt::format(":{}", left.at->line) : "",
                      zigzag_layer_name(node), left.why));
    } catch (const ConfigError& error) {
      import_.notes.push_back(fmt::format("{}:{}: {} is left out: {}", layers_->file, node.line,
                                          zigzag_layer_name(node),
                                          error.diagnostics().front().message));
    }
    const std::string kind = zigzag_word(node, "operator_type");
    import_.left_out[is_name(kind) ? kind : zigzag_layer_name(node)] += times;
  }

  void add_result(const Document& document) {
    std::optional<ZigzagResult> result;  // what is left out is named by its place in it
    try {
      result = read_zigzag_result(document);
      note_accelerator(document);
      import_.layers.push_back(
          read_zigzag_layer(machine_, result->layer, &result->mapping, &*result, import_.notes));
    } catch (const ZigzagLeftOut& left) {
      import_.notes.push_back(
          fmt::format("{}:{}: left out: {}", document.file, left.at->line, left.why));
    } catch (const ConfigError& error) {
      import_.notes.push_back(
          fmt::format("{}: left out: {}", document.file, error.diagnostics().front().message));
    }
  }

  // The mapping of one accelerator may fit another.
  void note_accelerator(const Document& document) {
    const Node* inputs = value_of(document.root, "inputs");
    const Node* accelerator = inputs == nullptr ? nullptr : value_of(*inputs, "accelerator");
    const std::string name = accelerator == nullptr ? "" : zigzag_word(*accelerator, "name");
    if (!name.empty() && name != machine_.name) {
      import_.notes.push_back(fmt::format("{}:{}: the accelerator is {}, and here {}",
                                          document.file, accelerator->line, name, machine_.name));
    }
  }

  // By the layer's name, its type, or the default. ZigZag names a layer without a name by its id.
  const Node* mapping_of(const Node& layer) const {
    const std::string name = zigzag_word(layer, "name");
    const std::string id = zigzag_word(layer, "id");
    for (const std::string& wanted :
         {name.empty() && !id.empty() ? "Layer" + id : name, zigzag_word(layer, "operator_type"),
          std::string{"default"}}) {
      for (std::size_t i = 0; mapping_ != nullptr && i < mapping_->root.items.size(); ++i) {
        const Node& item = mapping_->root.items[i];
        if (!wanted.empty() && zigzag_word(item, "name") == wanted) {
          return &item;
        }
      }
    }
    return nullptr;
  }

  std::vector<Document> documents_;
  const Document* machine_file_ = nullptr;
  const Document* layers_ = nullptr;
  const Document* mapping_ = nullptr;
  std::vector<const Document*> results_;
  ZigzagMachine machine_;
  ZigzagImport import_;
};

}  // namespace

ZigzagImport import_zigzag(std::vector<Document> documents) {
  return ZigzagImporter{std::move(documents)}.read();
}

ZigzagImport read_zigzag(const std::vector<std::string>& paths, const OnnxOptions& model) {
  std::vector<Document> documents;
  std::vector<std::string> notes;
  std::optional<NetworkGraph> graph;
  for (const std::string& path : paths) {
    if (!path.ends_with(".onnx")) {
      documents.push_back(read_yaml(path));
      continue;
    }
    OnnxOptions options = model;
    options.operand_bits = Bits{8};
    const Network network = to_network(read_onnx(path, options), options);
    documents.push_back(zigzag_workload(network, path, notes));
    graph = network.graph;
  }
  ZigzagImport import = import_zigzag(std::move(documents));
  if (graph && !import.no_graph.empty()) {
    import.notes.push_back(import.no_graph);
  } else if (graph) {
    note_pools(*graph, notes);
    set_zigzag_widths(*graph);
    import.graph = std::move(graph);
  }
  import.notes.insert(import.notes.begin(), notes.begin(), notes.end());
  return import;
}

}  // namespace mapsim
