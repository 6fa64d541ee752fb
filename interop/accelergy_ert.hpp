// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>

#include "arch/arch.hpp"
#include "core/reader.hpp"

namespace mapsim {

// An Accelergy energy reference table: pJ of each action of each component. An action with several
// arguments (as of a smart buffer) costs what its dearest choice costs, as in Timeloop.
struct EnergyTable {
  // By the last part of the component's name, without its range: chip.PE[0..7].RF(1..8) is RF.
  std::map<std::string, std::map<std::string, double>> components;

  // The first of these actions that the component has.
  std::optional<double> action(const std::string& component,
                               std::initializer_list<const char*> names) const;
};

// The section that begins under the key ERT.
EnergyTable read_energy_table(Reader& reader, const Node& section);
EnergyTable load_energy_table(const std::string& path);

// The same architecture with its energies from the table, which are those of one access of
// `storage.word` bits; components that the table does not name are listed in `missing`.
Arch with_energies(const Arch& arch, const EnergyTable& table, std::vector<std::string>& missing);

}  // namespace mapsim
