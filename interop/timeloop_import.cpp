// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "arch/accelergy.hpp"
#include "interop/bit_machines.hpp"
#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_arch.hpp"
#include "interop/timeloop_attributes.hpp"
#include "interop/timeloop_compounds.hpp"
#include "interop/timeloop_constraints.hpp"
#include "interop/timeloop_energies.hpp"
#include "interop/timeloop_expressions.hpp"
#include "interop/timeloop_machine_notes.hpp"
#include "interop/timeloop_mapping.hpp"
#include "interop/timeloop_objective.hpp"
#include "interop/timeloop_problem.hpp"
#include "interop/timeloop_sections.hpp"
#include "interop/timeloop_sparse.hpp"
#include "interop/timeloop_wires.hpp"

namespace mapsim {

namespace {

// A file, and what is wrong with it so far.
struct Source {
  FrontEndDocument read;
  Reader reader;
  explicit Source(FrontEndDocument document) : read{std::move(document)}, reader{read.document} {}
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
};

struct Found {
  Source* source = nullptr;
  const Node* node = nullptr;
  bool of_nodes = false;  // constraints that the front end of version 0.4 puts to nodes
};
using Section = TimeloopSection;

constexpr const char* kIgnoredSections = "ignored sections";

bool asks_nothing(const Node& node) {
  if (node.kind == Node::Kind::kMap) {  // {targets: []}
    return std::all_of(node.entries.begin(), node.entries.end(), [](const Entry& entry) {
      return entry.key.text == "version" || asks_nothing(entry.value);
    });
  }
  return node.kind == Node::Kind::kNull ||
         (node.kind == Node::Kind::kSequence && node.items.empty());
}

class Importer {
 public:
  explicit Importer(const TimeloopOptions& options) : options_{options} {}

  void add(FrontEndDocument document) {
    asked_.insert(document.asked.begin(), document.asked.end());
    documents_.push_back(std::move(document));
  }

  TimeloopImport read() {
    resolve();
    for (FrontEndDocument& document : documents_) {
      sources_.emplace_back(std::move(document));
      refuse_bit_machines(sources_.back().reader);
      finish();
      collect(sources_.back());
    }
    import_.has_machine = sections_.count(Section::kArch) > 0;
    import_.has_workload = sections_.count(Section::kProblem) > 0;
    if (!import_.has_machine && !import_.has_workload) {
      finish();
      throw ConfigError{{{sources_.front().read.document.file, 0, 0, "",
                          "no file has an architecture or a problem", ""}}};
    }
    TimeloopArchSection arch;
    if (import_.has_machine) {
      arch = read_arch();
    }
    if (import_.has_workload) {
      read_problem();
    }
    note_machine();
    finish();
    if (import_.has_machine && import_.has_workload) {
      ImportNotes of_constraints;
      import_.constraints = read_constraints(arch, false, of_constraints);
      TimeloopSparse sparse{import_.design, of_sparse_};
      const std::size_t before = errors();
      find_sparse(arch, sparse);
      read_mapping(arch);
      read_sparse(sparse, before);
      notes_.lines.insert(notes_.lines.end(), of_constraints.lines.begin(),
                          of_constraints.lines.end());
    } else {
      note_alone(arch);
    }
    finish();
    notes_.lines.insert(notes_.lines.begin(), first_.lines.begin(), first_.lines.end());
    import_.notes = notes_.text();
    const Words idle = notes_on_settings(options_.settings, asked_);
    import_.notes.insert(import_.notes.end(), idle.begin(), idle.end());
    return std::move(import_);
  }

 private:
  // Expressions refer to variables and problems of any file.
  void resolve() {
    std::vector<Node*> variables;
    Node* problem = nullptr;
    for_each_section([&](Section key, Node& section) {
      if (key == Section::kVariables) {
        variables.push_back(&section);
      }
    });
    for_each_section([&](Section key, Node& section) {
      if (key == Section::kProblem) {
        resolve_sizes(section, variables, options_.settings, asked_);
        problem = &section;
      } else if (key == Section::kMapping || key == Section::kConstraints) {
        resolve_loops(section, variables, options_.settings, asked_);
      }
    });
    for_each_section([&](Section key, Node& section) {
      if (key == Section::kArch) {
        resolve_expressions(section, variables, options_.settings, problem, asked_);
      }
    });
  }

