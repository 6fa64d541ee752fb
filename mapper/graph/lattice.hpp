// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "core/index.hpp"

namespace mapsim::exact {

// All divisors, ascending.
std::vector<std::int64_t> divisors_of(std::int64_t n);

// Where a dim stands on its way from its temporal bound down to 1: the extent now, and the extents
// at which tracked fanouts were crossed (their blocks), outermost first.
struct Position {
  std::vector<std::int64_t> blocks;  // one per crossed fanout that the dim tracks
  std::int64_t extent = 1;
};

// The lattice of tiles between two fanouts: every vector of positions. A tile is an index, mixed
// radix over the positions, the dim with the most of them first, and windows last, with the most of
// them last of all; one that a loop leads to has a smaller index than where the loop starts.
class Lattice {
 public:
  // `tracked[d]`: how many crossed fanouts' blocks dim d remembers. `windows`: dims that tiles
  // slide along. `domains`: the extents that a dim may have, divisors of its bound, ascending, with
  // 1 and the bound.
  Lattice(const PerDim<std::int64_t>& bounds, const PerDim<std::size_t>& tracked, DimSet windows,
          const PerDim<std::vector<std::int64_t>>& domains);

  std::size_t size() const { return size_; }
  std::size_t dims() const { return positions_.size(); }
  const std::vector<Position>& positions(DimId d) const { return positions_[d]; }
  std::int64_t bound(DimId d) const { return bounds_[d]; }
  std::size_t stride(DimId d) const { return strides_[d]; }
  std::size_t digit(DimId d, std::size_t tile) const {
    return tile / strides_[d] % positions_[d].size();
  }
  std::int64_t extent(DimId d, std::size_t tile) const {
    return positions_[d][digit(d, tile)].extent;
  }
  // Calls visit(digit, first, last) for the runs of neighbouring tiles that share a digit of d: a
  // sweep over all tiles without a division.
  template <class Visit>
  void sweep(DimId d, const Visit& visit) const {
    const std::size_t digits = positions_[d].size();
    for (std::size_t first = 0; first < size_;) {
      for (std::size_t digit = 0; digit < digits; ++digit, first += strides_[d]) {
        visit(digit, first, first + strides_[d]);
      }
    }
  }

  // A loop over one dim: between the same blocks, from an extent to one that divides it.
  struct Run {
    std::size_t from = 0;  // digits
    std::size_t to = 0;
  };
  // Runs to the next extents, with none between: of all divisors, those that take one prime factor.
  // From ascending.
  const std::vector<Run>& primes(DimId d) const { return primes_[d]; }
  // All runs: from ascending, then to.
  const std::vector<Run>& runs(DimId d) const { return runs_[d]; }
  // Which of them begin at a digit: indices first to last - 1.
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  Range primes_from(DimId d, std::size_t digit) const { return prime_ranges_[d][digit]; }
  Range runs_from(DimId d, std::size_t digit) const { return run_ranges_[d][digit]; }
  // What a run's loop cuts a tile into.
  std::int64_t factor(DimId d, const Run& run) const {
    return positions_[d][run.from].extent / positions_[d][run.to].extent;
  }
  // Index of a tile among those that differ in other dims only: 0 .. size / positions - 1.
  std::size_t rest(DimId d, std::size_t tile) const {
    const std::size_t block = strides_[d] * positions_[d].size();
    return tile / block * strides_[d] + tile % strides_[d];
  }
  std::size_t from_rest(DimId d, std::size_t rest, std::size_t digit) const {
    const std::size_t block = strides_[d] * positions_[d].size();
    return rest / strides_[d] * block + digit * strides_[d] + rest % strides_[d];
  }

  // The tile in `inner`, the lattice below a fanout, at which one crosses it here: dims that
  // `inner` tracks one block more of remember their extent.
  std::vector<std::size_t> crossing(const Lattice& inner) const;
  // Tiles with every extent 1.
  const std::vector<std::size_t>& ones() const { return ones_; }

 private:
  PerDim<std::int64_t> bounds_;
  PerDim<std::vector<Position>> positions_;
  PerDim<std::size_t> strides_;
  PerDim<std::vector<Run>> primes_;
  PerDim<std::vector<Run>> runs_;
  PerDim<std::vector<Range>> prime_ranges_;
  PerDim<std::vector<Range>> run_ranges_;
  std::vector<std::size_t> ones_;
  std::size_t size_ = 1;
};

}  // namespace mapsim::exact
