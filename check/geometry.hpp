// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/spatial.hpp"

namespace mapsim::check {

// Every tile of temporal extents: a vector of divisors of the bounds, numbered so that a larger
// tile has a larger number. Number 0 is the tile of ones.
class Tiles {
 public:
  explicit Tiles(const PerDim<std::int64_t>& bounds);
  std::size_t size() const { return size_; }
  std::size_t dims() const { return divisors_.size(); }
  const std::vector<std::int64_t>& divisors(DimId d) const { return divisors_[d]; }
  std::size_t stride(DimId d) const { return strides_[d]; }
  std::size_t digit(DimId d, std::size_t tile) const {
    return tile / strides_[d] % divisors_[d].size();
  }
  std::int64_t extent(DimId d, std::size_t tile) const { return divisors_[d][digit(d, tile)]; }
  std::int64_t bound(DimId d) const { return divisors_[d].back(); }

  // Tiles that differ in other dims only, counted: 0 .. size / divisors - 1.
  std::size_t rest(DimId d, std::size_t tile) const {
    const std::size_t block = strides_[d] * divisors_[d].size();
    return tile / block * strides_[d] + tile % strides_[d];
  }
  std::size_t from_rest(DimId d, std::size_t rest, std::size_t digit) const {
    const std::size_t block = strides_[d] * divisors_[d].size();
    return rest / strides_[d] * block + digit * strides_[d] + rest % strides_[d];
  }

  // A loop over one dim, by digits; the larger one first.
  struct Run {
    std::size_t from = 0;
    std::size_t to = 0;
    bool prime = false;  // the loop's bound
  };
  const std::vector<Run>& runs(DimId d) const { return runs_[d]; }  // from descending
  std::int64_t factor(DimId d, const Run& run) const {
    return divisors_[d][run.from] / divisors_[d][run.to];
  }

 private:
  PerDim<std::vector<std::int64_t>> divisors_;
  PerDim<std::size_t> strides_;
  PerDim<std::vector<Run>> runs_;
  std::size_t size_ = 1;
};

// A spatial unrolling, and at which temporal extents its fanouts are crossed where that matters:
// the instances of a fanout hold consecutive blocks, so a union of windows depends on the blocks'
// size.
struct Case {
  std::vector<FanoutId> used;                 // those with a factor > 1, outermost first
  std::vector<PerDim<std::int64_t>> factors;  // per used fanout
  std::vector<PerDim<std::int64_t>> blocks;   // per used fanout; 0: any
  PerDim<std::int64_t> bounds;                // temporal
  PerFanout<Rules::AxisFactors> axes;         // of every fanout, where hops cost something

  // Factors of the used fanouts from `first` on.
  std::int64_t split(std::size_t first, DimId d) const {
    std::int64_t product = 1;
    for (std::size_t f = first; f < used.size(); ++f) {
      product *= factors[f][d];
    }
    return product;
  }
};
std::vector<Case> list_cases(const Problem& problem, const Unrolling& unrolling);

// Part of a rank's tiles that instances share: a child below `above` used fanouts, of which those
// in `merged` (bits) share a transfer; `crossed` of them lie above the loop that ends in the tile.
struct Sharing {
  std::size_t crossed = 0;
  std::size_t above = 0;
  std::uint32_t merged = 0;
  bool together = true;  // a union that slides moves as one; else each instance's gain is counted
  friend auto operator<=>(const Sharing&, const Sharing&) = default;
};

// Coordinates of a sliding-window rank, counted as sets, as docs/model.md has its steps: all tiles
// are full, so each step is like any other up to a shift. Each table has an entry per tile of the
// rank's own dims; index_tiles() says which is whose.
std::vector<std::uint32_t> index_tiles(const Tiles& tiles, const Rank& rank);
// Distinct coordinates of the union tile of the instances that share it.
std::vector<double> united_points(const Case& at, const Tiles& tiles, const Rank& rank,
                                  const Sharing& sharing);
// ... and how many of them are new when the loop over the rank's i-th dim takes a step.
std::vector<double> gained_points(const Case& at, const Tiles& tiles, const Rank& rank,
                                  const Sharing& sharing, std::size_t term);
// Distinct coordinates that one instance below `above` used fanouts meets in the whole run, when
// the tile below it is as `crossed` says.
std::vector<double> met_points(const Case& at, const Tiles& tiles, const Rank& rank,
                               std::size_t crossed, std::size_t above);

// Distinct coordinates of a rank in a box of these extents.
std::int64_t count_coordinates(const Rank& rank, const PerDim<std::int64_t>& extents);

}  // namespace mapsim::check
