// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/index.hpp"

namespace mapsim::exact {

// A tile as an index: mixed radix over one digit per dim, where smaller digits have smaller
// extents, so that a loop leads to a smaller index. What a digit stands for differs, and with it
// where loops lead. Perfect factors: a divisor of the bound and the blocks that fanouts got,
// another lattice between any two fanouts (Lattice). Imperfect ones: any extent of the domain, or a
// bin of neighbouring ones, one lattice for the whole nest (imperfect::Tiles).
class TileIndex {
 public:
  // A loop over one dim, from a digit to a smaller one.
  struct Run {
    std::size_t from = 0;
    std::size_t to = 0;
  };

  std::size_t size() const { return size_; }
  std::size_t dims() const { return radices_.size(); }
  std::size_t radix(DimId d) const { return radices_[d]; }
  std::size_t stride(DimId d) const { return strides_[d]; }
  std::size_t digit(DimId d, std::size_t tile) const { return tile / strides_[d] % radices_[d]; }
  // Runs to the next digits, with none between. From ascending.
  const std::vector<Run>& steps(DimId d) const { return steps_[d]; }
  // Calls visit(digit, first, last) for the runs of neighbouring tiles that share a digit of d: a
  // sweep over all tiles without a division.
  template <class Visit>
  void sweep(DimId d, const Visit& visit) const {
    for (std::size_t first = 0; first < size_;) {
      for (std::size_t digit = 0; digit < radices_[d]; ++digit, first += strides_[d]) {
        visit(digit, first, first + strides_[d]);
      }
    }
  }
  // The digit of d of every tile.
  std::vector<std::uint16_t> digits_of_tiles(DimId d) const;

 protected:
  // `windows`: dims that tiles slide along. The others come first, the dim with the most digits
  // before all, so that sweeps over the rest have rows to run along; then the windows, the one with
  // the most digits last of all: runs of sliding windows are the most, and have the longest rows.
  explicit TileIndex(std::size_t dims) : radices_(dims), strides_(dims), steps_(dims) {}
  void set_radices(const PerDim<std::size_t>& radices, DimSet windows);

  PerDim<std::size_t> radices_;
  PerDim<std::size_t> strides_;
  PerDim<std::vector<Run>> steps_;
  std::size_t size_ = 1;
};

}  // namespace mapsim::exact
