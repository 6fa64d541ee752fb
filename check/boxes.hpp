// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "check/spatial.hpp"

namespace mapsim::check {

// Bounds on all choices of a box, which is a set of ways to use one fanout. If the box has one
// choice, they are the figures of that choice.
struct ChoiceRange {
  PerDim<std::int64_t> least;   // at least: instances along the dim
  PerDim<std::int64_t> most;    // at most: the same
  PerDim<std::int64_t> common;  // a common divisor of the instances along the dim
  // Instances along dims that the tensor does not have. most_sharing counts those along the dims of
  // its windows as well, since they may share an element, too.
  PerTensor<double> fewest_lacking;
  PerTensor<double> most_lacking;
  PerTensor<double> most_sharing;
  double most_instances = 1;
  // Imperfect factors: at least, instances along X and along Y of the fanout
  std::array<PerDim<std::int64_t>, 2> least_along{};
};
using ChoiceRanges = PerFanout<ChoiceRange>;

// The figures of one unrolling.
ChoiceRanges ranges_of(const Workload& workload, const SpatialFactors& factors);
// Those of all unrollings of perfect factors; nullopt: there are none.
std::optional<ChoiceRanges> ranges_of_all(const Problem& problem, const Rules& rules);

// Visits the unrollings of perfect factors that bounds leave open. A set of unrollings is given by
// one box per fanout. `is_closed` is called with the box figures; if it returns true, nothing in
// the set is of interest. Otherwise one of the boxes is halved. Sets of a single unrolling that
// stay open go to `visit`. docs/certificates.md.
void visit_open(const Problem& problem, const Rules& rules,
                const std::function<bool(const ChoiceRanges&)>& is_closed,
                const std::function<void(const Unrolling&)>& visit);
bool is_in_space(const Problem& problem, const Rules& rules, const Unrolling& unrolling);

// The number of unrollings that use the same fanouts and leave the same bounds for temporal loops.
// list_bundles() counts them without listing unrollings.
struct Bundle {
  std::vector<FanoutId> used;
  PerDim<std::int64_t> left;
  std::int64_t classes = 0;      // that differ in more than axes; where axes matter, in anything
  std::int64_t assignments = 0;  // ways to give factors to axes, summed over the classes
};
std::vector<Bundle> list_bundles(const Problem& problem, const Rules& rules);

}  // namespace mapsim::check
