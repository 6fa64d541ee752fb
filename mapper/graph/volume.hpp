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
#include "mapper/graph/lattice.hpp"
#include "mapper/mapspace/branch_entry.hpp"
#include "mapper/mapspace/unrolling.hpp"

namespace mapsim::exact {

// A spatial unrolling over the fanouts that it uses (those with a factor > 1), and the lattices of
// tiles before the first, between them, and after the last.
struct Unrolled {
  std::vector<FanoutId> used;                 // outermost first
  std::vector<PerDim<std::int64_t>> factors;  // per used fanout
  // Does the block of a dim at a used fanout matter to any count? Only such blocks are tracked.
  std::vector<PerDim<bool>> tracks;
  DimSet windows;                                   // dims along which any tensor slides
  std::vector<Lattice> lattices;                    // used.size() + 1
  std::vector<std::vector<std::size_t>> crossings;  // [used fanout][tile above] = tile below

  Unrolling unrolling;  // which axis takes which factor
  BranchEntry entry;    // a dim whose size differs between entries has no factor

  // With at most `most_tiles` tiles in a lattice, as far as extents can be left out for that: the
  // nests of fewer extents are a part of those of all.
  Unrolled(const Problem& problem, const UnrollingClass& unrolling_class,
           const BranchEntry& entry = {},
           std::size_t most_tiles = std::numeric_limits<std::size_t>::max());
  std::int64_t bound(DimId d) const { return lattices.front().bound(d); }  // temporal
  // Tiles of that extent along a dim in the mean entry.
  double tiles_along(DimId d, std::int64_t extent) const {
    return extent == bound(d) ? 1.0 : entry.mean_size(d, bound(d)) / static_cast<double>(extent);
  }
};

// Over which dim, and from which digit on, the tile slides: the loop just above runs from there.
struct Slide {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t dim = kNone;
  std::size_t from = 0;
  bool none() const { return dim == kNone; }
};

// How the used fanouts above a child take part in a transfer, and how many of them lie above the
// temporal loops that end in the child's tile.
struct Sharing {
  std::vector<LoopUse> uses;  // one per used fanout above the child
  std::size_t crossed = 0;
  bool together = true;
  LoopUse temporal = LoopUse::kSum;  // kMerge: distinct elements of the whole run
  friend auto operator<=>(const Sharing&, const Sharing&) = default;
};

// Factor of a volume that a sliding-window rank contributes, as a table over the rank's own tiles.
// Entries are computed on first use by the closed form of costmodel/crossing.hpp on that rank
// alone. Threads may share it.
class WindowTable {
 public:
  WindowTable(const Unrolled& unrolled, const Rank& rank, Sharing sharing,
              const std::vector<std::uint32_t>& tile_of_rank);
  double at(std::size_t tile, Slide slide) {
    std::size_t run = 0;
    if (!slide.none()) {
      run = first_run_[slide.dim] == 0 ? 0 : first_run_[slide.dim] + slide.from;
    }
    // Threads that meet here compute the same number.
    const std::atomic_ref<double> entry(entries_[run * tiles_ + tile_of_rank_[tile]]);
    double factor = entry.load(std::memory_order_relaxed);
    if (factor < 0) {
      factor = compute(tile, slide);
      entry.store(factor, std::memory_order_relaxed);
    }
    return factor;
  }

 private:
  double compute(std::size_t tile, Slide slide);
  double count(std::size_t tile, Slide slide) const;

  const Unrolled& unrolled_;
  const Lattice& lattice_;
  const Rank& rank_;
  Workload alone_;  // the rank as a one-rank tensor over its own dims
  Tensor alone_tensor_;
  Sharing sharing_;
  const std::vector<std::uint32_t>& tile_of_rank_;
  std::vector<double> entries_;         // negative = not yet computed
  std::size_t tiles_ = 1;               // of the rank
  std::vector<std::size_t> first_run_;  // per dim; 0 = not in the rank
};

// V of one tensor over a lattice: constant * prod_{d not in t} E_d/T_d * window tables.
class Volume {
 public:
  double at(double irrelevant_trips, std::size_t tile, Slide slide) const {
    double volume = constant_ * irrelevant_trips;
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

// Makes volumes and owns the tables behind them.
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

// Index of each tile of the lattice among those of a rank's own dims.
std::vector<std::uint32_t> index_rank(const Lattice& lattice, const Rank& rank);

// Dims of a rank with more than one index: others add nothing to a coordinate.
std::vector<DimId> moving_dims(const Workload& workload, const Rank& rank);

// Is dim d of `tensor` one of several in a rank, of those that have more than one index: does its
// tile slide along d?
bool slides_along(const Workload& workload, const Tensor& tensor, DimId d);

}  // namespace mapsim::exact
