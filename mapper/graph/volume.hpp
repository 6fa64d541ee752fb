// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "costmodel/crossing.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/fusion/branch.hpp"
#include "mapper/graph/divisor_lattice.hpp"
#include "mapper/graph/sharing.hpp"
#include "mapper/mapspace/unrolling.hpp"

namespace mapsim::exact {

// A spatial unrolling over the fanouts that it uses (those with a factor > 1), and the lattices of
// tiles before the first used fanout, between any two, and behind the last.
struct Unrolled {
  std::vector<FanoutId> used;                 // outermost first
  std::vector<PerDim<std::int64_t>> factors;  // per used fanout
  // Does the block of a dim at a used fanout affect any count? Only such blocks are part of a tile.
  std::vector<PerDim<bool>> tracks;
  DimSet windows;                                   // dims along which any tensor slides
  std::vector<DivisorLattice> lattices;             // used.size() + 1
  std::vector<std::vector<std::size_t>> crossings;  // [used fanout][tile above] = tile below

  std::shared_ptr<HeldMemory> held;  // of the crossings and of other tables per tile

  Unrolling unrolling;  // which axis takes which factor
  BranchEntry entry;    // a dim whose size differs between entries is not unrolled

  // With at most `most_tiles` tiles per lattice: extents are left out until it fits, as far as
  // possible. The remaining nests are a subset of the space. Throws OutOfBudget at the deadline, if
  // one is given.
  Unrolled(const Problem& problem, const UnrollingClass& unrolling_class,
           const BranchEntry& entry = {},
           std::size_t most_tiles = std::numeric_limits<std::size_t>::max(),
           const Deadline* deadline = nullptr);
  std::int64_t bound(DimId d) const { return lattices.front().bound(d); }  // temporal
  // The number of tiles of this extent along a dim, in the mean entry.
  double tiles_along(DimId d, std::int64_t extent) const {
    return extent == bound(d) ? 1.0 : entry.mean_size(d, bound(d)) / static_cast<double>(extent);
  }
};

// The loop just above a tile that slides: its dim, and the digit from which it runs.
struct SlidingLoop {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t dim = kNone;
  std::size_t from = 0;
  bool none() const { return dim == kNone; }
};

// The factor that a sliding-window rank contributes to a volume: a table over the tiles of the
// rank's own dims. Entries are computed on first use, by the closed form of costmodel/crossing.hpp
// for a tensor of that rank alone. Threads may share a table.
class WindowTable {
 public:
  WindowTable(const Unrolled& unrolled, const Rank& rank, Sharing sharing,
              const std::vector<std::uint32_t>& tile_of_rank);
  double at(std::size_t tile, SlidingLoop slide) {
    std::size_t loop = 0;
    if (!slide.none()) {
      loop = first_loop_[slide.dim] == 0 ? 0 : first_loop_[slide.dim] + slide.from;
    }
    // Two threads that compute one entry get the same number.
    const std::atomic_ref<double> entry(entries_[loop * tiles_ + tile_of_rank_[tile]]);
    double factor = entry.load(std::memory_order_relaxed);
    if (factor < 0) {
      factor = compute(tile, slide);
      entry.store(factor, std::memory_order_relaxed);
    }
    return factor;
  }

 private:
  double compute(std::size_t tile, SlidingLoop slide);
  double count(std::size_t tile, SlidingLoop slide) const;

  const Unrolled& unrolled_;
  const DivisorLattice& lattice_;
  const Rank& rank_;
  Workload alone_;  // the rank as a one-rank tensor over its own dims
  Tensor alone_tensor_;
  Sharing sharing_;
  const std::vector<std::uint32_t>& tile_of_rank_;
  std::vector<double> entries_;          // negative: not computed yet
  std::size_t tiles_ = 1;                // of the rank's own dims
  std::vector<std::size_t> first_loop_;  // per dim; 0: the dim is not in the rank
};

// V of docs/model.md, the elements of a tensor that cross a boundary, as a function of the tile:
// constant * prod over dims d not in t of E_d/T_d * the tables of the sliding-window ranks.
class Volume {
 public:
  double at(double irrelevant_visits, std::size_t tile, SlidingLoop slide) const {
    double volume = constant_ * irrelevant_visits;
    for (WindowTable* table : windows_) {
      volume *= table->at(tile, slide);
    }
    return volume;
  }

 private:
  friend class VolumeFactory;
  double constant_ = 0;
  std::vector<WindowTable*> windows_;
};

// Makes volumes, and owns the tables that they use.
class VolumeFactory {
 public:
  VolumeFactory(const Problem& problem, const Unrolled& unrolled)
      : problem_{problem}, unrolled_{unrolled} {}
  Volume make(TensorId tensor, const Sharing& sharing);

 private:
  const std::vector<std::uint32_t>& tiles_of_rank(TensorId tensor, std::size_t rank,
                                                  std::size_t crossed);

  const Problem& problem_;
  const Unrolled& unrolled_;
  std::map<std::tuple<std::size_t, std::size_t, Sharing>, std::unique_ptr<WindowTable>> tables_;
  std::map<std::tuple<std::size_t, std::size_t, std::size_t>,
           std::unique_ptr<std::vector<std::uint32_t>>>
      tiles_of_rank_;
};

// For each tile of the lattice its number among the tiles of the rank's own dims.
std::vector<std::uint32_t> index_rank(const DivisorLattice& lattice, const Rank& rank);

// The dims of a rank with a bound above 1. The others add nothing to a coordinate.
std::vector<DimId> moving_dims(const Workload& workload, const Rank& rank);

// Does a tile of the tensor slide along d? It does if d shares a rank with another dim, both with
// bounds above 1.
bool slides_along(const Workload& workload, const Tensor& tensor, DimId d);

}  // namespace mapsim::exact
