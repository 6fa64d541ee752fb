// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/accelergy.hpp"
#include "interop/timeloop_arch.hpp"

namespace mapsim {

// A storage whose wires cost energy, but whose hops have no known length; hops are left out.
struct UnknownHops {
  std::string storage;
  const Node* at = nullptr;
};

// Energies of hops, for designs that give wires instead of energy_per_hop: an energy per bit and
// millimetre (the attribute wire_energy, or `of_table`, the component `wire` of an ERT, which holds
// for all networks), times the width of the network and the length of a hop. The length is
// tile_width or, if all nodes below the storage have an area, the side of the square of that area
// (src/model/network-legacy.cpp, WireEnergyPerHop; src/model/topology.cpp, ParseAccelergyERT and
// FloorPlan). Wires without an energy cost nothing, as in Timeloop's own table
// (pat-public/src/pat/pat.cpp, WireEnergy).
// Is it a name of that component?
bool is_wire(const std::string& name);
// Its energy [pJ/(b mm)] from the ERT or, without an ERT (nullptr), from mapsim's tables if the
// design has the component. `note` gets a text in the latter case, and if the ERT lacks the
// component.
std::optional<double> wire_energy(const TimeloopArchSection& arch, const EnergyReferences* table,
                                  const std::function<void(const std::string&)>& note);
// Sets the energies of hops of `machine`; returns the storages whose hops are left out.
std::vector<UnknownHops> take_wires(const TimeloopArchSection& arch,
                                    const std::optional<double>& of_table,
                                    TimeloopMachine& machine);

}  // namespace mapsim
