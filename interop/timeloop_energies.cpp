// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_energies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "arch/technology.hpp"
#include "interop/own_tables.hpp"

namespace mapsim {

namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

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
    if (storage.off_chip && lower(made.type).find("lpddr4") != std::string::npos) {
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
    machine_.compute_energy = mac.energy;
    machine_.compute_area = mac.area;
    origins_[machine_.compute_name] =
        fmt::format("energy by our table: {}; area by our table", mac.source);
  }

  const TimeloopArchSection& arch_;
  TimeloopMachine& machine_;
  std::map<std::string, std::string>& origins_;
  std::set<std::string> substitutes_;
};

}  // namespace

void take_own_energies(const TimeloopArchSection& arch, TimeloopMachine& machine,
                       std::map<std::string, std::string>& origins, ImportNotes& notes) {
  if (!machine.storages.empty() && !machine.compute_name.empty()) {
    OwnEnergies{arch, machine, origins}.run(notes);
  }
}

}  // namespace mapsim