  template <class Use>
  void for_each_section(const Use& use) {
    for (FrontEndDocument& each : documents_) {
      for (Entry& entry : each.document.root.entries) {
        if (const auto section = timeloop_section_of(entry.key.text)) {
          use(*section, entry.value);
        }
      }
    }
  }

  void note_alone(const TimeloopArchSection& arch) {
    for (const TimeloopPlacedSparse& each : arch.sparse) {
      sections_[Section::kArch].front().source->reader.error(
          *each.node, "sparse_optimizations without a problem");
    }
    const bool placed = std::any_of(arch.constraints.begin(), arch.constraints.end(),
                                    [](const TimeloopPlacedConstraint& each) {
                                      return !each.branches.empty() || !asks_nothing(*each.node);
                                    });
    for (const auto& [section, what] : {std::pair{Section::kMapping, "a mapping"},
                                        std::pair{Section::kConstraints, "constraints"},
                                        std::pair{Section::kSparse, "sparse_optimizations"}}) {
      const auto found = sections_.find(section);
      const auto asks = [](const Found& each) { return !asks_nothing(*each.node); };
      const bool given = found != sections_.end() && std::ranges::any_of(found->second, asks);
      const char* missing = import_.has_machine ? "a problem" : "an architecture";
      if (section == Section::kConstraints && (given || placed)) {
        notes_.lines.push_back(fmt::format(  // rules for loops that nobody asks about yet
            "constraints are left out: they are rules for mappings, and {} is missing", missing));
      }
      if (section == Section::kConstraints || !given) {
        continue;
      }
      found->second.front().source->reader.error(*found->second.front().node,
                                                 fmt::format("{} without {}", what, missing));
    }
    if (!import_.has_machine) {
      notes_.lines.push_back("no architecture: an element is 8 b wide");
      if (has_densities(*sections_[Section::kProblem].front().node)) {
        notes_.lines.push_back(
            "densities are left out: without an architecture that uses them every element counts");
      }
    }
  }

  void collect(Source& source) {
    for (const Entry* entry : source.reader.entries(source.reader.root(), "sections")) {
      // What only holds anchors, for the rest of a file, or what the front end hands on unread.
      const bool ignored = entry->key.text.find("ignore") != std::string::npos ||
                           entry->key.text.starts_with("globals_");
      const auto known = timeloop_section_of(entry->key.text);
      if (!known) {
        if (!ignored) {
          source.reader.error(entry->key, fmt::format("{} is no section of a Timeloop design",
                                                      quoted(entry->key.text)));
        }
      } else if (*known == Section::kVariables ||
                 (*known == Section::kSparse && asks_nothing(entry->value))) {
        continue;
      } else if (*known == Section::kSkipped || *known == Section::kMapper) {
        std::string section = entry->key.text;
        if (*known == Section::kMapper) {
          import_.objective = timeloop_objective(entry->value, first_);
          section += ", all but its metrics";
        }
        const auto compounds = read_timeloop_compounds(source.read, *entry);
        compounds_.insert(compounds_.end(), compounds.begin(), compounds.end());
        notes_.trifles.push_back({kIgnoredSections, section, place_of(source.read, entry->key)});
      } else if (*known != Section::kSign &&
                 !(*known == Section::kMapping && asks_nothing(entry->value))) {
        // The front end writes 'mapping: []' where there is none.
        std::vector<Found>& found = sections_[*known];
        if (!found.empty() && *known != Section::kConstraints) {
          source.reader.error(entry->key, fmt::format("a second section '{}'", entry->key.text));
        }
        found.push_back(
            {&source, &entry->value, entry->key.text.find("constraints") != std::string::npos});
      }
    }
  }

  void finish() {
    for (const Source& source : sources_) {
      try {
        source.reader.finish();
      } catch (const ConfigError& error) {
        throw at_its_place(error, source.read);
      }
    }
  }

