// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/sweeps.hpp"

#include <algorithm>
#include <array>

#include "mapper/graph/parts.hpp"

namespace mapsim::exact {

namespace {

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(NDEBUG)
#define MAPSIM_ANY_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define MAPSIM_ANY_VECTORS
#endif

// Long sums are added in pieces that stay in the cache.
constexpr std::size_t kPiece = 64;

// row[from] = min(row[from], below[to] + costs), for all tiles and steps. Inlined once for each
// number of costs.
template <std::size_t count>
[[gnu::always_inline]] inline void relax_steps(double* row, std::size_t size, std::size_t stride,
                                               std::size_t positions, std::span<const LoopTo> steps,
                                               const double* const* costs) {
  std::size_t rest = 0;
  for (double* base = row; base < row + size; base += stride * positions, rest += stride) {
    for (const LoopTo& step : steps) {
      double* __restrict upper = base + step.from * stride;
      const double* __restrict lower = step.below + (base - row) + step.to * stride;
      if constexpr (count == 0) {
        for (std::size_t i = 0; i < stride; ++i) {
          upper[i] = std::min(upper[i], lower[i]);
        }
      } else if constexpr (count == 1) {
        const double* __restrict cost = costs[0] + step.entry + rest;
        for (std::size_t i = 0; i < stride; ++i) {
          upper[i] = std::min(upper[i], lower[i] + cost[i]);
        }
      } else {
        const double* __restrict one = costs[0] + step.entry + rest;
        const double* __restrict two = costs[1] + step.entry + rest;
        for (std::size_t i = 0; i < stride; ++i) {
          upper[i] = std::min(upper[i], lower[i] + one[i] + two[i]);
        }
      }
    }
  }
}

MAPSIM_ANY_VECTORS
void relax_free(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                std::span<const LoopTo> steps) {
  relax_steps<0>(row, size, stride, positions, steps, nullptr);
}

MAPSIM_ANY_VECTORS
void relax_by_one(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                  std::span<const LoopTo> steps, const double* const* costs) {
  relax_steps<1>(row, size, stride, positions, steps, costs);
}

MAPSIM_ANY_VECTORS
void relax_by_two(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                  std::span<const LoopTo> steps, const double* const* costs) {
  relax_steps<2>(row, size, stride, positions, steps, costs);
}

// Three costs and more.
MAPSIM_ANY_VECTORS
void relax_by_many(double* row, std::size_t size, std::size_t stride, std::size_t positions,
                   std::span<const LoopTo> steps, std::span<const double* const> costs) {
  std::array<double, kPiece> sum;
  std::size_t rest = 0;
  for (double* base = row; base < row + size; base += stride * positions, rest += stride) {
    for (const LoopTo& step : steps) {
      for (std::size_t first = 0; first < stride; first += kPiece) {
        const std::size_t piece = std::min(kPiece, stride - first);
        double* __restrict upper = base + step.from * stride + first;
        const double* __restrict lower = step.below + (base - row) + step.to * stride + first;
        for (std::size_t i = 0; i < piece; ++i) {
          sum[i] = lower[i] + costs[0][step.entry + rest + first + i];
        }
        for (std::size_t c = 1; c < costs.size(); ++c) {
          const double* __restrict cost = costs[c] + step.entry + rest + first;
          for (std::size_t i = 0; i < piece; ++i) {
            sum[i] += cost[i];
          }
        }
        for (std::size_t i = 0; i < piece; ++i) {
          upper[i] = std::min(upper[i], sum[i]);
        }
      }
    }
  }
}

// The tile at one end of a loop takes the minimum of both, from the innermost loop outwards (kFrom)
// or the other way. Inlined once for each end, with and without vectors.
template <LoopEnd end>
[[gnu::always_inline]] inline void take_loops(const TileIndex& tiles, DimId dim, std::size_t stride,
                                              double* row) {
  const std::vector<TileIndex::Loop>& loops = tiles.steps(dim);
  const std::size_t block = stride * tiles.radix(dim);
  for (double* base = row; base < row + tiles.size(); base += block) {
    for (std::size_t r = 0; r < loops.size(); ++r) {
      const TileIndex::Loop& loop = loops[end == LoopEnd::kFrom ? r : loops.size() - 1 - r];
      double* __restrict taker = base + (end == LoopEnd::kFrom ? loop.from : loop.to) * stride;
      const double* __restrict giver =
          base + (end == LoopEnd::kFrom ? loop.to : loop.from) * stride;
      for (std::size_t i = 0; i < stride; ++i) {
        taker[i] = std::min(taker[i], giver[i]);
      }
    }
  }
}

// One function for all loops: those of the dims that vary fastest are short.
MAPSIM_ANY_VECTORS
void relax_runs(const TileIndex& tiles, DimId dim, double* row) {
  take_loops<LoopEnd::kFrom>(tiles, dim, tiles.stride(dim), row);
}

MAPSIM_ANY_VECTORS
void spread_runs(const TileIndex& tiles, DimId dim, double* row) {
  take_loops<LoopEnd::kTo>(tiles, dim, tiles.stride(dim), row);
}

// The tiles of a loop; `digit` is the digit of one of its ends.
struct Shape {
  std::size_t size = 0;
  std::size_t stride = 0;
  std::size_t block = 0;
};

MAPSIM_ANY_VECTORS
void extend_run(const Shape& shape, const double* row, const double* in, const double* cost,
                double* out) {
  for (std::size_t base = 0; base < shape.size; base += shape.block) {
    const double* __restrict at = row + base;
    for (std::size_t i = 0; i < shape.stride; ++i) {
      out[i] = std::min(out[i], cost[i] + std::min(at[i], in[i]));
    }
    in += shape.stride;
    cost += shape.stride;
    out += shape.stride;
  }
}

MAPSIM_ANY_VECTORS
void start_run(const Shape& shape, const double* row, const double* in, const double* cost,
               double* __restrict out) {
  for (std::size_t base = 0; base < shape.size; base += shape.block) {
    const double* __restrict at = row + base;
    for (std::size_t i = 0; i < shape.stride; ++i) {
      out[i] = cost[i] + std::min(at[i], in[i]);
    }
    in += shape.stride;
    cost += shape.stride;
    out += shape.stride;
  }
}

MAPSIM_ANY_VECTORS
void end_loop(const Shape& shape, const double* loop, double* row) {
  for (std::size_t base = 0; base < shape.size; base += shape.block, loop += shape.stride) {
    double* __restrict at = row + base;
    for (std::size_t i = 0; i < shape.stride; ++i) {
      at[i] = std::min(at[i], loop[i]);
    }
  }
}

Shape shape_of(const DivisorLattice& lattice, DimId dim) {
  const std::size_t stride = lattice.stride(dim);
  return {lattice.size(), stride, stride * lattice.positions(dim).size()};
}

}  // namespace

MAPSIM_ANY_VECTORS
void take_least_sum(double* upper, const double* lower, const double* cost, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    upper[i] = std::min(upper[i], cost[i] + lower[i]);
  }
}

