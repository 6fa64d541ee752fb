// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>

#include "arch/accelergy.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_arch.hpp"
#include "interop/timeloop_constraints.hpp"
#include "interop/timeloop_mapping.hpp"
#include "interop/timeloop_problem.hpp"

namespace mapsim {

namespace {

constexpr const char* kTemplateHint =
    "import the resolved parsed-processed-input.yaml that Timeloop's front end writes";

enum class Section : std::uint8_t {
  kArch,
  kEnergies,
  kAreas,
  kProblem,
  kMapping,
  kConstraints,
  kSkipped
};
struct SectionKey {
  const char* key;
  Section section;
};
constexpr std::array kSections{SectionKey{"arch", Section::kArch},
                               SectionKey{"architecture", Section::kArch},
                               SectionKey{"ERT", Section::kEnergies},
                               SectionKey{"problem", Section::kProblem},
                               SectionKey{"mapping", Section::kMapping},
                               SectionKey{"constraints", Section::kConstraints},
                               SectionKey{"mapspace", Section::kConstraints},
                               SectionKey{"mapspace_constraints", Section::kConstraints},
                               SectionKey{"architecture_constraints", Section::kConstraints},
                               SectionKey{"mapper", Section::kSkipped},
                               SectionKey{"ART", Section::kAreas},
                               SectionKey{"globals", Section::kSkipped},
                               SectionKey{"variables", Section::kSkipped},
                               SectionKey{"components", Section::kSkipped},
                               SectionKey{"compound_components", Section::kSkipped},
                               SectionKey{"ERT_summary", Section::kSkipped},
                               SectionKey{"ART_summary", Section::kSkipped}};

// A file, and what is wrong with it so far.
struct Source {
  Document document;
  Reader reader;
  explicit Source(Document read) : document{std::move(read)}, reader{document} {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
};

struct Found {
  Source* source = nullptr;
  const Node* node = nullptr;
};

bool is_empty_list(const Node& node) {
  return node.kind == Node::Kind::kSequence && node.items.empty();
}

class Importer {
 public:
  void add(Document document) {
    sources_.emplace_back(std::move(document));
    collect(sources_.back());
  }

  TimeloopImport read() {
    const TimeloopArchSection arch = read_arch();
    read_problem();
    finish();
    read_mapping();
    read_constraints(arch);
    finish();
    import_.notes = notes_.text();
    return std::move(import_);
  }

 private:
  void collect(Source& source) {
    for (const Entry* entry : source.reader.entries(source.reader.root(), "sections")) {
      const auto known =
          std::find_if(kSections.begin(), kSections.end(),
                       [&](const SectionKey& each) { return entry->key.text == each.key; });
      if (known == kSections.end()) {
        source.reader.error(entry->key, fmt::format("{} is no section of a Timeloop design",
                                                    quoted(entry->key.text)));
      } else if (known->section == Section::kSkipped) {
        notes_.trifles.push_back(
            {"no part in counts, sections", entry->key.text, source.document.file});
      } else {
        std::vector<Found>& found = sections_[known->section];
        if (!found.empty() && known->section != Section::kConstraints) {
          source.reader.error(entry->key, fmt::format("a second section '{}'", entry->key.text));
        }
        found.push_back({&source, &entry->value});
      }
    }
  }

  void finish() {
    for (const Source& source : sources_) {
      source.reader.finish();
    }
  }

  // The one section of a kind; without it the import has failed.
  Found need(Section section, const std::string& what) {
    const auto found = sections_.find(section);
    if (found == sections_.end()) {
      finish();
      throw ConfigError{{{sources_.front().document.file, 0, 0, "", "no file has " + what, ""}}};
    }
    return found->second.front();
  }

  TimeloopArchSection read_arch() {
    const Found at = need(Section::kArch, "an architecture");
    const Found energies =
        need(Section::kEnergies,
             "the energies of accesses (a section 'ERT'); Accelergy writes them to ERT.yaml");
    TimeloopArchSection arch = read_timeloop_arch(at.source->reader, *at.node);
    notes_.lines = arch.notes.lines;
    notes_.trifles.insert(notes_.trifles.end(), arch.notes.trifles.begin(),
                          arch.notes.trifles.end());
    import_.design.machine = arch.machine;
    read_energies(energies, arch.dummies);
    read_areas();
    return arch;
  }

  void read_energies(const Found& at, const std::set<std::string>& dummies) {
    Reader& reader = at.source->reader;
    const std::size_t before = reader.errors();
    const EnergyReferences table = read_energy_tables(reader, *at.node);
    if (reader.errors() > before) {
      return;  // what is wrong with the table hides what is in it
    }
    TimeloopMachine& machine = import_.design.machine;
    for (TimeloopStorage& storage : machine.storages) {
      const auto read = table.find(storage.name, kReadActions);
      const auto write = table.find(storage.name, kWriteActions);
      storage.leak = leak_of(table, storage.name);
      if (dummies.contains(storage.name) && !read && !write) {
        notes_.lines.push_back(
            fmt::format("{}: a dummy_storage without energies: what is kept in it costs nothing",
                        storage.name));
        continue;
      }
      if (!read || !write) {
        reader.error(*at.node,
                     fmt::format("no energy for {} of {}", read ? "write" : "read", storage.name));
        continue;
      }
      const auto update = table.find(storage.name, kUpdateActions).value_or(*write);
      storage.energy = {read->count(), write->count(), update.count()};
      const auto action = [&](Actions actions) { return table.action_of(storage.name, actions); };
      const bool own = action(kUpdateActions) != nullptr;
      import_.origins[storage.name] = fmt::format(
          "energies by {}: read by '{}', write by '{}', update by '{}'{}", at.source->document.file,
          action(kReadActions), action(kWriteActions), action(own ? kUpdateActions : kWriteActions),
          leak_origin(table, storage.name));
    }
    const auto compute = table.find(machine.compute_name, kComputeActions);
    if (!compute && !machine.compute_name.empty()) {
      reader.error(*at.node, fmt::format("no energy for compute of {}", machine.compute_name));
    }
    machine.compute_energy = compute.value_or(Picojoules{0}).count();
    machine.compute_leak = leak_of(table, machine.compute_name);
    if (compute) {
      import_.origins[machine.compute_name] =
          fmt::format("energy by {}: '{}'{}", at.source->document.file,
                      table.action_of(machine.compute_name, kComputeActions),
                      leak_origin(table, machine.compute_name));
    }
    note_unused(table);
  }

