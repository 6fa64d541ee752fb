// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/factors.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "core/arithmetic.hpp"
#include "core/factor.hpp"

namespace mapsim {
namespace {

// Adds the distinct ceil(bound / n) with n <= most (0: all n), unsorted.
void add_imperfect(std::int64_t bound, std::int64_t most, ExtentDomain& extents) {
  for (std::int64_t n = 1; n <= bound && (most == 0 || n <= most);) {
    const std::int64_t extent = ceil_div(bound, n);
    extents.push_back(extent);
    // The next n with a smaller extent
    n = extent == 1 ? bound + 1 : (bound - 1) / (extent - 1) + 1;
  }
}

constexpr std::int64_t kMostListingSteps = 1'600'000;  // a tenth of a second

// Lists unrollings fanout by fanout, outermost first.
class UnrollingLister {
 public:
  UnrollingLister(const Problem& problem, const PerDim<ExtentDomain>& all,
                  const UnrollingLimits& limits, std::size_t most)
      : problem_{problem},
        all_{all},
        most_{most},
        given_{limits.given.value_or(Unrolling{})},
        rules_(problem.arch().fanouts.size()) {
    for (const UnrollRule& rule : limits.rules) {
      rules_[rule.fanout] = rule;
    }
  }

  std::optional<std::vector<UnrollingClass>> list() {
    Tiles tiles(all_.size());
    for (const DimId d : all_.ids()) {
      tiles[d] = all_[d];
    }
    at_fanout(0, tiles);
    return is_beyond() ? std::nullopt : std::optional(by_instances(classes()));
  }

 private:
  using Extents = std::span<const std::int64_t>;
  using Tiles = PerDim<Extents>;  // per dim, the extents that a tile may have, ascending
  // The blocks of all extents of a dim that have one, which many unrollings share.
  struct Blocks {
    ExtentDomain tiles;
    ExtentDomain blocks;  // of these
  };

  const Arch& arch() const { return problem_.arch(); }
  const Workload& workload() const { return problem_.workload(); }

  // Rules may refuse nearly all of the unrollings that are tried.
  bool is_beyond() const { return found_.size() > most_ || steps_ > kMostListingSteps; }

  // Each unrolling is a class of its own.
  std::vector<UnrollingClass> classes() {
    const PerDim<std::int64_t> ones(workload().dims.size(), 1);
    std::vector<UnrollingClass> all;
    all.reserve(found_.size());
    for (Unrolling& unrolling : found_) {
      PerFanout<PerDim<std::int64_t>> factors(arch().fanouts.size(), ones);
      for (const Unroll& unroll : unrolling) {
        factors[unroll.fanout][unroll.dim] *= unroll.factor;
      }
      all.push_back({factors, 1, std::move(unrolling)});
    }
    return all;
  }

  void at_fanout(std::size_t index, const Tiles& tiles) {
    if (index == arch().fanouts.size()) {
      found_.push_back(chosen_);
      return;
    }
    const auto fanout = static_cast<FanoutId>(index);
    at_dim(fanout, Axis::kX, 0, arch().fanouts[fanout].x, tiles);
  }

  void at_dim(FanoutId fanout, Axis axis, std::size_t index, std::int64_t left,
              const Tiles& tiles) {
    ++steps_;
    if (index == workload().dims.size()) {
      if (!is_given(fanout) && !obeys(fanout, axis)) {
        return;
      }
      if (axis == Axis::kX) {
        at_dim(fanout, Axis::kY, 0, arch().fanouts[fanout].y, tiles);
      } else {
        at_fanout(index_of(fanout) + 1, below(tiles));
      }
      return;
    }
    const auto dim = static_cast<DimId>(index);
    for (const std::int64_t factor : factors(fanout, axis, dim, left)) {
      if (is_beyond()) {
        return;
      }
      if (factor == 1) {
        at_dim(fanout, axis, index + 1, left, tiles);
        continue;
      }
      ExtentDomain own;
      const Extents blocks = blocks_of(dim, tiles[dim], factor, own);
      if (blocks.empty()) {
        continue;
      }
      Tiles smaller = tiles;
      smaller[dim] = blocks;
      chosen_.push_back({dim, fanout, axis, factor});
      at_dim(fanout, axis, index + 1, left / factor, smaller);
      chosen_.pop_back();
    }
  }

  bool is_given(FanoutId fanout) const {
    return std::any_of(given_.begin(), given_.end(),
                       [fanout](const Unroll& unroll) { return unroll.fanout == fanout; });
  }

  // Checks the rules of an axis, all dims of which are chosen, and after the last axis those of the
  // fanout.
  bool obeys(FanoutId fanout, Axis axis) const {
    const AxisRule& rule = rules_[fanout].along(axis);
    std::int64_t dims = 0;
    std::int64_t instances = 1;
    PerDim<std::int64_t> along(workload().dims.size(), 1);
    for (const Unroll& unroll : chosen_) {
      if (unroll.fanout == fanout) {
        instances *= unroll.factor;
        dims += unroll.axis == axis ? 1 : 0;
        along[unroll.dim] = unroll.axis == axis ? unroll.factor : along[unroll.dim];
      }
    }
    for (const DimId d : along.ids()) {
      if (along[d] > 1 && rule.dims && !rule.dims->contains(d)) {
        return false;
      }
    }
    const Fanout& node = arch().fanouts[fanout];
    const bool busy = axis == Axis::kX ||
                      static_cast<double>(instances) >=
                          rules_[fanout].min_utilization * static_cast<double>(node.x * node.y);
    return busy && (!rule.max_dims || dims <= *rule.max_dims) &&
           std::all_of(rule.factors.begin(), rule.factors.end(), [&](const FactorRule& factor) {
             return factor.factors.contains(along[factor.dim]);
           });
  }

