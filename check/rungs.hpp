// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "check/ladders.hpp"

namespace mapsim::check {

// The parallel loops of a used fanout, outermost first.
struct Spread {
  FanoutId fanout{};
  std::vector<std::pair<DimId, std::int64_t>> loops;  // instances
  std::int64_t factor(DimId d) const;
  std::int64_t block(DimId d, std::int64_t extent) const;  // whatever tiles may measure
};
std::vector<Spread> list_spreads(const Problem& problem, const Unrolling& unrolling);

// Tiles of an imperfect space: a bin of its ladder for each dim, behind all fanouts the same
// extents. Neighbouring extents may share a bin, so that there are few enough: what is a bound for
// the largest and fits for the smallest of them is one for all. A larger tile has a larger number;
// number 0 is the tile of ones.
class ExtentBins {
 public:
  // `most`: tiles, about.
  ExtentBins(const ExtentDomains& ladders, std::vector<Spread> spreads, std::size_t most);

  std::size_t size() const { return size_; }
  std::size_t dims() const { return ladders_.size(); }
  bool is_exact() const { return exact_; }
  std::size_t count(DimId d) const { return low_[d].size(); }
  std::size_t stride(DimId d) const { return strides_[d]; }
  std::size_t digit(DimId d, std::size_t tile) const { return tile / strides_[d] % count(d); }
  std::int64_t low(DimId d, std::size_t bin) const { return low_[d][bin]; }
  std::int64_t high(DimId d, std::size_t bin) const { return high_[d][bin]; }
  std::int64_t bound(DimId d) const { return high_[d].back(); }
  std::size_t rung_of(DimId d, std::int64_t extent) const;
  const ExtentDomains& ladders() const { return ladders_; }
  const std::vector<Spread>& spreads() const { return spreads_; }
  // ExtentBins that the parallel loops of a used fanout may lead to.
  const std::vector<std::size_t>& behind(std::size_t fanout, DimId d, std::size_t bin) const {
    return behind_[fanout][d][bin];
  }

  // Calls visit(bin, first, last) for every run of neighbouring tiles that share a bin of d, from
  // the smallest on.
  template <class Visit>
  void sweep(DimId d, const Visit& visit) const {
    for (std::size_t first = 0; first < size_;) {
      for (std::size_t bin = 0; bin < count(d); ++bin, first += strides_[d]) {
        visit(bin, first, first + strides_[d]);
      }
    }
  }

 private:
  void join(double ratio);
  void list_behind();

  ExtentDomains ladders_;
  std::vector<Spread> spreads_;
  PerDim<std::vector<std::int64_t>> low_;
  PerDim<std::vector<std::int64_t>> high_;
  PerDim<std::size_t> strides_;
  std::size_t size_ = 1;
  bool exact_ = true;
  std::vector<PerDim<std::vector<std::vector<std::size_t>>>> behind_;
};

}  // namespace mapsim::check
