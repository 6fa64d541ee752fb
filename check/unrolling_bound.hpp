// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "check/extent_domains.hpp"
#include "check/goal.hpp"
#include "check/graph.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// What follows of the mappings of one unrolling, up to the target.
struct BoundedUnrolling {
  double bound = 0;               // no mapping has less of the target; infinite: none fits
  std::optional<Figures> better;  // perfect factors: of a mapping that does not meet the target
  std::int64_t states = 0;        // nodes of the walks
  std::int64_t labels = 0;        // partial nests looked into; 0: none were needed
};

// Lattices of imperfect factors that are tried before the finest one, in tiles.
inline constexpr std::array<std::size_t, 3> kCoarseTiles{300, 3'000, 30'000};

// How far to go with imperfect factors: `tiles` of the finest lattice, and partial nests. Perfect
// factors are always decided.
struct Effort {
  std::size_t tiles = 2'000'000;
  std::int64_t labels = 200'000;
  Stop stop = {};
};

// The completion bound first; a label search of what that leaves open. Perfect factors: case by
// case, on the lattice of divisors. Imperfect ones: from coarse lattices to the finest, labels
// without a history before labels with loop chains. Stops as soon as every mapping meets the
// target, and says no more than that; when it is told to stop, what it knows by then.
// `graph`: of the fanouts that the unrolling uses. `domains`: of imperfect factors.
BoundedUnrolling bound_unrolling(const Graph& graph, const Goal& goal, const ExtentDomains& domains,
                                 const Unrolling& unrolling, const Target& target,
                                 const Effort& effort);

}  // namespace mapsim::check
