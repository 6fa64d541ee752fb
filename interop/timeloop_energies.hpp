// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "arch/accelergy.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop_arch.hpp"

namespace mapsim {

// Sets the energies of storages and compute units from Accelergy's table, by the actions that
// Timeloop looks up. If the table lacks an action, Timeloop's substitute is taken, with a note; if
// it lacks a component, `refuse` gets a sentence. `origins` gets the source of each component's
// energies.
void take_table_energies(const EnergyReferences& table, const TimeloopArchSection& arch,
                         TimeloopMachine& machine, std::map<std::string, std::string>& origins,
                         ImportNotes& notes, const std::function<void(const std::string&)>& refuse);

// Actions of a table that are not used. Empty where the largest energy of all actions is used.
std::vector<std::string> unused_actions(const EnergyReferences& table,
                                        const TimeloopMachine& machine,
                                        const std::string& component);

// Sets the energies and areas of a design without Accelergy's tables from those of
// arch/technology.hpp, by class, size, width and technology of each component. `origins` gets their
// sources, and the first note states them. A storage without a size gets no energy, which the note
// also states.
void take_own_energies(const TimeloopArchSection& arch, TimeloopMachine& machine,
                       std::map<std::string, std::string>& origins, ImportNotes& notes);

}  // namespace mapsim
