// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "core/reader.hpp"

namespace mapsim {

// The section `ERT` of a design: Accelergy's energies, pJ of each action of each component. An
// action with several choices of arguments (as of a smart buffer) costs what its dearest one costs,
// as in Timeloop. (An architecture file names a table of its own by `ert:`, arch/accelergy.hpp.)
struct EnergyTable {
  // By the last part of the component's name, without its range: chip.PE[0..7].RF(1..8) is RF.
  std::map<std::string, std::map<std::string, double>> components;

  // The first of these actions that the component has.
  std::optional<double> action(const std::string& component,
                               std::initializer_list<const char*> names) const;
};

EnergyTable read_energy_table(Reader& reader, const Node& section);

}  // namespace mapsim
