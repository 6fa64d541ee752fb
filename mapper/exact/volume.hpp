// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "costmodel/crossing.hpp"
#include "costmodel/evaluate.hpp"
#include "mapper/exact/lattice.hpp"
#include "mapper/unrolling.hpp"

namespace mapsim::exact {

// A spatial unrolling with the blocks of its window dims pinned down: what one lattice search holds
// fixed. Only fanouts with a factor > 1 are in `used`.
struct Unrolled {
  std::vector<FanoutId> used;                  // outermost first
  std::vector<PerDim<std::int64_t>> factors;   // per used fanout
  // Temporal extent at which a used fanout is crossed, for dims where it matters; 0 elsewhere.
  std::vector<PerDim<std::int64_t>> blocks;
};

// Over which dim, and from which extent on, the tile slides: the loop just above runs from there.
struct Slide {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t dim = kNone;    // index of the DimId
  std::size_t digit = 0;      // lattice digit of the extent at which the run starts
  bool none() const { return dim == kNone; }
};

// How the used fanouts above a child take part in a transfer, and how many of them lie above the
// temporal loops that end in the child's tile.
struct Sharing {
  std::vector<LoopUse> uses;  // one per used fanout above the child
  std::size_t crossed = 0;
  bool together = true;
  friend auto operator<=>(const Sharing&, const Sharing&) = default;
};

// Factor of a volume that a sliding-window rank contributes, as a table over the rank's own tiles.
// Entries are computed on first use by the closed form of costmodel/crossing.hpp on that rank alone.
class WindowTable {
 public:
  WindowTable(const Lattice& lattice, const Unrolled& unrolled, const Rank& rank, Sharing sharing);
  double at(std::size_t tile, Slide slide);

 private:
  double compute(std::size_t tile, Slide slide) const;
  std::size_t index(std::size_t tile, Slide slide) const;

  const Lattice& lattice_;
  const Unrolled& unrolled_;
  const Rank& rank_;
  Sharing sharing_;
  std::vector<double> entries_;  // NaN = not yet computed
  std::size_t tiles_ = 1;        // of the rank
};

// V of one tensor over the lattice: constant * prod_{d not in t} E_d/T_d * window tables.
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
  VolumeFactory(const Problem& problem, const Lattice& lattice, const Unrolled& unrolled)
      : problem_{problem}, lattice_{lattice}, unrolled_{unrolled} {}
  Volume make(TensorId tensor, const Sharing& sharing);
  // Distinct elements that the instances below the first `above` used fanouts meet in the whole run;
  // `use` sums them over instances or takes the first one.
  double distinct(TensorId tensor, std::size_t above, LoopUse use) const;

 private:
  const Problem& problem_;
  const Lattice& lattice_;
  const Unrolled& unrolled_;
  std::map<std::tuple<std::size_t, std::size_t, Sharing>, std::unique_ptr<WindowTable>> tables_;
};

}  // namespace mapsim::exact
