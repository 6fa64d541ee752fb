// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_energies.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "arch/technology.hpp"
#include "core/ascii.hpp"
#include "interop/own_tables.hpp"

namespace mapsim {

namespace {

class OwnEnergies {
 public:
  OwnEnergies(const TimeloopArchSection& arch, TimeloopMachine& machine,
              std::map<std::string, std::string>& origins)
      : arch_{arch}, machine_{machine}, origins_{origins} {}

  void run(ImportNotes& notes) {
    for (TimeloopStorage& storage : machine_.storages) {
      if (!arch_.dummies.contains(storage.name) && !arch_.empty.contains(storage.name)) {
        add(storage);
      }
    }
    add_compute();
    std::string line =
        "no ERT: energies and areas are estimates by our own tables (docs/energy.md), not "
        "Accelergy's; "
        "--ert FILE takes Accelergy's, --counts-only leaves energies out";
    for (const std::string& each : substitutes_) {
      line += "; " + each;
    }
    notes.lines.insert(notes.lines.begin(), line);
  }

 private:
  const TimeloopMaterial& material(const std::string& name) const {
    return arch_.materials.at(name);
  }

  Technology technology_of(const TimeloopMaterial& material) {
    const Technology taken = nearest_technology(std::strtod(material.technology.c_str(), nullptr));
    if (material.technology != to_string(taken)) {
      substitutes_.insert(
          fmt::format("technology {}: the table of {}",
                      material.technology.empty() ? "not said" : quoted(material.technology),
                      to_string(taken)));
    }
    return taken;
  }

  void add(TimeloopStorage& storage) {
    const TimeloopMaterial& made = material(storage.name);
    if (const auto own = arch_.access_energies.find(storage.name);
        own != arch_.access_energies.end()) {
      storage.energy = {own->second, own->second, own->second};
      origins_[storage.name] = "energies by its vector_access_energy";
      return;
    }
    const StorageKind kind = own_storage_kind(made.klass, storage.off_chip, made.type);
    if (is_on_chip(kind) && !storage.words) {
      substitutes_.insert(
          fmt::format("{} has no size, so that no table has an energy for it: its "
                      "accesses cost nothing",
                      storage.name));
      return;
    }
    const Technology technology = is_on_chip(kind) ? technology_of(made) : Technology::k45nm;
    const Bits capacity{storage.words.value_or(0) * storage.word_bits};
    const Figure energy = storage_energy(technology, kind, capacity);
    const double access = energy.value * static_cast<double>(storage.word_bits * storage.block);
    storage.energy = {access, access, access};
    if (storage.off_chip && lower_case(made.type).find("lpddr4") != std::string::npos) {
      substitutes_.insert("LPDDR4: the table of LPDDR5");
    }
    std::string origin =
        fmt::format("energies by our table, {}: {}", to_string(kind), energy.source);
    if (is_on_chip(kind)) {
      storage.area = storage_area(technology, kind, capacity).value;
      origin += "; area by our table";
    }
    origins_[storage.name] = origin;
  }

  void add_compute() {
    const TimeloopMaterial& made = material(machine_.compute_name);
    const Technology technology = technology_of(made);
    const Bits width{made.multiplier_bits > 0 ? made.multiplier_bits : machine_.compute_bits};
    const Bits sum{made.adder_bits > 0 ? made.adder_bits : width.count()};
    const OwnMac mac = own_mac(technology, made.klass, width, sum);
    const auto own = arch_.access_energies.find(machine_.compute_name);
    const bool own_energy = own != arch_.access_energies.end();
    const bool own_area = machine_.compute_area.has_value();
    machine_.compute_energy = own_energy ? own->second : mac.energy;
    machine_.compute_area = own_area ? machine_.compute_area : mac.area;
    machine_.compute_format = mac.format;
    origins_[machine_.compute_name] = fmt::format(
        "{}; {}", own_energy ? "energy by its attribute" : "energy by our table: " + mac.source,
        own_area ? "area by its attribute" : "area by our table");
  }

  const TimeloopArchSection& arch_;
  TimeloopMachine& machine_;
  std::map<std::string, std::string>& origins_;
  std::set<std::string> substitutes_;
};

class TableEnergies {
 public:
  TableEnergies(const EnergyReferences& table, const TimeloopArchSection& arch,
                TimeloopMachine& machine, std::map<std::string, std::string>& origins,
                ImportNotes& notes, const std::function<void(const std::string&)>& refuse)
      : table_{table},
        arch_{arch},
        machine_{machine},
        origins_{origins},
        notes_{notes},
        refuse_{refuse} {}

  void run() {
    for (TimeloopStorage& storage : machine_.storages) {
      add(storage);
    }
    add_compute();
  }

