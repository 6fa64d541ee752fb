// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/extent_lattice.hpp"

namespace mapsim::imperfect {

// Tiles of the coarse lattices that lead to a fine one.
inline constexpr std::array<std::size_t, 3> kCoarseTiles{300, 3'000, 30'000};

// The criterion to prune tiles: the incumbent `known`, and its comparison with lower bounds.
struct Pruning {
  const exact::PathObjective& path_objective;  // with a lower bound of the class's compute cycles
  std::size_t components = 1;  // of the bounds: energy, or energy and the bits of every port
  const exact::Incumbent& known;
};

// Coarse to fine. On a lattice of a few hundred tiles, two bounds are cheap: the cost so far of
// every nest at a node (CostSoFar), and the cost to go from there (CompletionBound). If the
// incumbent rules out the objective of their sum, no nest through that node is of interest. Neither
// is any node of a finer lattice that the coarse node stands for, because a coarse tile never costs
// more than the tiles that it stands for. So only a small part of a fine lattice is left to bound.
//
// Bits of ports are bounded on lattices of up to 3,000 tiles only. Finer ones bound energy alone,
// and are left out if it has no limit.
//
// The result lists, per row, the tiles of `tiles` that are left. nullopt: no coarse lattice was of
// use, so all are left. If every row is empty, no nest of the unrolling is of interest. Throws
// OutOfBudget at the deadline.
std::optional<exact::RowTiles> surviving_tiles(const exact::StateGraph& graph,
                                               const UnrollingClass& unrolling_class,
                                               const ExtentLattice& tiles, const Pruning& pruning,
                                               const Deadline& deadline,
                                               std::span<const std::size_t> counts = kCoarseTiles);

// Memory of the lists.
std::size_t bytes_of(const exact::RowTiles& rows);

}  // namespace mapsim::imperfect
