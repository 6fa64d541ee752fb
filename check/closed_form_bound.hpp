// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "check/boxes.hpp"
#include "check/goal.hpp"
#include "check/spatial.hpp"

namespace mapsim::check {

// A lower bound of all mappings of an unrolling, whatever their tiles: the goal's figures of the
// operations, the steps of the compute units, and the cheapest paths of the tensors
// (tensor_paths.hpp). Paths are chosen for each tensor by itself or, if `together`, for all tensors
// at once. The latter takes longer and is never lower, unless there are too many paths.
Figures closed_form_bound(const Problem& problem, const Rules& rules, const Goal& goal,
                          const Unrolling& unrolling, bool together);

// The same for all unrollings in a box per fanout.
Figures closed_form_bound(const Problem& problem, const Rules& rules, const Goal& goal,
                          const ChoiceRanges& ranges, bool together);

}  // namespace mapsim::check
