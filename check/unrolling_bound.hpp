// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "check/closed_form_bound.hpp"
#include "check/extent_domains.hpp"
#include "check/goal.hpp"
#include "check/graph.hpp"
#include "check/spatial.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// What has been proven about the mappings of one unrolling, up to the target.
struct BoundedUnrolling {
  double bound = 0;  // a lower bound of Target::of(); infinite: no mapping fits
  // Perfect factors: figures of a mapping that does not meet the target
  std::optional<Figures> better;
  std::int64_t states = 0;  // nodes of the completion bounds
  std::int64_t labels = 0;  // expanded; 0: none were needed
};

// Tiles of the coarse lattices that are tried before the finest one (imperfect factors).
inline constexpr std::array<std::size_t, 3> kCoarseTiles{300, 3'000, 30'000};

// Limits for imperfect factors: tiles of the finest lattice, labels, and how the closed form bounds
// paths at most. With perfect factors every unrolling is decided.
struct Effort {
  std::size_t tiles = 2'000'000;
  std::int64_t labels = 200'000;
  Stop stop = {};
  Paths paths = Paths::kByPhases;
};

// Bounds one unrolling: first by the completion bound, then by label searches if that leaves it
// open. With perfect factors this is done for each case of blocks (geometry.hpp), on the lattice of
// divisors. With imperfect factors lattices go from coarse to fine, and labels without history come
// before labels with loop chains. It stops as soon as every mapping is known to meet the target;
// the bound is then just the target. If effort.stop is set, it returns what it knows. `graph`: of
// the fanouts that the unrolling uses. `domains`: of imperfect factors.
BoundedUnrolling bound_unrolling(const Graph& graph, const Goal& goal, const ExtentDomains& domains,
                                 const Unrolling& unrolling, const Target& target,
                                 const Effort& effort);

}  // namespace mapsim::check
