// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/extent_lattice.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::imperfect {

ExtentLattice::ExtentLattice(const Mapspace& space, const UnrollingClass& unrolling_class,
                             std::vector<FanoutId> used, std::size_t most)
    : TileIndex(space.domains().size()),
      extents_{space.domains()},
      domains_(extents_.size()),
      bins_(extents_.size()),
      digits_(extents_.size()),
      used_{std::move(used)} {
  for (const DimId d : extents_.ids()) {
    for (const std::int64_t extent : extents_[d]) {
      bins_[d].push_back({extent});
    }
  }
  coarsen(most);
  PerDim<std::size_t> radices(extents_.size());
  for (const DimId d : extents_.ids()) {
    for (const auto& bin : bins_[d]) {
      domains_[d].push_back(bin.back());
    }
    radices[d] = bins_[d].size();
    for (std::size_t bin = 1; bin < radices[d]; ++bin) {
      steps_[d].push_back({bin, bin - 1});
    }
  }
  set_radices(radices, {});
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

// Joins the two neighbouring bins with the smallest ratio of extents, over all dims, until the
// lattice is small enough.
void ExtentLattice::coarsen(std::size_t most) {
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

std::optional<std::int64_t> ExtentLattice::block_behind(std::size_t fanout, DimId d,
                                                        std::int64_t extent) const {
  std::optional<std::int64_t> block = extent;
  for (const Unroll& unroll : unrolls_[fanout]) {
    if (unroll.dim == d && block) {
      block = block_of(extents_[d], *block, unroll.factor);
    }
  }
  return block;
}

std::int64_t ExtentLattice::least_behind(DimId d, std::size_t bin, std::size_t first,
                                         std::size_t end, const Allowed& allowed) const {
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

void ExtentLattice::list_digits() {
  for (const DimId d : domains_.ids()) {
    if (radix(d) > 1 && digits_[d].empty()) {
      digits_[d] = digits_of_tiles(d);
    }
  }
}

void ExtentLattice::make_crossings() {
  const auto nowhere = static_cast<std::uint32_t>(size_);
  for (std::size_t fanout = 0; fanout < used_.size() && !coarse_; ++fanout) {
    std::vector<std::uint32_t>& crossings = crossings_.emplace_back(filled(std::uint32_t{0}));
    for (const DimId d : domains_.ids()) {
      sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
        const std::size_t behind = behind_[fanout][d][bin].last;
        const auto step = static_cast<std::uint32_t>(behind == kNone ? 0 : behind * stride(d));
        for (std::size_t tile = first; tile < last; ++tile) {
          const bool leads_on = behind != kNone && crossings[tile] != nowhere;
          crossings[tile] = leads_on ? crossings[tile] + step : nowhere;
        }
      });
    }
  }
}

Projection::Projection(const ExtentLattice& tiles, DimSet dims)
    : TileIndex(tiles.dims()), of_tile_{tiles.filled(std::uint32_t{0})} {
  watch(tiles.deadline());
  PerDim<std::size_t> radices(tiles.dims(), 1);
  for (const DimId d : radices.ids()) {
    radices[d] = dims.contains(d) ? tiles.radix(d) : 1;
  }
  set_radices(radices, {});
  for (const DimId d : radices.ids()) {
    if (radix(d) == 1) {
      continue;
    }
    tiles.sweep(d, [&](std::size_t bin, std::size_t first, std::size_t last) {
      const auto step = static_cast<std::uint32_t>(bin * stride(d));
      for (std::size_t tile = first; tile < last && step > 0; ++tile) {
        of_tile_[tile] += step;
      }
    });
  }
}

}  // namespace mapsim::imperfect
