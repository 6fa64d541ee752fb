// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "interop/import_notes.hpp"
#include "interop/timeloop_arch.hpp"

namespace mapsim {

// Energies and areas of a design that comes without Accelergy's: from the tables of
// arch/technology.hpp, by class, size, width and technology of each component. What was taken for
// each is in `origins`, and a note says so first. A storage without a size has none, which the note
// says, too.
void take_own_energies(const TimeloopArchSection& arch, TimeloopMachine& machine,
                       std::map<std::string, std::string>& origins, ImportNotes& notes);

}  // namespace mapsim
