// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "mapper/mapper.hpp"

namespace mapsim::exact {

// For a space in which nothing fits: for how many unrollings each capacity is too small, and the
// least enlargement (fewest capacities, then fewest bits) with which some mapping fits. If all
// capacities with a `smallest_need` are enlarged to it, a mapping fits; with one bit less in one of
// them, none does. The second claim is not certain for an output with a window whose final sums are
// narrower than partial ones: a larger tile may then take less.
InfeasibleReport explain_infeasible(const Mapspace& space);

// The same for a space with rules for extents and loops, by repeated searches. Capacities that are
// large enough are found one by one, so their number is not certainly the largest possible.
InfeasibleReport least_enlargement(const Mapspace& space);

// For an objective with limits within which no mapping lies: the least value that each limit would
// need with the other one kept, if there is one. `search` finds the best mapping of the space; if
// it is interrupted, the report has no amount. Empty if no limit is at fault.
InfeasibleReport explain_limits(const Objective& asked,
                                const std::function<SearchResult(const Objective&)>& search);

}  // namespace mapsim::exact
