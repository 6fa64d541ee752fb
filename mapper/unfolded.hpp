// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "mapper/formed_result.hpp"

namespace mapsim {

// Linear folds. The rows of a systolic array take consecutive outputs of a convolution, whatever
// line of the image they are in, where tiles of a nest over its own dims are rectangles:
// ceil(P*Q/r) folds instead of ceil(P/p) * ceil(Q/q). Such a nest is one over the layer in the form
// unfolded (workloads/form.hpp), so a second search of that form has them all. docs/systolic.md.

// The layer unfolded, and the constraints in its dims. nullopt, and the form is not searched, if
// - the layer does not have it;
// - partial folds are not searched either (has_partial_folds());
// - a rule is about factors of dims.
struct UnfoldedSpace {
  Problem problem;
  Constraints constraints;
};
std::optional<UnfoldedSpace> unfolded_space(const Mapspace& space, const Objective& objective);

// The best mapping of the layer as it is (`space`) and unfolded; of equals the former. Status,
// bound and size are of both forms together; they share the seconds of the budget, and each has all
// its labels.
FormedResult search_both(const Mapspace& space, const UnfoldedSpace& unfolded,
                         const SearchOptions& options);

}  // namespace mapsim
