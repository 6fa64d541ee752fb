// SPDX-License-Identifier: Apache-2.0
#include "check/lattice.hpp"

#include <algorithm>

#include "check/regions.hpp"

namespace mapsim::check {

namespace {

// Is there an extent between the two that a loop could stop at?
bool has_stop(const std::vector<std::int64_t>& extents, std::size_t from, std::size_t to) {
  for (std::size_t stop = to + 1; stop < from; ++stop) {
    if (extents[from] % extents[stop] == 0 && extents[stop] % extents[to] == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::int64_t ParallelLoops::factor(DimId d) const {
  std::int64_t product = 1;
  for (const auto& [dim, instances] : loops) {
    product *= dim == d ? instances : 1;
  }
  return product;
}

std::int64_t ParallelLoops::block(DimId d, std::int64_t extent) const {
  for (const auto& [dim, instances] : loops) {
    extent = dim == d ? (extent + instances - 1) / instances : extent;
  }
  return extent;
}

std::vector<ParallelLoops> list_parallel_loops(const Problem& problem, const Unrolling& unrolling) {
  std::vector<ParallelLoops> used;
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    ParallelLoops here{f, {}};
    for (const PerDim<std::int64_t>& along : unrolling.axes[f]) {
      for (const DimId d : along.ids()) {
        if (along[d] > 1) {
          here.loops.emplace_back(d, along[d]);
        }
      }
    }
    if (!here.loops.empty()) {
      used.push_back(std::move(here));
    }
  }
  return used;
}

Lattice::Lattice(const PerDim<std::int64_t>& bounds,
                 const std::vector<PerDim<std::int64_t>>& blocks, const BranchEntry& entry)
    : strides_(bounds.size()), perfect_{true} {
  for (const DimId d : bounds.ids()) {
    high_.push_back(entry.extents(d, bounds[d]));
    mean_.push_back(entry.mean_size(d, bounds[d]));
    strides_[d] = size_;
    size_ *= high_[d].size();
  }
  low_ = high_;
  list_loops();
  for (const PerDim<std::int64_t>& block : blocks) {
    Behind& behind = behind_.emplace_back();
    behind.bins.resize(dims());
    for (const DimId d : bounds.ids()) {
      if (block[d] != 0) {
        behind.changed.insert(d);
      }
      for (std::size_t bin = 0; bin < count(d); ++bin) {
        const bool may = block[d] == 0 || high_[d][bin] == block[d];
        behind.bins[d].emplace_back(std::size_t{may ? 1U : 0U}, bin);
      }
    }
  }
}

Lattice::Lattice(const ExtentDomains& domains, std::vector<ParallelLoops> fanouts, std::size_t most)
    : fanouts_{std::move(fanouts)},
      low_(domains.size()),
      high_(domains.size()),
      strides_(domains.size()) {
  constexpr double kWider = 1.1;
  double ratio = 1;
  join(domains, ratio);
  // The bound and 1 are never joined with others, so ratios above the largest bound have no effect.
  for (; size_ > most && ratio < 1e12; ratio *= kWider) {
    join(domains, ratio);
  }
  for (const DimId d : domains.ids()) {
    exact_ = exact_ && count(d) == domains[d].size();
  }
  list_loops();
  list_behind(domains);
}

// Joins neighbouring extents, from the largest one on, while their ratio is at most `ratio`.
void Lattice::join(const ExtentDomains& domains, double ratio) {
  size_ = 1;
  for (const DimId d : domains.ids()) {
    const std::vector<std::int64_t>& domain = domains[d];
    low_[d].clear();
    high_[d].clear();
    for (std::size_t i = domain.size(); i-- > 0;) {
      const bool apart =
          i == 0 || i + 2 >= domain.size() ||
          static_cast<double>(high_[d].back()) > ratio * static_cast<double>(domain[i]);
      if (apart) {
        high_[d].push_back(domain[i]);
        low_[d].push_back(domain[i]);
      } else {
        low_[d].back() = domain[i];
      }
    }
    std::reverse(low_[d].begin(), low_[d].end());
    std::reverse(high_[d].begin(), high_[d].end());
    strides_[d] = size_;
    size_ *= low_[d].size();
  }
}

// Perfect factors: all loops consist of loops that pass no other extent. Imperfect factors: of
// loops to the next bin, and of loops between extents that share a bin.
void Lattice::list_loops() {
  steps_.resize(dims());
  runs_.resize(dims());
  run_of_.resize(dims());
  for (const DimId d : high_.ids()) {
    run_of_[d].assign(perfect_ ? count(d) * count(d) : 0, kNone);
    for (std::size_t from = 1; from < count(d); ++from) {
      const bool shared = low_[d][from] < high_[d][from];
      if (shared) {
        steps_[d].push_back({from, from});
      }
      if (!perfect_) {
        steps_[d].push_back({from, from - 1});
        runs_[d].push_back({from, shared ? from : from - 1});
      }
      for (std::size_t to = 0; perfect_ && to < from; ++to) {
        if (high_[d][from] % high_[d][to] == 0) {
          run_of_[d][from * count(d) + to] = runs_[d].size();
          runs_[d].push_back({from, to});
          if (!has_stop(high_[d], from, to)) {
            steps_[d].push_back({from, to});
          }
        }
      }
    }
  }
}

std::int64_t Lattice::factor(DimId d, const Loop& loop) const {
  return perfect_ ? high_[d][loop.from] / high_[d][loop.to] : Region::kAnyFactor;
}

std::size_t Lattice::bin_of(DimId d, std::int64_t extent) const {
  return static_cast<std::size_t>(std::lower_bound(high_[d].begin(), high_[d].end(), extent) -
                                  high_[d].begin());
}

void Lattice::list_behind(const ExtentDomains& domains) {
  for (const ParallelLoops& fanout : fanouts_) {
    Behind& behind = behind_.emplace_back();
    behind.bins.resize(dims());
    for (const DimId d : domains.ids()) {
      behind.bins[d].resize(count(d));
      if (fanout.factor(d) > 1) {
        behind.changed.insert(d);
      }
      for (const std::int64_t extent : domains[d]) {
        std::optional<std::int64_t> block = extent;
        for (const auto& [dim, instances] : fanout.loops) {
          block = block && dim == d ? block_of(domains[d], *block, instances) : block;
        }
        std::vector<std::size_t>& bins = behind.bins[d][bin_of(d, extent)];
        if (block && (bins.empty() || bins.back() != bin_of(d, *block))) {
          bins.push_back(bin_of(d, *block));
        }
      }
    }
  }
}

}  // namespace mapsim::check
