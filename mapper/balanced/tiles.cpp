// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/tiles.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::balanced {

Tiles::Tiles(const Mapspace& space, const UnrollingGroup& group, std::vector<FanoutId> used,
             std::size_t most)
    : extents_{space.ladders()},
      ladders_(extents_.size()),
      rungs_(extents_.size()),
      strides_(extents_.size()),
      used_{std::move(used)} {
  for (const DimId d : extents_.ids()) {
    for (const std::int64_t extent : extents_[d]) {
      rungs_[d].push_back({extent});
    }
  }
  coarsen(most);
  for (const DimId d : extents_.ids()) {
    for (const auto& rung : rungs_[d]) {
      ladders_[d].push_back(rung.back());
    }
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
    auto& behind = behind_.emplace_back();
    behind.resize(extents_.size());
    for (const DimId d : extents_.ids()) {
      for (const auto& rung : rungs_[d]) {
        Behind found;
        for (const std::int64_t extent : rung) {
          if (const auto block = block_behind(unrolls_.size() - 1, d, extent)) {
            const auto at = std::lower_bound(ladders_[d].begin(), ladders_[d].end(), *block);
            const auto index = static_cast<std::size_t>(at - ladders_[d].begin());
            found.first = found.first == kNone ? index : std::min(found.first, index);
            found.last = found.last == kNone ? index : std::max(found.last, index);
          }
        }
        behind[d].push_back(found);
      }
    }
  }
}

// Joins the neighbours whose extents are closest, wherever they are, until there are few enough.
void Tiles::coarsen(std::size_t most) {
  const auto size = [&] {
    double product = 1;
    for (const auto& rungs : rungs_) {
      product *= static_cast<double>(rungs.size());
    }
    return product;
  };
  while (size() > static_cast<double>(most)) {
    double closest = 0;
    DimId dim{};
    std::size_t first = 0;
    for (const DimId d : rungs_.ids()) {
      for (std::size_t r = 1; r + 1 < rungs_[d].size(); ++r) {
        const double ratio = static_cast<double>(rungs_[d][r + 1].back()) /
                             static_cast<double>(rungs_[d][r].front());
        if (closest == 0 || ratio < closest) {
          closest = ratio;
          dim = d;
          first = r;
        }
      }
    }
    if (closest == 0) {
      return;
    }
    auto& rungs = rungs_[dim];
    rungs[first].insert(rungs[first].end(), rungs[first + 1].begin(), rungs[first + 1].end());
    rungs.erase(rungs.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    coarse_ = true;
  }
}

std::optional<std::int64_t> Tiles::block_behind(std::size_t fanout, DimId d,
                                                std::int64_t extent) const {
  std::optional<std::int64_t> block = extent;
  for (const Unroll& unroll : unrolls_[fanout]) {
    if (unroll.dim == d && block) {
      block = block_of(extents_[d], *block, unroll.factor);
    }
  }
  return block;
}

std::int64_t Tiles::least_behind(DimId d, std::size_t rung, std::size_t first, std::size_t end,
                                 const Allowed& allowed) const {
  std::int64_t least = 0;
  for (const std::int64_t extent : rungs_[d][rung]) {
    std::optional<std::int64_t> block = extent;
    for (std::size_t f = first; f < end && block; ++f) {
      block = block_behind(f, d, *block);
    }
    const bool counts = block && allowed.contains(*block);
    least = counts && (least == 0 || *block < least) ? *block : least;
  }
  return least;
}

std::size_t Tiles::cross(std::size_t fanout, std::size_t tile) const {
  std::size_t crossed = 0;
  for (const DimId d : ladders_.ids()) {
    const std::size_t rung = behind_[fanout][d][digit(d, tile)].last;
    if (rung == kNone) {
      return kNone;
    }
    crossed += rung * strides_[d];
  }
  return crossed;
}

}  // namespace mapsim::balanced