  TimeloopArchSection read_arch() {
    const Found& at = sections_[Section::kArch].front();
    Reader& reader = at.source->reader;
    TimeloopArchSection arch = read_timeloop_arch(reader, *at.node);
    for (Source& source : sources_) {
      if (const Node* variables = value_of(source.reader.root(), "variables")) {
        read_variables(source.reader, *variables, arch);
      }
    }
    const auto energies = sections_.find(Section::kEnergies);
    const bool own_tables = !options_.counts_only && energies == sections_.end();
    notes_.lines = notes_on_unread(arch, own_tables);
    notes_.lines.insert(notes_.lines.end(), arch.notes.lines.begin(), arch.notes.lines.end());
    notes_.trifles.insert(notes_.trifles.end(), arch.notes.trifles.begin(),
                          arch.notes.trifles.end());
    import_.design.machine = arch.machine;
    for (const auto& [node, what] : arch.placed) {
      notes_.lines.push_back(fmt::format("{}: {}", place_of(at.source->read, *node), what));
    }
    if (options_.counts_only) {
      first_.lines.emplace_back("every energy is left out: counts and cycles only");
      import_.energies = TimeloopImport::Energies::kLeftOut;
      return arch;
    }
    if (energies != sections_.end()) {
      read_energies(energies->second.front(), arch);
    } else {
      import_.energies = TimeloopImport::Energies::kOwnTables;
      const std::set<std::string> taken = take_compounds(compounds_, arch, notes_);
      std::erase_if(notes_.trifles, [&](const ImportNotes::Trifle& each) {
        return each.kind == std::string_view{kIgnoredSections} && taken.contains(each.whose);
      });
      take_own_energies(arch, import_.design.machine, import_.origins, first_);
    }
    read_areas();
    read_wires(arch);
    return arch;
  }

  // What hops cost, and what of it is not known.
  void read_wires(const TimeloopArchSection& arch) {
    const FrontEndDocument& source = sections_[Section::kArch].front().source->read;
    const std::optional<double> wire =
        wire_energy(arch, table_ ? &*table_ : nullptr, [&](const std::string& what) {
          first_.lines.push_back(fmt::format("{}: {}", place_of(source, *arch.wire), what));
        });
    for (const UnknownHops& each : take_wires(arch, wire, import_.design.machine)) {
      first_.lines.push_back(
          fmt::format("{}: {}: its wires cost energy, but neither tile_width nor the areas of all "
                      "below it (an ART) are given: its hops are left out",
                      place_of(source, *each.at), each.storage));
      unknown_hops_.insert(each.storage);
    }
  }

  // What components have that do not say otherwise.
  static void read_variables(Reader& reader, const Node& variables, TimeloopArchSection& arch) {
    if (!arch.machine.cycle_seconds) {
      read_timeloop_cycle(reader, value_of(variables, "global_cycle_seconds"), "the variables",
                          arch);
    }
    const Node* technology = value_of(variables, "technology");
    for (auto& [name, material] : arch.materials) {
      if (material.technology.empty() && technology != nullptr) {
        material.technology = technology->text;
      }
    }
  }

  void read_energies(const Found& at, const TimeloopArchSection& arch) {
    Reader& reader = at.source->reader;
    const std::size_t before = reader.errors();
    const EnergyReferences& table = table_.emplace(read_energy_tables(reader, *at.node));
    if (reader.errors() == before) {  // what is wrong with the table hides what is in it
      table_->file = at.source->read.document.file;
      take_table_energies(table, arch, import_.design.machine, import_.origins, first_,
                          [&](const std::string& lack) { reader.error(*at.node, lack); });
      note_unused(table);
    }
  }

