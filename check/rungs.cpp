// SPDX-License-Identifier: Apache-2.0
#include "check/rungs.hpp"

#include <algorithm>

namespace mapsim::check {

std::int64_t Spread::factor(DimId d) const {
  std::int64_t product = 1;
  for (const auto& [dim, instances] : loops) {
    product *= dim == d ? instances : 1;
  }
  return product;
}

std::int64_t Spread::block(DimId d, std::int64_t extent) const {
  for (const auto& [dim, instances] : loops) {
    extent = dim == d ? (extent + instances - 1) / instances : extent;
  }
  return extent;
}

std::vector<Spread> list_spreads(const Problem& problem, const Unrolling& unrolling) {
  std::vector<Spread> spreads;
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    Spread spread{f, {}};
    for (const PerDim<std::int64_t>& along : unrolling.axes[f]) {
      for (const DimId d : along.ids()) {
        if (along[d] > 1) {
          spread.loops.emplace_back(d, along[d]);
        }
      }
    }
    if (!spread.loops.empty()) {
      spreads.push_back(std::move(spread));
    }
  }
  return spreads;
}

ExtentBins::ExtentBins(const ExtentDomains& ladders, std::vector<Spread> spreads, std::size_t most)
    : ladders_{ladders},
      spreads_{std::move(spreads)},
      low_(ladders.size()),
      high_(ladders.size()),
      strides_(ladders.size()) {
  constexpr double kWider = 1.1;
  double ratio = 1;
  join(ratio);
  // The bounds and 1 stay apart: no ratio above the largest bound does more.
  for (; size_ > most && ratio < 1e12; ratio *= kWider) {
    join(ratio);
  }
  for (const DimId d : ladders_.ids()) {
    exact_ = exact_ && count(d) == ladders_[d].size();
  }
  list_behind();
}

// Joins neighbours from the largest on, as long as they differ by no more than the ratio.
void ExtentBins::join(double ratio) {
  size_ = 1;
  for (const DimId d : ladders_.ids()) {
    const std::vector<std::int64_t>& ladder = ladders_[d];
    low_[d].clear();
    high_[d].clear();
    for (std::size_t i = ladder.size(); i-- > 0;) {
      const bool apart =
          i == 0 || i + 2 >= ladder.size() ||
          static_cast<double>(high_[d].back()) > ratio * static_cast<double>(ladder[i]);
      if (apart) {
        high_[d].push_back(ladder[i]);
        low_[d].push_back(ladder[i]);
      } else {
        low_[d].back() = ladder[i];
      }
    }
    std::reverse(low_[d].begin(), low_[d].end());
    std::reverse(high_[d].begin(), high_[d].end());
    strides_[d] = size_;
    size_ *= low_[d].size();
  }
}

std::size_t ExtentBins::rung_of(DimId d, std::int64_t extent) const {
  return static_cast<std::size_t>(std::lower_bound(high_[d].begin(), high_[d].end(), extent) -
                                  high_[d].begin());
}

void ExtentBins::list_behind() {
  for (const Spread& spread : spreads_) {
    auto& all = behind_.emplace_back();
    all.resize(ladders_.size());
    for (const DimId d : ladders_.ids()) {
      all[d].resize(count(d));
      for (const std::int64_t extent : ladders_[d]) {
        std::optional<std::int64_t> block = extent;
        for (const auto& [dim, instances] : spread.loops) {
          block = block && dim == d ? block_of(ladders_[d], *block, instances) : block;
        }
        std::vector<std::size_t>& bins = all[d][rung_of(d, extent)];
        if (block && (bins.empty() || bins.back() != rung_of(d, *block))) {
          bins.push_back(rung_of(d, *block));
        }
      }
    }
  }
}

}  // namespace mapsim::check
