// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <vector>

#include "interop/timeloop.hpp"

namespace mapsim {

// Of words that are not as wide as those of the outermost storage.
std::vector<std::string> notes_on_widths(const TimeloopMachine& machine);

// Of storages above a fanout whose hops have no energy, but for those that another note names
// (`unknown_hops`); empty: there are none.
std::string note_on_networks(const TimeloopMachine& machine,
                             const std::set<std::string>& unknown_hops);

}  // namespace mapsim
