// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/tiles.hpp"

#include <utility>

namespace mapsim::balanced {

Tiles::Tiles(const Mapspace& space, const UnrollingGroup& group, std::vector<FanoutId> used)
    : ladders_{space.ladders()}, strides_(ladders_.size()), used_{std::move(used)} {
  for (const DimId d : ladders_.ids()) {
    strides_[d] = size_;
    size_ *= ladders_[d].size();
  }
  for (const FanoutId f : used_) {
    Unrolling& here = unrolls_.emplace_back();
    for (const Unroll& unroll : group.first) {
      if (unroll.fanout == f) {
        here.push_back(unroll);
      }
    }
    factors_.push_back(group.factors[f]);
    auto& behind = behind_.emplace_back(ladders_.size());
    for (const DimId d : ladders_.ids()) {
      for (const std::int64_t extent : ladders_[d]) {
        std::optional<std::int64_t> block = extent;
        for (const Unroll& unroll : here) {
          if (unroll.dim == d && block) {
            block = block_of(ladders_[d], *block, unroll.factor);
          }
        }
        behind[d].push_back(block ? rung_of(ladders_[d], *block) : kNone);
      }
    }
  }
}

std::size_t Tiles::cross(std::size_t fanout, std::size_t tile) const {
  std::size_t crossed = 0;
  for (const DimId d : ladders_.ids()) {
    const std::size_t rung = behind_[fanout][d][digit(d, tile)];
    if (rung == kNone) {
      return kNone;
    }
    crossed += rung * strides_[d];
  }
  return crossed;
}

}  // namespace mapsim::balanced
