// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

#include "check/graph.hpp"
#include "check/ladders.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// Bounds of the mappings of one unrolling of an imperfect space, from coarse tiles to fine ones.
struct ImperfectBound {
  double bound = 0;         // no mapping has less of the target; infinite: none fits
  std::int64_t states = 0;  // nodes of the walks
  std::int64_t labels = 0;  // partial nests walked; 0: none were needed
};

// Lattices that are tried before the finest one, in tiles.
inline constexpr std::array<std::size_t, 3> kCoarseTiles{300, 3'000, 30'000};

// How far to go: `tiles` of the finest lattice, and partial nests.
struct Effort {
  std::size_t tiles = 2'000'000;
  std::int64_t labels = 200'000;
  Stop stop = {};
};

// Stops as soon as every mapping meets the target, and says no more than that; when it is told to
// stop, what it knows by then. `graph`: of the
// fanouts that the unrolling uses.
ImperfectBound bound_imperfect(const Graph& graph, const Goal& goal, const ExtentDomains& ladders,
                               const Unrolling& unrolling, const Target& target,
                               const Effort& effort);

}  // namespace mapsim::check
