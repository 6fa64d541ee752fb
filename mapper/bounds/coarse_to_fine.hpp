// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/imperfect_tiles.hpp"

namespace mapsim::imperfect {

// Tiles of the lattices on the way to a fine one.
inline constexpr std::array<std::size_t, 3> kOnTheWay{300, 3'000, 30'000};

// Coarse to fine. On a lattice of a few hundred tiles what a nest has paid at least when it gets to
// a node, and what it still has to pay at least (the completion bound), are found in no time. Where
// both together are more than what is allowed, no nest through that node is of interest, nor
// through any node of a finer lattice that it stands for. So only a small part of a fine lattice is
// bounded.
//
// The tiles of a lattice, by row, through which a nest may need no more than `most` [pJ]. Nothing:
// all of them may, as far as is known. Where none are listed no nest of the unrolling is of
// interest. Within the deadline: else OutOfBudget.
std::optional<exact::RowTiles> surviving_tiles(const exact::StateGraph& graph,
                                               const UnrollingClass& unrolling_class,
                                               const Tiles& tiles, double most,
                                               const Deadline& deadline,
                                               std::span<const std::size_t> counts = kOnTheWay);

}  // namespace mapsim::imperfect
