// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/imperfect_tiles.hpp"

namespace mapsim::imperfect {

// Tiles of the lattices on the way to a fine one.
inline constexpr std::array<std::size_t, 3> kOnTheWay{300, 3'000, 30'000};

// What a search looks for: nothing that `known` rules out.
struct Interest {
  const exact::Valuation& valuation;  // its compute cycles: no nest of the class needs fewer
  std::size_t components = 1;         // that bounds are made of: energy, then those of the ports
  const exact::Incumbent& known;
};

// Coarse to fine. On a lattice of a few hundred tiles what a nest has cost at least when it gets to
// a node, and what it still has to pay at least (the completion bound), are found in no time. Where
// the objective of both together is ruled out, no nest through that node is of interest, nor
// through any node of a finer lattice that it stands for. So only a small part of a fine lattice is
// bounded. Ports are looked at on the coarser lattices alone: what every nest needs of them, too,
// limits the energy on the others.
//
// The tiles of a lattice, by row, through which a nest of interest may lead. Nothing: all of them
// may, as far as is known. Where none are listed no nest of the unrolling is of interest. Within
// the deadline: else OutOfBudget.
std::optional<exact::RowTiles> surviving_tiles(const exact::StateGraph& graph,
                                               const UnrollingClass& unrolling_class,
                                               const Tiles& tiles, const Interest& interest,
                                               const Deadline& deadline,
                                               std::span<const std::size_t> counts = kOnTheWay);

std::size_t bytes_of(const exact::RowTiles& rows);

}  // namespace mapsim::imperfect