MAPSIM_ANY_VECTORS
void multiply_fitting(double* out, const double* factors, double each, const double* bits,
                      double most, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const double product = factors[i] * each;
    out[i] = bits[i] <= most ? product : kInfinity;
  }
}

// least_of() adds a row to itself: twice a number, and half of that, are exact.
double least_sum(const double* a, const double* b, std::size_t size) {
  std::array<double, 64> least{};
  least.fill(kInfinity);
  for (std::size_t i = 0; i < size; i += least.size()) {
    take_least_sum(least.data(), a + i, b + i, std::min(least.size(), size - i));
  }
  return *std::min_element(least.begin(), least.end());
}

double least_of(const double* row, std::size_t size) { return least_sum(row, row, size) / 2; }

void relax(const DivisorLattice& lattice, DimId dim, std::span<const LoopTo> steps,
           std::span<const double* const> costs, double* row) {
  const std::size_t stride = lattice.stride(dim);
  const std::size_t positions = lattice.positions(dim).size();
  switch (costs.size()) {
    case 0:
      return relax_free(row, lattice.size(), stride, positions, steps);
    case 1:
      return relax_by_one(row, lattice.size(), stride, positions, steps, costs.data());
    case 2:
      return relax_by_two(row, lattice.size(), stride, positions, steps, costs.data());
    default:
      return relax_by_many(row, lattice.size(), stride, positions, steps, costs);
  }
}

void relax_neutral(const TileIndex& tiles, DimId dim, double* row) {
  tiles.check();
  if (tiles.stride(dim) > 1) {
    relax_runs(tiles, dim, row);
  } else {
    take_loops<LoopEnd::kFrom>(tiles, dim, 1, row);
  }
}

void spread_neutral(const TileIndex& tiles, DimId dim, double* row) {
  tiles.check();
  if (tiles.stride(dim) > 1) {
    spread_runs(tiles, dim, row);
  } else {
    take_loops<LoopEnd::kTo>(tiles, dim, 1, row);
  }
}

void extend_loops(const DivisorLattice& lattice, DimId dim, LoopEnd end, const double* row,
                  const double* in, const double* cost, double* out, bool known) {
  const Shape shape = shape_of(lattice, dim);
  const std::size_t rests = shape.size / lattice.positions(dim).size();
  std::size_t entry = 0;
  for (const DivisorLattice::Loop& loop : lattice.loops(dim)) {
    const std::size_t digit = end == LoopEnd::kFrom ? loop.from : loop.to;
    (known ? extend_run : start_run)(shape, row + digit * shape.stride, in + entry, cost + entry,
                                     out + entry);
    entry += rests;
  }
}

void end_loops(const DivisorLattice& lattice, DimId dim, LoopEnd end, const double* loops,
               double* row) {
  const Shape shape = shape_of(lattice, dim);
  const std::size_t rests = shape.size / lattice.positions(dim).size();
  for (const DivisorLattice::Loop& loop : lattice.loops(dim)) {
    const std::size_t digit = end == LoopEnd::kFrom ? loop.from : loop.to;
    end_loop(shape, loops, row + digit * shape.stride);
    loops += rests;
  }
}

}  // namespace mapsim::exact
