// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "core/index.hpp"

namespace mapsim::exact {

// The lattice of tile vectors: every vector of divisors of the temporal bounds E. A tile is an index,
// mixed radix over the divisors in ascending order, so that index 0 is the all-ones tile, the last is
// E itself, and a tile that divides another has the smaller index.
class Lattice {
 public:
  explicit Lattice(const PerDim<std::int64_t>& bounds);

  std::size_t size() const { return size_; }
  std::size_t dims() const { return divisors_.size(); }
  const std::vector<std::int64_t>& divisors(DimId d) const { return divisors_[d]; }
  std::int64_t bound(DimId d) const { return divisors_[d].back(); }
  std::size_t stride(DimId d) const { return strides_[d]; }
  std::size_t digit(DimId d, std::size_t tile) const {
    return tile / strides_[d] % divisors_[d].size();
  }
  std::int64_t extent(DimId d, std::size_t tile) const { return divisors_[d][digit(d, tile)]; }
  PerDim<std::int64_t> extents(std::size_t tile) const;
  // Digits that digit i reaches by taking one prime factor away.
  const std::vector<std::size_t>& cover(DimId d, std::size_t i) const { return covers_[d][i]; }
  // Digits of the proper divisors of divisor i.
  const std::vector<std::size_t>& below(DimId d, std::size_t i) const { return belows_[d][i]; }

 private:
  PerDim<std::vector<std::int64_t>> divisors_;
  PerDim<std::size_t> strides_;
  PerDim<std::vector<std::vector<std::size_t>>> covers_;
  PerDim<std::vector<std::vector<std::size_t>>> belows_;
  std::size_t size_ = 1;
};

}  // namespace mapsim::exact
