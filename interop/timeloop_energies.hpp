// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <string>

#include "arch/accelergy.hpp"
#include "interop/import_notes.hpp"
#include "interop/timeloop_arch.hpp"

namespace mapsim {

// Energies of storages and compute units by Accelergy's table, by the actions that Timeloop looks
// up. Where the table lacks one, Timeloop's substitute is taken, which a note says; where it has
// nothing for a component, `refuse` gets a sentence. What was taken for each is in `origins`.
void take_table_energies(const EnergyReferences& table, const TimeloopArchSection& arch,
                         TimeloopMachine& machine, std::map<std::string, std::string>& origins,
                         ImportNotes& notes, const std::function<void(const std::string&)>& refuse);

// Energies and areas of a design that comes without Accelergy's: from the tables of
// arch/technology.hpp, by class, size, width and technology of each component. What was taken for
// each is in `origins`, and a note says so first. A storage without a size has none, which the note
// says, too.
void take_own_energies(const TimeloopArchSection& arch, TimeloopMachine& machine,
                       std::map<std::string, std::string>& origins, ImportNotes& notes);

}  // namespace mapsim
