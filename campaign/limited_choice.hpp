// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/fusion/chain_hull.hpp"

namespace mapsim {

// The copies of a chain in a network, and what each of them may have [pJ, cycles].
struct CopiesOfChain {
  std::int64_t count = 1;
  std::vector<fusion::HullPoint> points;
};
struct ChoiceOfCopies {
  fusion::HullPoint total;
  // Of each chain: which points its copies have, and how many of them each.
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> copies;
};

// A choice of the least value whose totals, `streams` included, keep the limits: the copies of a
// chain have at most two points, neighbours on the hull of all, and where partial choices
// are too many, some that are close to others are left out. So it is no proof. Chains without
// points are left out. nullopt: no such choice keeps the limits.
std::optional<ChoiceOfCopies> choose_copies(const ObjectiveFunction& function,
                                            const fusion::HullLimits& limits,
                                            const fusion::HullPoint& streams,
                                            const std::vector<CopiesOfChain>& chains);

}  // namespace mapsim
