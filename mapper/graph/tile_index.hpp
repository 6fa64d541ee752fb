// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/index.hpp"
#include "mapper/deadline.hpp"

namespace mapsim::exact {

// The numbering of tiles: mixed radix with one digit per dim. A smaller digit is a smaller extent,
// so a loop leads to a smaller number. Two lattices use it. With perfect factors (DivisorLattice) a
// digit stands for a divisor of the bound and for the blocks at fanouts, and there is one lattice
// between any two fanouts. With imperfect factors (imperfect::ExtentLattice) a digit stands for an
// extent or a bin of neighbouring ones, and one lattice serves the whole nest.
class TileIndex {
 public:
  // A loop over one dim, from a digit to a smaller one.
  struct Loop {
    std::size_t from = 0;
    std::size_t to = 0;
  };

  std::size_t size() const { return size_; }
  std::size_t dims() const { return radices_.size(); }
  IdRange<DimId> ids() const { return radices_.ids(); }  // of the dims
  std::size_t radix(DimId d) const { return radices_[d]; }
  std::size_t stride(DimId d) const { return strides_[d]; }
  std::size_t digit(DimId d, std::size_t tile) const { return tile / strides_[d] % radices_[d]; }
  // The shortest loops: no other digit lies on the way. Ascending in `from`.
  const std::vector<Loop>& steps(DimId d) const { return steps_[d]; }
  // Calls visit(digit, first, last) for each run [first, last) of consecutive tiles that share a
  // digit of d. This visits all tiles without a division.
  template <class Visit>
  void sweep(DimId d, const Visit& visit) const {
    const bool has_long_runs = strides_[d] >= kTilesToCheck;
    std::size_t checked = 0;
    for (std::size_t first = 0; first < size_;) {
      for (std::size_t digit = 0; digit < radices_[d]; ++digit, first += strides_[d]) {
        if (has_long_runs) {
          check();
        }
        visit(digit, first, first + strides_[d]);
      }
      if (first - checked >= kTilesToCheck) {
        check();
        checked = first;
      }
    }
  }
  // Work on so many tiles takes tens of milliseconds at most. Sweeps over more throw OutOfBudget
  // once the time of the deadline is over, which outlives the tiles.
  static constexpr std::size_t kTilesToCheck = std::size_t{1} << 18U;
  void watch(const Deadline* deadline) { deadline_ = deadline; }
  const Deadline* deadline() const { return deadline_; }
  void check() const {
    if (deadline_ != nullptr && size_ >= kTilesToCheck) {
      deadline_->check();
    }
  }
  // Calls visit(first, last) for pieces [first, last) of the tiles.
  template <class Visit>
  void in_pieces(const Visit& visit) const {
    for (std::size_t first = 0; first < size_; first += kTilesToCheck) {
      check();
      visit(first, std::min(size_, first + kTilesToCheck));
    }
  }
  // A table with one entry for each tile.
  template <class T>
  std::vector<T> filled(const T& value) const {
    std::vector<T> table;
    fill_in_pieces(table, size_, value, [this] { check(); });
    return table;
  }
  // The digit of d of every tile.
  std::vector<std::uint16_t> digits_of_tiles(DimId d) const;

 protected:
  // `windows`: dims along which tiles slide. Strides ascend in this order: first the other dims,
  // the one with the most digits innermost, so that sweeps over the rest run along contiguous rows;
  // then the windows, the one with the most digits outermost, because loops of sliding windows are
  // the most numerous and so get the longest rows.
  explicit TileIndex(std::size_t dims) : radices_(dims), strides_(dims), steps_(dims) {}
  void set_radices(const PerDim<std::size_t>& radices, DimSet windows);

  PerDim<std::size_t> radices_;
  PerDim<std::size_t> strides_;
  PerDim<std::vector<Loop>> steps_;
  std::size_t size_ = 1;

 private:
  const Deadline* deadline_ = nullptr;
};

}  // namespace mapsim::exact
