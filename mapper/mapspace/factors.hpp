// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/mapspace/unrolling.hpp"

namespace mapsim {

// The extents that tiles of a dim with bound D may have. Perfect: each extent divides the one above
// it. Imperfect: the distinct ceil(D/n), which are the largest of n tiles of sizes as equal as
// possible; a loop may lead from any extent to any smaller one.
struct Factors {
  bool imperfect = false;
  std::int64_t pieces = 0;  // imperfect: of ceil(D/n) only n <= pieces, and the divisors; 0: all n
  PerDim<std::vector<std::int64_t>> tiles{};  // imperfect: further extents per dim
  friend bool operator==(const Factors&, const Factors&) = default;
};

// The extents of one dim, ascending, from 1 to its bound.
using ExtentDomain = std::vector<std::int64_t>;

// The most extents, over all dims, of a space with imperfect factors.
inline constexpr std::size_t kMostExtents = 4095;

// The extents that tiles may have, per dim.
PerDim<ExtentDomain> domains(const Workload& workload, const Factors& factors);

// The number of extents below the bounds, over all dims.
std::size_t extents(const Workload& workload, const Factors& factors);

// Index of the extent, which is in the domain
std::size_t extent_of(const ExtentDomain& domain, std::int64_t extent);

// The extent to which a parallel loop over `factor` instances cuts a tile: ceil(tile / factor).
// nullopt: fewer instances would suffice for such blocks, or the domain does not have that extent.
std::optional<std::int64_t> block_of(const ExtentDomain& domain, std::int64_t tile,
                                     std::int64_t factor);

// The tile behind the parallel loops of one fanout; nullopt: the fanout cannot be crossed at this
// tile.
std::optional<PerDim<std::int64_t>> behind(const PerDim<ExtentDomain>& all,
                                           const Unrolling& unrolling, FanoutId fanout,
                                           PerDim<std::int64_t> tile);

// The unrollings of an imperfect space, each a class of its own, in a fixed order, those with the
// fewest instances first. They have any number of instances such that some tile gives all of them
// work. Fanouts with a given unrolling are fixed. nullopt: there are more than `most`.
std::optional<std::vector<UnrollingClass>> imperfect_classes(const Problem& problem,
                                                             const PerDim<ExtentDomain>& all,
                                                             const UnrollingLimits& limits,
                                                             std::size_t most);

}  // namespace mapsim
