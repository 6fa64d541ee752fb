// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "check/boxes.hpp"
#include "check/goal.hpp"
#include "check/spatial.hpp"

namespace mapsim::check {

// What no mapping of the unrolling can do without, whatever its tiles: the goal's figures of the
// operations, the steps of the compute units, and the cheapest paths of the tensors
// (tensor_paths.hpp), of each for itself or, which takes longer and says more, of all together.
// Together say no less, but where there are too many paths.
Figures closed_form_bound(const Problem& problem, const Rules& rules, const Goal& goal,
                          const Unrolling& unrolling, bool together);

// The same of all unrollings of a box per fanout. Perfect factors.
Figures closed_form_bound(const Problem& problem, const Rules& rules, const Goal& goal,
                          const ChoiceRanges& ranges, bool together);

}  // namespace mapsim::check
