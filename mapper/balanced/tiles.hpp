// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/mapspace.hpp"

namespace mapsim::balanced {

// The tiles of one spatial unrolling: every vector of rungs, one lattice for all phases. A tile is
// an index, mixed radix over the rungs; one that a loop leads to has a smaller index. Extents are
// those of the nest itself, factors of fanouts below included. In a coarse lattice neighbouring
// extents share a rung, known by the largest of them; 1 has its own.
class Tiles {
 public:
  static constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  // `most`: about as many tiles as a coarse lattice may have.
  Tiles(const Mapspace& space, const UnrollingGroup& group, std::vector<FanoutId> used,
        std::size_t most = kAll);

  std::size_t size() const { return size_; }
  std::size_t dims() const { return ladders_.size(); }
  const Ladder& ladder(DimId d) const { return ladders_[d]; }
  std::size_t stride(DimId d) const { return strides_[d]; }
  std::size_t digit(DimId d, std::size_t tile) const {
    return tile / strides_[d] % ladders_[d].size();
  }
  std::int64_t extent(DimId d, std::size_t tile) const { return ladders_[d][digit(d, tile)]; }
  std::int64_t bound(DimId d) const { return ladders_[d].back(); }

  // The fanouts with a factor > 1, outermost first, and their parallel loops in order.
  const std::vector<FanoutId>& used() const { return used_; }
  const Unrolling& unrolls(std::size_t fanout) const { return unrolls_[fanout]; }
  std::int64_t factor(std::size_t fanout, DimId d) const { return factors_[fanout][d]; }
  bool is_coarse() const { return coarse_; }
  // Of a rung, ascending.
  const std::vector<std::int64_t>& extents(DimId d, std::size_t rung) const {
    return rungs_[d][rung];
  }
  // Does a rung stand for several extents?
  bool is_shared(DimId d, std::size_t rung) const { return rungs_[d][rung].size() > 1; }
  // The rungs behind the parallel loops of a used fanout, from the smallest to the largest, which
  // are one unless the lattice is coarse; kNone: cannot cross there.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Behind {
    std::size_t first = kNone;
    std::size_t last = kNone;
  };
  const Behind& behind(std::size_t fanout, DimId d, std::size_t rung) const {
    return behind_[fanout][d][rung];
  }
  // The tile behind a fanout; of a lattice that is not coarse.
  std::size_t cross(std::size_t fanout, std::size_t tile) const;
  // The smallest extent of the rung behind the used fanouts from `first` up to `end`, of those that
  // `allowed` contains; 0: none can cross them and is.
  std::int64_t least_behind(DimId d, std::size_t rung, std::size_t first, std::size_t end,
                            const Allowed& allowed) const;

  // Calls visit(rung, first, last) for the runs of neighbouring tiles that share a rung of d.
  template <class Visit>
  void sweep(DimId d, const Visit& visit) const {
    const std::size_t rungs = ladders_[d].size();
    for (std::size_t first = 0; first < size_;) {
      for (std::size_t rung = 0; rung < rungs; ++rung, first += strides_[d]) {
        visit(rung, first, first + strides_[d]);
      }
    }
  }

 private:
  void coarsen(std::size_t most);
  std::optional<std::int64_t> block_behind(std::size_t fanout, DimId d, std::int64_t extent) const;

  PerDim<Ladder> extents_;                                // all of them
  PerDim<Ladder> ladders_;                                // the largest of each rung
  PerDim<std::vector<std::vector<std::int64_t>>> rungs_;  // the extents of each, ascending
  bool coarse_ = false;
  PerDim<std::size_t> strides_;
  std::size_t size_ = 1;
  std::vector<FanoutId> used_;
  std::vector<Unrolling> unrolls_;
  std::vector<PerDim<std::int64_t>> factors_;
  std::vector<PerDim<std::vector<Behind>>> behind_;
};

}  // namespace mapsim::balanced
