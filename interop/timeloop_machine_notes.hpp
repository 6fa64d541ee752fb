// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <vector>

#include "interop/timeloop.hpp"
#include "interop/timeloop_arch.hpp"

namespace mapsim {

// Of words that are not as wide as those of the outermost storage.
std::vector<std::string> notes_on_widths(const TimeloopMachine& machine);

// Of attributes around components that Timeloop does not hand to them. Our own tables of energies
// (`own_tables`: they are those of the import) take the width of a MAC wherever it stands.
std::vector<std::string> notes_on_unread(const TimeloopArchSection& arch, bool own_tables);

// Of storages above a fanout whose hops have no energy, but for those that another note names
// (`unknown_hops`); empty: there are none.
std::string note_on_networks(const TimeloopMachine& machine,
                             const std::set<std::string>& unknown_hops);

// Attributes of formats of sparse tensors: widths of words are read, the others are not.
void name_unread_words(ImportNotes& notes);

}  // namespace mapsim