  static const char* leak_origin(const EnergyReferences& table, const std::string& name) {
    return table.action_of(name, kLeakActions) != nullptr ? ", leakage by 'leak'" : "";
  }

  static std::optional<double> leak_of(const EnergyReferences& table, const std::string& name) {
    const auto leak = table.find(name, kLeakActions);
    return leak ? std::optional{leak->count()} : std::nullopt;
  }

  void note_unused(const EnergyReferences& table) {
    note_strangers("ERT", table.components);
    for (const std::string& name : components()) {
      for (const std::string& action : other_actions(table, name)) {
        notes_.trifles.push_back({"no part in a dense run, energies of actions", action, name});
      }
    }
  }

  // Storages and the compute units.
  Words components() const {
    Words names = names_of(import_.design.machine.storages);
    names.push_back(import_.design.machine.compute_name);
    return names;
  }

  template <class Components>
  void note_strangers(const char* table, const Components& components_of_table) {
    const Words names = components();
    for (const auto& component : components_of_table) {
      if (std::find(names.begin(), names.end(), component.first) == names.end()) {
        notes_.lines.push_back(
            fmt::format("{}: {} is neither a storage nor the compute unit of the architecture: "
                        "left out",
                        table, component.first));
      }
    }
  }

  void read_areas() {
    const auto found = sections_.find(Section::kAreas);
    if (found == sections_.end()) {
      return;
    }
    const Found& at = found->second.front();
    const AreaReferences table = read_area_tables(at.source->reader, *at.node);
    const auto area_of = [&](const std::string& name) -> std::optional<double> {
      const auto known = table.components.find(name);
      if (known == table.components.end()) {
        return std::nullopt;
      }
      import_.origins[name] += fmt::format(
          "{}area by {}", import_.origins[name].empty() ? "" : "; ", at.source->document.file);
      return known->second.count();
    };
    TimeloopMachine& machine = import_.design.machine;
    for (TimeloopStorage& storage : machine.storages) {
      storage.area = area_of(storage.name);
    }
    machine.compute_area = area_of(machine.compute_name);
    note_strangers("ART", table.components);
  }

  void read_problem() {
    const Found at = need(Section::kProblem, "a problem");
    const TimeloopMachine& machine = import_.design.machine;
    const std::int64_t bits = machine.storages.empty() ? 8 : machine.storages.front().word_bits;
    const auto workload = read_timeloop_problem(at.source->reader, *at.node, Bits{bits}, notes_);
    import_.design.workload = workload.value_or(Workload{});
    note_networks();
    for (const TimeloopStorage& storage : machine.storages) {
      if (storage.word_bits != bits) {
        notes_.lines.push_back(fmt::format(
            "{}: a word of {} b holds one element, as one of {} b does at {}; written "
            "as {} b",
            storage.name, storage.word_bits, bits, machine.storages.front().name, bits));
      }
    }
  }

  // What of the totals is missing comes first.
  void note_networks() {
    const TimeloopMachine& machine = import_.design.machine;
    Words silent;
    for (std::size_t l = 0; l < machine.storages.size(); ++l) {
      if (!machine.storages[l].energy_per_hop && machine.has_fanout(l)) {
        silent.push_back(machine.storages[l].name);
      }
    }
    if (!silent.empty()) {
      notes_.lines.insert(
          notes_.lines.begin(),
          fmt::format("{}: no energy_per_hop; Timeloop takes one from its own table of wires, here "
                      "hops are left out",
                      joined(silent, ", ")));
    }
  }

  void read_mapping() {
    const auto found = sections_.find(Section::kMapping);
    // The front end writes 'mapping: []' where there is none.
    if (found != sections_.end() && !is_empty_list(*found->second.front().node)) {
      const Found& at = found->second.front();
      import_.design.blocks = read_timeloop_mapping(
          at.source->reader, *at.node, import_.design.machine, import_.design.workload);
    }
  }

  void read_constraints(const TimeloopArchSection& arch) {
    const TimeloopMachine& machine = import_.design.machine;
    for (const Found& at : sections_[Section::kConstraints]) {
      read_timeloop_constraints(at.source->reader, *at.node, machine, import_.design.workload,
                                import_.constraints);
    }
    const Found& section = sections_[Section::kArch].front();
    for (const auto& each : arch.constraints) {
      read_component_constraints(section.source->reader, each, machine, import_.design.workload,
                                 import_.constraints);
    }
  }

  std::deque<Source> sources_;
  std::map<Section, std::vector<Found>> sections_;
  TimeloopImport import_;
  ImportNotes notes_;
};

}  // namespace

TimeloopImport read_timeloop(const std::vector<std::string>& paths) {
  Importer importer;
  for (const std::string& path : paths) {
    importer.add(read_foreign(path, kTemplateHint));
  }
  return importer.read();
}

TimeloopImport parse_timeloop(const std::string& text, const std::string& filename) {
  Importer importer;
  importer.add(parse_foreign(text, filename, kTemplateHint));
  return importer.read();
}

}  // namespace mapsim
