// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "check/spatial.hpp"

namespace mapsim::check {

// What the choices of a box, a set of ways to use one fanout, have in common. Of one choice all
// figures are its own.
struct ChoiceRange {
  PerDim<std::int64_t> least;   // instances along the dim
  PerDim<std::int64_t> most;    // ...
  PerDim<std::int64_t> common;  // divides all of them
  // Instances along dims that a tensor lacks, and along these and the dims of its windows: as many
  // may share an element.
  PerTensor<double> fewest_lacking;
  PerTensor<double> most_lacking;
  PerTensor<double> most_sharing;
  double most_instances = 1;
};
using ChoiceRanges = PerFanout<ChoiceRange>;

// Of one unrolling.
ChoiceRanges ranges_of(const Workload& workload, const SpatialFactors& factors);

// Visits unrollings of perfect factors as far as it must: a set of them, by a box per fanout, is
// left alone when `is_closed` says of what they have in common that nothing in it is of interest;
// else one of its boxes is halved. What is left in the end are single unrollings, which `visit`
// gets. docs/certificates.md.
void visit_open(const Problem& problem, const Rules& rules,
                const std::function<bool(const ChoiceRanges&)>& is_closed,
                const std::function<void(const Unrolling&)>& visit);
bool is_in_space(const Problem& problem, const Rules& rules, const Unrolling& unrolling);

// The unrollings that use the same fanouts and leave the same bounds to temporal loops, counted
// without a list of them.
struct Bundle {
  std::vector<FanoutId> used;
  PerDim<std::int64_t> left;
  std::int64_t classes = 0;      // that differ in more than axes, unless these matter
  std::int64_t assignments = 0;  // of factors to axes, all together
};
std::vector<Bundle> list_bundles(const Problem& problem, const Rules& rules);

}  // namespace mapsim::check
