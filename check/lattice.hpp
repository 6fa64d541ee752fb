// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "check/entry.hpp"
#include "check/extent_domains.hpp"

namespace mapsim::check {

// The parallel loops of a used fanout, outermost first.
struct ParallelLoops {
  FanoutId fanout{};
  std::vector<std::pair<DimId, std::int64_t>> loops;  // instances
  std::int64_t factor(DimId d) const;
  std::int64_t block(DimId d, std::int64_t extent) const;  // whatever tiles may measure
};
std::vector<ParallelLoops> list_parallel_loops(const Problem& problem, const Unrolling& unrolling);

// The tiles of an unrolling: one bin of extents per dim. A larger tile has a larger number; number
// 0 is the tile of ones.
//
// Perfect factors: each bin is one divisor of the temporal bound, and a loop leads to a divisor of
// where it starts. Imperfect ones: extents count what is behind a fanout, too; a loop leads to any
// smaller extent. Neighbouring extents may share a bin, so that there are few enough: what costs as
// much as the largest of them and fits if the smallest does is a bound for all.
class Lattice {
 public:
  // Perfect factors. `blocks`: per used fanout, the extents at which it is crossed; 0: any. Dims
  // whose size differs between entries are not unrolled.
  Lattice(const PerDim<std::int64_t>& bounds, const std::vector<PerDim<std::int64_t>>& blocks,
          const NestEntry& entry = {});
  // Imperfect factors. `most`: tiles, about.
  Lattice(const ExtentDomains& domains, std::vector<ParallelLoops> fanouts, std::size_t most);

  std::size_t size() const { return size_; }
  std::size_t dims() const { return high_.size(); }
  bool is_perfect() const { return perfect_; }
  bool is_exact() const { return exact_; }  // no two extents share a bin
  std::size_t count(DimId d) const { return low_[d].size(); }
  std::size_t stride(DimId d) const { return strides_[d]; }
  std::size_t digit(DimId d, std::size_t tile) const { return tile / strides_[d] % count(d); }
  std::int64_t low(DimId d, std::size_t bin) const { return low_[d][bin]; }
  std::int64_t high(DimId d, std::size_t bin) const { return high_[d][bin]; }
  const std::vector<std::int64_t>& extents(DimId d) const { return high_[d]; }
  std::int64_t extent(DimId d, std::size_t tile) const { return high_[d][digit(d, tile)]; }
  std::int64_t bound(DimId d) const { return high_[d].back(); }
  // Perfect factors: tiles of that extent along the dim in the mean entry.
  double trips(DimId d, std::int64_t extent) const {
    return extent == bound(d) ? 1 : mean_[d] / static_cast<double>(extent);
  }
  double mean(DimId d) const { return mean_[d]; }  // the bound of the mean entry
  const std::vector<ParallelLoops>& fanouts() const { return fanouts_; }  // imperfect factors

  // Tiles that differ in other dims only, counted: 0 .. size / count - 1.
  std::size_t rests(DimId d) const { return size_ / count(d); }
  std::size_t rest(DimId d, std::size_t tile) const {
    return tile / (strides_[d] * count(d)) * strides_[d] + tile % strides_[d];
  }
  std::size_t from_rest(DimId d, std::size_t rest, std::size_t digit) const {
    return rest / strides_[d] * (strides_[d] * count(d)) + digit * strides_[d] + rest % strides_[d];
  }

  // A loop over one dim, by bins.
  struct Loop {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  // Loops of which all loops over the dim are made; ascending in `from`.
  const std::vector<Loop>& steps(DimId d) const { return steps_[d]; }
  // Loops that tell apart what a tile that slides right below one costs. Perfect factors: all
  // loops. Imperfect ones: the cost is bounded by where the loop starts, so that there is one per
  // start; further steps() lead on from it.
  const std::vector<Loop>& runs(DimId d) const { return runs_[d]; }
  // The run of a loop; kNone: there is no such loop. No two extents may share a bin.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t run_of(DimId d, std::size_t from, std::size_t to) const {
    return perfect_ ? run_of_[d][from * count(d) + to] : from - 1;
  }
  // What rules for loops see of a loop's factor.
  std::int64_t factor(DimId d, const Loop& loop) const;

  // Bins that a used fanout leaves of one; where changes() is false, the same bin.
  const std::vector<std::size_t>& behind(std::size_t fanout, DimId d, std::size_t bin) const {
    return behind_[fanout].bins[d][bin];
  }
  bool changes(std::size_t fanout, DimId d) const { return behind_[fanout].changed.contains(d); }
  std::size_t bin_of(DimId d, std::int64_t extent) const;

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
  struct Behind {
    PerDim<std::vector<std::vector<std::size_t>>> bins;
    DimSet changed;
  };
  void join(const ExtentDomains& domains, double ratio);
  void list_loops();
  void list_behind(const ExtentDomains& domains);

  std::vector<ParallelLoops> fanouts_;
  PerDim<std::vector<std::int64_t>> low_;
  PerDim<std::vector<std::int64_t>> high_;
  PerDim<double> mean_;
  PerDim<std::size_t> strides_;
  PerDim<std::vector<Loop>> steps_;
  PerDim<std::vector<Loop>> runs_;
  PerDim<std::vector<std::size_t>> run_of_;  // perfect factors
  std::vector<Behind> behind_;
  std::size_t size_ = 1;
  bool perfect_ = false;
  bool exact_ = true;
};

}  // namespace mapsim::check
