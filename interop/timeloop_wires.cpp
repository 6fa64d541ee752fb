// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_wires.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "interop/own_tables.hpp"

namespace mapsim {

namespace {

// The component of an ERT that is all wires, and its action (src/model/topology.cpp,
// ParseAccelergyERT).
constexpr std::array kWireNames{"wire", "Wire"};
constexpr std::array kWireActions{"transfer_random"};

// Per storage, the side [mm] of what one child below it takes; nothing where an area is missing.
std::vector<std::optional<double>> sides_below(const TimeloopArchSection& arch,
                                               const TimeloopMachine& machine) {
  std::vector<std::optional<double>> sides(machine.storages.size());
  std::optional<double> area = machine.compute_area;  // of one child and all below it
  for (std::size_t l = machine.storages.size(); l-- > 0;) {
    const TimeloopStorage& storage = machine.storages[l];
    if (area) {
      sides[l] = std::sqrt(*area);
    }
    const double children =
        static_cast<double>(machine.fanout(l, Axis::kX) * machine.fanout(l, Axis::kY));
    const bool is_point = arch.dummies.contains(storage.name) || arch.empty.contains(storage.name);
    const std::optional<double> own = is_point ? storage.area.value_or(0) : storage.area;
    area = area && own ? std::optional{*own + *area * children} : std::nullopt;
  }
  return sides;
}

}  // namespace

bool is_wire(const std::string& name) {
  return std::find(kWireNames.begin(), kWireNames.end(), name) != kWireNames.end();
}

std::optional<double> wire_energy(const TimeloopArchSection& arch, const EnergyReferences* table,
                                  const std::function<void(const std::string&)>& note) {
  for (const char* name : kWireNames) {
    const auto energy = table == nullptr ? std::nullopt : table->find(name, kWireActions);
    if (energy) {
      return energy->count();
    }
  }
  if (arch.wire == nullptr) {
    return std::nullopt;
  }
  if (table != nullptr) {
    note("the table has no energy of the wire: hops cost what the storages say, else nothing");
    return std::nullopt;
  }
  const Technology technology =
      nearest_technology(std::strtod(arch.wire_technology.c_str(), nullptr));
  const Figure energy = own_wire_energy(technology);
  note(
      fmt::format("hops are wires by our own table of {}, {:.3g} pJ for a bit and mm, not "
                  "Accelergy's: {}",
                  to_string(technology), energy.value, energy.source));
  return energy.value;
}

std::vector<UnknownHops> take_wires(const TimeloopArchSection& arch,
                                    const std::optional<double>& of_table,
                                    TimeloopMachine& machine) {
  const auto sides = sides_below(arch, machine);
  std::vector<UnknownHops> unknown;
  for (std::size_t l = 0; l < machine.storages.size(); ++l) {
    TimeloopStorage& storage = machine.storages[l];
    const TimeloopWires& wires = arch.wires.at(storage.name);
    const double energy = of_table.value_or(0) > 0 ? *of_table : wires.energy.value_or(0);
    if (storage.energy_per_hop || energy == 0 || !machine.has_fanout(l)) {
      continue;
    }
    const std::optional<double> hop = wires.hop ? wires.hop : sides[l];
    if (hop) {
      storage.energy_per_hop = static_cast<double>(wires.word_bits) * *hop * energy;
    } else {
      unknown.push_back({storage.name, wires.at});
    }
  }
  return unknown;
}

}  // namespace mapsim
