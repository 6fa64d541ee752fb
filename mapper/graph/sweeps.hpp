// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "mapper/graph/divisor_lattice.hpp"

namespace mapsim::exact {

// Minima over rows, with one number per tile of a lattice, by vector instructions of any width. The
// results do not depend on the width.

// upper[i] = min(upper[i], cost[i] + lower[i])
void take_least_sum(double* upper, const double* lower, const double* cost, std::size_t size);
double least_of(const double* row, std::size_t size);
// min over i of a[i] + b[i]
double least_sum(const double* a, const double* b, std::size_t size);

// out[i] = factors[i] * each; infinite where bits[i] > most
void multiply_fitting(double* out, const double* factors, double each, const double* bits,
                      double most, std::size_t size);

// A loop over a dim that leads to a row of another residency; `entry` is where its costs begin.
struct LoopTo {
  std::size_t from = 0;  // digits
  std::size_t to = 0;
  const double* below = nullptr;  // the row
  std::size_t entry = 0;
};
// row[from] = min(row[from], below[to] + sum of the costs), for all tiles and steps. Costs are laid
// out as in EdgeCosts::sliding.
void relax(const DivisorLattice& lattice, DimId dim, std::span<const LoopTo> steps,
           std::span<const double* const> costs, double* row);

// Loops cost nothing. relax_neutral: the cost to go of a tile is the least of the tiles to which
// loops over the dim lead. spread_neutral: the cost so far is the least of the tiles from which
// they lead.
void relax_neutral(const TileIndex& tiles, DimId dim, double* row);
void spread_neutral(const TileIndex& tiles, DimId dim, double* row);

// Partial costs of sliding-window edges, after some of their tensors have been charged: one per
// loop of the lattice over a dim and rest, as in EdgeCosts::sliding. `end`: the end of the loops at
// which a row of tiles is read or written.
enum class LoopEnd : std::uint8_t { kFrom, kTo };
// out = min(out, cost + min(row at that end, in)). known = false: overwrites `out`.
void extend_loops(const DivisorLattice& lattice, DimId dim, LoopEnd end, const double* row,
                  const double* in, const double* cost, double* out, bool known);
// row at that end = min(row, loops)
void end_loops(const DivisorLattice& lattice, DimId dim, LoopEnd end, const double* loops,
               double* row);

}  // namespace mapsim::exact
