// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/accelergy.hpp"
#include "interop/timeloop_arch.hpp"

namespace mapsim {

// A storage whose wires cost energy, of which no hop's length is known: its hops are left out.
struct UnknownHops {
  std::string storage;
  const Node* at = nullptr;
};

// Energies of hops where a design gives wires instead of energy_per_hop: an energy per bit and
// millimetre (the attribute wire_energy, or `of_table`, the component `wire` of an ERT, which
// counts for all networks), times the width of the network and the length of a hop. The length is
// tile_width, or the side of the square that all below the storage takes, where all of it has an
// area (src/model/network-legacy.cpp, WireEnergyPerHop; src/model/topology.cpp, ParseAccelergyERT
// and FloorPlan). Wires without an energy cost nothing, as by the table that comes with Timeloop
// (pat-public/src/pat/pat.cpp, WireEnergy).
// The names of that component.
bool is_wire(const std::string& name);
// Its energy [pJ/(b mm)]: by the ERT, or where there is no ERT (nullptr) and the design has the
// component, by our own tables. `note` is told about the latter, and where the ERT has none of it.
std::optional<double> wire_energy(const TimeloopArchSection& arch, const EnergyReferences* table,
                                  const std::function<void(const std::string&)>& note);
std::vector<UnknownHops> take_wires(const TimeloopArchSection& arch,
                                    const std::optional<double>& of_table,
                                    TimeloopMachine& machine);

}  // namespace mapsim