 private:
  void add(TimeloopStorage& storage) {
    auto read = table_.find(storage.name, kReadActions);
    auto write = table_.find(storage.name, kWriteActions);
    storage.leak = leak_of(storage.name);
    if (arch_.dummies.contains(storage.name) && !read && !write) {
      return;  // keeps nothing
    }
    if (const auto own = arch_.access_energies.find(storage.name);
        own != arch_.access_energies.end()) {
      storage.energy = {own->second, own->second, own->second};
      origins_[storage.name] =
          "energies by vector_access_energy, which Timeloop takes whatever a table says";
      return;
    }
    const auto most = max_of(storage.name);
    if (!most) {
      refuse_(fmt::format("no energy for {} of {}", read ? "write" : "read", storage.name));
      return;
    }
    if (!read || !write) {
      notes_.lines.push_back(fmt::format(
          "{}: the table has no energy for its {}; the largest of its actions is taken, as by "
          "Timeloop",
          storage.name,
          read    ? "writes"
          : write ? "reads"
                  : "reads and writes"));
    }
    read = read ? read : most;
    write = write ? write : most;
    const auto update = table_.find(storage.name, kUpdateActions).value_or(*write);
    const auto cluster = static_cast<double>(storage.cluster);
    if (storage.cluster > 1) {
      notes_.lines.push_back(fmt::format(
          "{0}: {1} instances share an access: each is charged 1/{1} of its energy, as in Timeloop "
          "where all of them work; where few do, Timeloop charges each up to all of it",
          storage.name, storage.cluster));
    }
    storage.energy = {read->count() / cluster, write->count() / cluster, update.count() / cluster};
    const bool own = table_.action_of(storage.name, kUpdateActions) != nullptr;
    origins_[storage.name] =
        fmt::format("energies by {}: read by {}, write by {}, update by {}{}", table_.file,
                    named(storage.name, kReadActions), named(storage.name, kWriteActions),
                    named(storage.name, own ? Actions{kUpdateActions} : Actions{kWriteActions}),
                    leak_origin(storage.name));
  }

  void add_compute() {
    const std::string& name = machine_.compute_name;
    const auto named = table_.find(name, kComputeActions);
    const auto energy = named ? named : max_of(name);
    if (!energy && !name.empty()) {
      refuse_(fmt::format("no energy for compute of {}", name));
    }
    if (const auto own = arch_.access_energies.find(name); own != arch_.access_energies.end()) {
      notes_.lines.push_back(
          fmt::format("{}: its attribute energy ({}) does not count beside a table, as in Timeloop",
                      name, own->second));
    }
    machine_.compute_energy = energy.value_or(Picojoules{0}).count();
    machine_.compute_leak = leak_of(name);
    if (energy) {
      origins_[name] =
          fmt::format("energy by {}: {}{}", table_.file,
                      named ? fmt::format("'{}'", table_.action_of(name, kComputeActions))
                            : "the largest of its actions, as none is called compute",
                      leak_origin(name));
    }
  }

  std::string named(const std::string& name, Actions actions) const {
    const char* action = table_.action_of(name, actions);
    return action == nullptr ? "its largest" : fmt::format("'{}'", action);
  }

  const char* leak_origin(const std::string& name) const {
    return table_.action_of(name, kLeakActions) != nullptr ? ", leakage by 'leak'" : "";
  }

  std::optional<double> leak_of(const std::string& name) const {
    const auto leak = table_.find(name, kLeakActions);
    return leak ? std::optional{leak->count()} : std::nullopt;
  }

  // What Timeloop takes of a component where none of the names that it looks up is there.
  std::optional<Picojoules> max_of(const std::string& name) const {
    const auto known = table_.components.find(name);
    std::optional<Picojoules> most;
    for (const auto& [action, energy] :
         known == table_.components.end() ? std::map<std::string, Picojoules>{} : known->second) {
      most = !most || energy > *most ? energy : *most;
    }
    return most;
  }

  const EnergyReferences& table_;
  const TimeloopArchSection& arch_;
  TimeloopMachine& machine_;
  std::map<std::string, std::string>& origins_;
  ImportNotes& notes_;
  const std::function<void(const std::string&)>& refuse_;
};

}  // namespace

void take_table_energies(const EnergyReferences& table, const TimeloopArchSection& arch,
                         TimeloopMachine& machine, std::map<std::string, std::string>& origins,
                         ImportNotes& notes,
                         const std::function<void(const std::string&)>& refuse) {
  TableEnergies{table, arch, machine, origins, notes, refuse}.run();
}

std::vector<std::string> unused_actions(const EnergyReferences& table,
                                        const TimeloopMachine& machine,
                                        const std::string& component) {
  const bool named =
      component == machine.compute_name
          ? table.find(component, kComputeActions).has_value()
          : table.find(component, kReadActions) && table.find(component, kWriteActions);
  return named ? other_actions(table, component) : std::vector<std::string>{};
}

void take_own_energies(const TimeloopArchSection& arch, TimeloopMachine& machine,
                       std::map<std::string, std::string>& origins, ImportNotes& notes) {
  if (!machine.storages.empty() && !machine.compute_name.empty()) {
    OwnEnergies{arch, machine, origins}.run(notes);
  }
}

}  // namespace mapsim
