// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/mapspace/unrolling.hpp"

namespace mapsim {

// Which extents the tiles of a dim of bound D may have. Perfect: each divides the one above it.
// Imperfect: the distinct ceil(D/n), the sizes of the largest of n tiles that are as equal as can
// be; a loop may go from any of them to any smaller one.
struct Factors {
  bool imperfect = false;
  std::int64_t pieces = 0;  // imperfect: of ceil(D/n) only n <= pieces, and divisors; 0: all n
  PerDim<std::vector<std::int64_t>> tiles{};  // imperfect: further extents per dim, empty: none
  friend bool operator==(const Factors&, const Factors&) = default;
};

// The extents of one dim, ascending, from 1 to its bound.
using ExtentDomain = std::vector<std::int64_t>;

// Most extents of all dims together that an imperfect space may have.
inline constexpr std::size_t kMostExtents = 4095;

// The extents that tiles may have, per dim.
PerDim<ExtentDomain> domains(const Workload& workload, const Factors& factors);

std::size_t extents(const Workload& workload,
                    const Factors& factors);  // below the bounds, all dims

std::size_t extent_of(const ExtentDomain& domain, std::int64_t extent);  // extent is in the domain

// The block that a parallel loop over `factor` instances makes of a tile: ceil(tile / factor).
// nullopt: fewer instances would do for such blocks, or the domain has no such extent.
std::optional<std::int64_t> block_of(const ExtentDomain& domain, std::int64_t tile,
                                     std::int64_t factor);

// What is left of a tile behind the parallel loops of one fanout; nullopt: it cannot cross here.
std::optional<PerDim<std::int64_t>> behind(const PerDim<ExtentDomain>& all,
                                           const Unrolling& unrolling, FanoutId fanout,
                                           PerDim<std::int64_t> tile);

// The unrollings of an imperfect space, each a class of its own, in a fixed order that begins with
// the fewest instances: any number of instances that some tile gives work to. A fanout that the
// limits give is fixed to what they say. nullopt: there are more than `most`.
std::optional<std::vector<UnrollingClass>> imperfect_classes(const Problem& problem,
                                                             const PerDim<ExtentDomain>& all,
                                                             const UnrollingLimits& limits,
                                                             std::size_t most);

}  // namespace mapsim
