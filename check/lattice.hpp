// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "check/extent_domains.hpp"
#include "check/spatial.hpp"
#include "costmodel/fusion/branch.hpp"

namespace mapsim::check {

// The parallel loops of a used fanout, outermost first.
struct ParallelLoops {
  FanoutId fanout{};
  std::vector<std::pair<DimId, std::int64_t>> loops;  // instances
  std::int64_t factor(DimId d) const;
  // Any extent, whether tiles may have it or not
  std::int64_t block(DimId d, std::int64_t extent) const;
};
std::vector<ParallelLoops> list_parallel_loops(const Problem& problem, const Unrolling& unrolling);

// The tiles of an unrolling: one bin of extents per dim. A larger tile has a larger number; number
// 0 has extent 1 in every dim.
//
// With perfect factors a bin is one divisor of the temporal bound, and a loop leads to a divisor of
// its start. With imperfect factors extents include what lies behind fanouts, and a loop leads to
// any smaller extent. Neighbouring extents may share a bin, to keep the lattice small. Such a bin
// costs as much as its largest extent and fits if its smallest one does, which bounds all of its
// extents.
class Lattice {
 public:
  // Perfect factors. `blocks`: per used fanout the extents at which it is crossed; 0: does not
  // matter. Dims whose size differs between entries are not unrolled.
  Lattice(const PerDim<std::int64_t>& bounds, const std::vector<PerDim<std::int64_t>>& blocks,
          const BranchEntry& entry = {});
  // Imperfect factors. `most`: about as many tiles at most.
  Lattice(const ExtentDomains& domains, std::vector<ParallelLoops> fanouts, std::size_t most);

  std::size_t size() const { return size_; }
  std::size_t dims() const { return high_.size(); }
  IdRange<DimId> ids() const { return high_.ids(); }  // of the dims
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
  double visits(DimId d, std::int64_t extent) const {
    return extent == bound(d) ? 1 : mean_[d] / static_cast<double>(extent);
  }
  double mean(DimId d) const { return mean_[d]; }  // the bound of the mean entry
  const std::vector<ParallelLoops>& fanouts() const { return fanouts_; }  // imperfect factors only

  // Numbers the tiles that differ in other dims only: 0 .. size / count - 1.
  std::size_t rests(DimId d) const { return size_ / count(d); }
  std::size_t rest(DimId d, std::size_t tile) const {
    return tile / (strides_[d] * count(d)) * strides_[d] + tile % strides_[d];
  }
  std::size_t from_rest(DimId d, std::size_t rest, std::size_t digit) const {
    return rest / strides_[d] * (strides_[d] * count(d)) + digit * strides_[d] + rest % strides_[d];
  }

  // A loop over one dim, from bin to bin.
  struct Loop {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  // The shortest loops, of which all others consist; ascending in `from`.
  const std::vector<Loop>& steps(DimId d) const { return steps_[d]; }
  // The loops that have different costs for a tile that slides right below. With perfect factors
  // these are all loops. With imperfect factors the cost is bounded by the loop's start alone, so
  // there is one run per start, and steps() may follow it.
  const std::vector<Loop>& runs(DimId d) const { return runs_[d]; }
  // The run of a loop; kNone: there is no such loop. No two extents may share a bin.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t run_of(DimId d, std::size_t from, std::size_t to) const {
    return perfect_ ? run_of_[d][from * count(d) + to] : from - 1;
  }
  // The factor of a loop, as the rules for loops see it.
  std::int64_t factor(DimId d, const Loop& loop) const;

  // The bins to which a used fanout leads from a bin; only the same bin, unless changes().
  const std::vector<std::size_t>& behind(std::size_t fanout, DimId d, std::size_t bin) const {
    return behind_[fanout].bins[d][bin];
  }
  bool changes(std::size_t fanout, DimId d) const { return behind_[fanout].changed.contains(d); }
  std::size_t bin_of(DimId d, std::int64_t extent) const;

  // Calls visit(bin, first, last) for each run of consecutive tiles that share a bin of d, from the
  // smallest tile on.
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
