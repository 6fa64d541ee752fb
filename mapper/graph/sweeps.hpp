// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "mapper/graph/lattice.hpp"

namespace mapsim::exact {

// Least sums over whole rows, one number for every tile of a lattice, in vectors of any width:
// minima and single sums come out alike in all of them.

// upper[i] = min(upper[i], cost[i] + lower[i])
void take_least_sum(double* upper, const double* lower, const double* cost, std::size_t size);
double least_of(const double* row, std::size_t size);
// The least a[i] + b[i]
double least_sum(const double* a, const double* b, std::size_t size);

// out[i] = factors[i] * each, infinite where bits[i] > most
void multiply_fitting(double* out, const double* factors, double each, const double* bits,
                      double most, std::size_t size);

// A run of the lattice over a dim to a row of another residency; its costs begin at `entry`.
struct RunStep {
  std::size_t from = 0;  // digits
  std::size_t to = 0;
  const double* below = nullptr;  // the row
  std::size_t entry = 0;
};
// row[from] = min(row[from], below[to] + costs) of all tiles and steps; costs as in
// EdgeCosts::sliding.
void relax(const Lattice& lattice, DimId dim, std::span<const RunStep> steps,
           std::span<const double* const> costs, double* row);

// A loop costs nothing. The cost to go at a tile is the least over the tiles that loops over
// the dim lead to, the cost so far the least over those that they come from.
void relax_neutral(const TileIndex& tiles, DimId dim, double* row);
void spread_neutral(const TileIndex& tiles, DimId dim, double* row);

// Values on the way of a sliding_edge, one for each run of the lattice over a dim and rest, as in
// EdgeCosts::sliding. `End`: which of a run's tiles a row is about.
enum class End : std::uint8_t { kFrom, kTo };
// out = min(out, cost + min(row at that end, in)); not `known`: `out` holds nothing yet.
void extend_runs(const Lattice& lattice, DimId dim, End end, const double* row, const double* in,
                 const double* cost, double* out, bool known);
// row at that end = min(row, runs)
void end_runs(const Lattice& lattice, DimId dim, End end, const double* runs, double* row);

}  // namespace mapsim::exact