  std::vector<std::int64_t> factors(FanoutId fanout, Axis axis, DimId dim,
                                    std::int64_t left) const {
    if (is_given(fanout)) {
      const auto found = std::find_if(given_.begin(), given_.end(), [&](const Unroll& unroll) {
        return unroll.fanout == fanout && unroll.axis == axis && unroll.dim == dim;
      });
      return {found == given_.end() ? 1 : found->factor};
    }
    std::vector<std::int64_t> all{1};
    if (may_unroll(workload(), arch().fanouts[fanout].dims(axis), dim)) {
      for (std::int64_t n = 2; n <= std::min(left, workload().dims[dim].bound); ++n) {
        all.push_back(n);
      }
    }
    return all;
  }

  // In `own`, unless the tiles are the first of all extents: blocks grow with tiles.
  Extents blocks_of(DimId dim, Extents tiles, std::int64_t factor, ExtentDomain& own) {
    if (tiles.data() == all_[dim].data()) {
      const Blocks& known = all_blocks(dim, factor);
      const auto end = std::upper_bound(known.tiles.begin(), known.tiles.end(), tiles.back());
      return Extents{known.blocks}.first(static_cast<std::size_t>(end - known.tiles.begin()));
    }
    for (const std::int64_t tile : tiles) {
      if (const auto block = block_of(all_[dim], tile, factor)) {
        own.push_back(*block);
      }
    }
    return own;
  }
  const Blocks& all_blocks(DimId dim, std::int64_t factor) {
    const auto [known, is_new] = blocks_.try_emplace({dim, factor});
    for (std::size_t i = 0; is_new && i < all_[dim].size(); ++i) {
      if (const auto block = block_of(all_[dim], all_[dim][i], factor)) {
        known->second.tiles.push_back(all_[dim][i]);
        known->second.blocks.push_back(*block);
      }
    }
    return known->second;
  }

  // The extents to which loops may cut these tiles: the first ones of all.
  Tiles below(const Tiles& tiles) const {
    Tiles inner(tiles.size());
    for (const DimId d : tiles.ids()) {
      inner[d] = Extents{all_[d]}.first(extent_of(all_[d], tiles[d].back()) + 1);
    }
    return inner;
  }

  const Problem& problem_;
  const PerDim<ExtentDomain>& all_;
  std::size_t most_;
  Unrolling given_;
  PerFanout<UnrollRule> rules_;
  std::map<std::pair<DimId, std::int64_t>, Blocks> blocks_;  // by dim and factor
  Unrolling chosen_;
  std::vector<Unrolling> found_;
  std::int64_t steps_ = 0;
};

}  // namespace

PerDim<ExtentDomain> domains(const Workload& workload, const Factors& factors) {
  PerDim<ExtentDomain> all(workload.dims.size());
  for (const DimId d : all.ids()) {
    const std::int64_t bound = workload.dims[d].bound;
    if (!factors.imperfect || factors.pieces > 0) {
      all[d] = divisors_of(bound);
    }
    if (factors.imperfect) {
      add_imperfect(bound, factors.pieces, all[d]);
    }
    if (!factors.tiles.empty()) {
      std::copy(factors.tiles[d].begin(), factors.tiles[d].end(), std::back_inserter(all[d]));
    }
    std::sort(all[d].begin(), all[d].end());
    all[d].erase(std::unique(all[d].begin(), all[d].end()), all[d].end());
  }
  return all;
}

std::size_t extents(const Workload& workload, const Factors& factors) {
  std::size_t count = 0;
  for (const ExtentDomain& domain : domains(workload, factors)) {
    count += domain.size() - 1;
  }
  return count;
}

std::size_t extent_of(const ExtentDomain& domain, std::int64_t extent) {
  return static_cast<std::size_t>(std::lower_bound(domain.begin(), domain.end(), extent) -
                                  domain.begin());
}

std::optional<std::int64_t> block_of(const ExtentDomain& domain, std::int64_t tile,
                                     std::int64_t factor) {
  const std::int64_t block = ceil_div(tile, factor);
  if (ceil_div(tile, block) != factor || !std::binary_search(domain.begin(), domain.end(), block)) {
    return std::nullopt;
  }
  return block;
}

std::optional<PerDim<std::int64_t>> behind(const PerDim<ExtentDomain>& all,
                                           const Unrolling& unrolling, FanoutId fanout,
                                           PerDim<std::int64_t> tile) {
  for (const Unroll& unroll : unrolling) {
    if (unroll.fanout == fanout) {
      const auto block = block_of(all[unroll.dim], tile[unroll.dim], unroll.factor);
      if (!block) {
        return std::nullopt;
      }
      tile[unroll.dim] = *block;
    }
  }
  return tile;
}

std::optional<std::vector<UnrollingClass>> imperfect_classes(const Problem& problem,
                                                             const PerDim<ExtentDomain>& all,
                                                             const UnrollingLimits& limits,
                                                             std::size_t most) {
  return UnrollingLister{problem, all, limits, most}.list();
}

}  // namespace mapsim
