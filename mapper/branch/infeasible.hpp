// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "mapper/mapper.hpp"

namespace mapsim::exact {

// For a space in which nothing fits: how many unrollings each capacity is too small for, and the
// least enlargement (fewest capacities, then fewest bits) with which something does: with all the
// capacities that have a smallest need enlarged to it a mapping fits, with one bit less in one of
// them none does. The second half is not certain for an output with a window whose finished sums
// are narrower than partial ones: a larger tile may then take less.
InfeasibleReport explain_infeasible(const Mapspace& space);

// The same for a space with rules for extents and loops, by searching again; the capacities that
// are large enough as they are, are as many as can be found one by one.
InfeasibleReport least_enlargement(const Mapspace& space);

// For an objective within whose limits there is nothing: what each of them would have to be at
// least, the other kept, if that leaves anything. `search` finds the best of the space; where it is
// interrupted, nothing is said of how much. Empty if no limit is at fault.
InfeasibleReport explain_limits(const Objective& asked,
                                const std::function<SearchResult(const Objective&)>& search);

}  // namespace mapsim::exact
