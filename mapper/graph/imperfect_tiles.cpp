// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/imperfect_tiles.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::imperfect {

Tiles::Tiles(const Mapspace& space, const UnrollingClass& unrolling_class,
             std::vector<FanoutId> used, std::size_t most)
    : extents_{space.domains()},
      domains_(extents_.size()),
      bins_(extents_.size()),
      strides_(extents_.size()),
      used_{std::move(used)} {
  for (const DimId d : extents_.ids()) {
    for (const std::int64_t extent : extents_[d]) {
      bins_[d].push_back({extent});
    }
  }
  coarsen(most);
  for (const DimId d : extents_.ids()) {
    for (const auto& bin : bins_[d]) {
      domains_[d].push_back(bin.back());
    }
    strides_[d] = size_;
    size_ *= domains_[d].size();
  }
  for (const FanoutId f : used_) {
    Unrolling& here = unrolls_.emplace_back();
    for (const Unroll& unroll : unrolling_class.first) {
      if (unroll.fanout == f) {
        here.push_back(unroll);
      }
    }
    factors_.push_back(unrolling_class.factors[f]);
    auto& behind = behind_.emplace_back();
    behind.resize(extents_.size());
    for (const DimId d : extents_.ids()) {
      for (const auto& bin : bins_[d]) {
        Behind found;
        for (const std::int64_t extent : bin) {
          if (const auto block = block_behind(unrolls_.size() - 1, d, extent)) {
            const auto at = std::lower_bound(domains_[d].begin(), domains_[d].end(), *block);
            const auto index = static_cast<std::size_t>(at - domains_[d].begin());
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
    for (const auto& bins : bins_) {
      product *= static_cast<double>(bins.size());
    }
    return product;
  };
  while (size() > static_cast<double>(most)) {
    double closest = 0;
    DimId dim{};
    std::size_t first = 0;
    for (const DimId d : bins_.ids()) {
      for (std::size_t r = 1; r + 1 < bins_[d].size(); ++r) {
        const double ratio =
            static_cast<double>(bins_[d][r + 1].back()) / static_cast<double>(bins_[d][r].front());
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
    auto& bins = bins_[dim];
    bins[first].insert(bins[first].end(), bins[first + 1].begin(), bins[first + 1].end());
    bins.erase(bins.begin() + static_cast<std::ptrdiff_t>(first) + 1);
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

std::int64_t Tiles::least_behind(DimId d, std::size_t bin, std::size_t first, std::size_t end,
                                 const Allowed& allowed) const {
  std::int64_t least = 0;
  for (const std::int64_t extent : bins_[d][bin]) {
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
  for (const DimId d : domains_.ids()) {
    const std::size_t bin = behind_[fanout][d][digit(d, tile)].last;
    if (bin == kNone) {
      return kNone;
    }
    crossed += bin * strides_[d];
  }
  return crossed;
}

}  // namespace mapsim::imperfect
