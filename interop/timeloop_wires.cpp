// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_wires.hpp"

#include <algorithm>
#include <cmath>

namespace mapsim {

namespace {

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
    const bool is_point = arch.dummies.contains(storage.name);
    const std::optional<double> own = is_point ? storage.area.value_or(0) : storage.area;
    area = area && own ? std::optional{*own + *area * children} : std::nullopt;
  }
  return sides;
}

}  // namespace

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
