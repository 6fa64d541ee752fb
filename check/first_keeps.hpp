// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "check/path_costs.hpp"

namespace mapsim::check {

// The first keep of each tensor on its way from the outermost level.
struct FirstKeeps {
  std::vector<std::size_t> first;  // residences; kNowhere: no level keeps the tensor
  std::size_t charged = 0;         // tensors, as bits, whose transfers are charged elsewhere
};

// A lower bound of the energy of what leaves the outermost level for the first keeps, and of the
// sums that arrive there [pJ]: over all instances, by phases of the first keeps (phases.hpp), for
// which it does not matter at which levels these are.
double least_at_source(const Problem& problem, const PathCosts& costs,
                       const std::vector<MovedTensor>& moved, const FirstKeeps& keeps,
                       double tolerance);

}  // namespace mapsim::check