  void note_unused(const EnergyReferences& table) {
    note_strangers("ERT", table.components);
    for (const std::string& name : components()) {
      for (const std::string& action : unused_actions(table, import_.design.machine, name)) {
        notes_.trifles.push_back(
            {"ignored energies of actions that a dense run does not take", action, name});
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
      if (!is_wire(component.first) &&
          std::find(names.begin(), names.end(), component.first) == names.end()) {
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
          "{}area by {}", import_.origins[name].empty() ? "" : "; ", at.source->read.document.file);
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
    const Found& at = sections_[Section::kProblem].front();
    const TimeloopMachine& machine = import_.design.machine;
    const std::int64_t bits = machine.storages.empty() ? 8 : machine.storages.front().word_bits;
    const auto workload = read_timeloop_problem(at.source->reader, *at.node, Bits{bits}, notes_);
    import_.design.workload = workload.value_or(Workload{});
  }

  // What of the totals is missing comes first.
  void note_machine() {
    const TimeloopMachine& machine = import_.design.machine;
    if (const std::string hops = note_on_networks(machine, unknown_hops_); !hops.empty()) {
      notes_.lines.insert(notes_.lines.begin(), hops);
    }
    const Words widths = notes_on_widths(machine);
    notes_.lines.insert(notes_.lines.end(), widths.begin(), widths.end());
  }

  // The front end of version 0.4 puts the mapping to the constraints of its nodes.
  void read_mapping(const TimeloopArchSection& arch) {
    const auto found = sections_.find(Section::kMapping);
    if (found == sections_.end()) {
      return;
    }
    const Found& at = found->second.front();
    std::vector<TimeloopConstraint> joined;
    if (!arch.of_nodes.empty()) {
      finish();
      ImportNotes said;  // before
      joined = read_constraints(arch, true, said);
    }
    std::vector<TimeloopStorage>& storages = import_.design.machine.storages;
    import_.design.blocks =
        read_timeloop_mapping(at.source->reader, *at.node, import_.design.machine,
                              import_.design.workload, joined, notes_);
    for (std::size_t l = 0; l < storages.size(); ++l) {  // a file may name keeps at a point
      storages[l].holds_nothing =
          storages[l].holds_nothing && import_.design.blocks[l].keep.empty();
    }
  }

  // Lanes that take nonzeros may have more indices in a mapping than there are lanes.
  void find_sparse(const TimeloopArchSection& arch, TimeloopSparse& sparse) {
    for (const TimeloopPlacedSparse& each : arch.sparse) {
      sparse.read(sections_[Section::kArch].front().source->reader, each.component, *each.node);
    }
    if (const auto found = sections_.find(Section::kSparse); found != sections_.end()) {
      sparse.read(found->second.front().source->reader, *found->second.front().node);
    }
    sparse.mark_lanes(import_.design.machine);
  }

  // Formats are those of the mapping's tiles. `before`: errors before they were found.
  void read_sparse(TimeloopSparse& sparse, std::size_t before) {
    const Found& problem = sections_[Section::kProblem].front();
    if (sparse.is_empty() && errors() == before) {
      if (has_densities(*problem.node)) {
        notes_.lines.emplace_back(
            "densities are left out: without optimisations of sparse tensors Timeloop counts every "
            "point");
      }
      return;
    }
    read_timeloop_densities(problem.source->reader, *problem.node, sparse, import_.design.workload,
                            of_sparse_);
    if (errors() > before) {
      return;
    }
    if (table_) {
      sparse.take_energies(*table_);
    }
    import_.design.machine.sparsity = Shared<Sparsity>{sparse.result()};
    split_into_batches(import_.design, of_sparse_);
    notes_.lines.insert(notes_.lines.end(), of_sparse_.lines.begin(), of_sparse_.lines.end());
    name_unread_words(notes_);
  }

  std::size_t errors() const {
    std::size_t sum = 0;
    for (const Source& source : sources_) {
      sum += source.reader.errors();
    }
    return sum;
  }

  // `joined`: only those that the front end of version 0.4 puts to nodes.
  std::vector<TimeloopConstraint> read_constraints(const TimeloopArchSection& arch, bool joined,
                                                   ImportNotes& notes) {
    TimeloopConstraints constraints{arch, import_.design.workload, notes};
    for (const Found& at : sections_[Section::kConstraints]) {
      if (!asks_nothing(*at.node) && (at.of_nodes || !joined)) {
        constraints.read(at.source->reader, *at.node);
      }
    }
    const Found& section = sections_[Section::kArch].front();
    for (const TimeloopPlacedConstraint& each : arch.constraints) {
      constraints.read(section.source->reader, each);
    }
    return constraints.take();
  }

  const TimeloopOptions& options_;
  std::set<std::string> asked_;  // settings
  std::vector<FrontEndDocument> documents_;
  std::deque<Source> sources_;
  std::map<Section, std::vector<Found>> sections_;
  TimeloopImport import_;
  std::vector<TimeloopCompound> compounds_;
  std::optional<EnergyReferences> table_;  // an ERT
  ImportNotes notes_;
  ImportNotes of_sparse_;
  ImportNotes first_;                   // what concerns every energy
  std::set<std::string> unknown_hops_;  // storages
};

}  // namespace

TimeloopImport read_timeloop(const std::vector<std::string>& paths,
                             const TimeloopOptions& options) {
  Importer importer{options};
  for (const std::string& path : paths) {
    importer.add(read_front_end(path, options.settings));
  }
  return importer.read();
}

TimeloopImport parse_timeloop(const std::string& text, const std::string& filename,
                              const TimeloopOptions& options) {
  Importer importer{options};
  importer.add(parse_front_end(text, filename, options.settings));
  return importer.read();
}

}  // namespace mapsim
