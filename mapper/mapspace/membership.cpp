// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <variant>

#include "costmodel/nest.hpp"
#include "mapper/mapspace/factors.hpp"
#include "mapper/mapspace/loop_order_automaton.hpp"

namespace mapsim {

namespace {

// Reads a nest node by node, and notes the first property that the space does not allow.
class Reading {
 public:
  explicit Reading(const Mapspace& space)
      : space_{space},
        extents_{bounds_of(space.problem().workload())},
        kept_(space.problem().arch().levels.size()) {}

  std::string read(const Mapping& mapping) {
    for (const MappingNode& node : mapping.nodes) {
      std::visit([this](const auto& known) { take(known); }, node);
      in_parallel_ = std::holds_alternative<Parallel>(node);
    }
    check_keeps();
    if (wrong_.empty()) {
      check_unrolling();
    }
    require(!wrong_.empty() || !space_.is_ruled() || obeys_rules(space_, mapping),
            "it breaks a constraint on extents or loops");
    return wrong_;
  }

 private:
  const Arch& arch() const { return space_.problem().arch(); }
  const Workload& workload() const { return space_.problem().workload(); }
  const std::string& name(DimId dim) const { return workload().dims[dim].name; }

  void require(bool holds, const std::string& otherwise) {
    if (!holds && wrong_.empty()) {
      wrong_ = otherwise;
    }
  }

  void cut(DimId dim, std::int64_t extent) {
    if (space_.constraints().factors.imperfect) {
      const ExtentDomain& domain = space_.domains()[dim];
      require(std::binary_search(domain.begin(), domain.end(), extent),
              fmt::format("tiles of {} of {} are no extents of this space", extent, name(dim)));
    } else {
      require(extents_[dim] % extent == 0,
              fmt::format("tiles of {} of {} in tiles of {} are partial", extent, name(dim),
                          extents_[dim]));
    }
    extents_[dim] = extent;
  }

  void take(const Keep& keep) {
    const std::string& level = arch().levels[keep.level].name;
    if (space_.constraints().even) {
      require(kept_[keep.level].empty() && deepest_ <= keep.level,
              fmt::format("the tensors of {} are kept apart or out of order", level));
      deepest_ = std::max(deepest_, keep.level);
    }
    kept_[keep.level] = kept_[keep.level] | keep.tensors;
  }

  void take(const Temporal& loop) { cut(loop.dim, loop.extent); }

  void take(const Parallel& loop) {
    const std::string& fanout = arch().fanouts[loop.fanout].name;
    const std::int64_t tile = extents_[loop.dim];
    const std::int64_t used = (tile + loop.extent - 1) / loop.extent;
    require((tile + used - 1) / used == loop.extent,
            fmt::format("blocks of {} of {} over {} are no extents of this space", loop.extent,
                        name(loop.dim), fanout));
    const auto same = [&](const Unroll& other) { return other.fanout == loop.fanout; };
    require(in_parallel_ || std::none_of(unrolling_.begin(), unrolling_.end(), same),
            fmt::format("the parallel loops of {} stand apart", fanout));
    require(std::none_of(unrolling_.begin(), unrolling_.end(),
                         [&](const Unroll& other) {
                           return same(other) && other.dim == loop.dim && other.axis >= loop.axis;
                         }),
            fmt::format("{} is unrolled along Y of {} before X", name(loop.dim), fanout));
    unrolling_.push_back({loop.dim, loop.fanout, loop.axis, used});
    cut(loop.dim, loop.extent);
  }

  void check_keeps() {
    for (const LevelId l : kept_.ids()) {
      for (const TensorId t : workload().tensors.ids()) {
        const KeepRule rule = space_.keep_rule(l, t);
        const bool kept = kept_[l].contains(t);
        require(rule == KeepRule::kFree || (rule == KeepRule::kKeep) == kept,
                fmt::format("it {} {} at {}", kept ? "keeps" : "does not keep",
                            workload().tensors[t].name, arch().levels[l].name));
      }
    }
  }

  // The unrolling must be one of the space's, whatever the order of its loops.
  void check_unrolling() {
    std::sort(unrolling_.begin(), unrolling_.end(), [](const Unroll& a, const Unroll& b) {
      return std::tuple{a.fanout, a.axis, a.dim} < std::tuple{b.fanout, b.axis, b.dim};
    });
    PerFanout<PerDim<std::int64_t>> factors(arch().fanouts.size());
    for (PerDim<std::int64_t>& of_fanout : factors) {
      of_fanout = PerDim<std::int64_t>(extents_.size(), 1);
    }
    for (const Unroll& unroll : unrolling_) {
      factors[unroll.fanout][unroll.dim] *= unroll.factor;
    }
    const bool is_alone = space_.constraints().factors.imperfect && !space_.is_listable();
    const std::vector<UnrollingClass> alone =
        is_alone ? class_alone() : std::vector<UnrollingClass>{};
    const std::vector<UnrollingClass>& classes = is_alone ? alone : space_.unrolling_classes();
    require(std::any_of(classes.begin(), classes.end(),
                        [&](const UnrollingClass& unrolling_class) {
                          if (!(unrolling_class.factors == factors)) {
                            return false;
                          }
                          const std::vector<Unrolling> all = space_.assignments(unrolling_class);
                          return std::find(all.begin(), all.end(), unrolling_) != all.end();
                        }),
            "its parallel loops are not allowed together");
  }

  bool obeys(const UnrollRule& rule) const {
    const Fanout& fanout = arch().fanouts[rule.fanout];
    std::int64_t working = 1;
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      const AxisRule& along = rule.along(axis);
      PerDim<std::int64_t> instances(extents_.size(), 1);
      for (const Unroll& unroll : unrolling_) {
        if (unroll.fanout == rule.fanout && unroll.axis == axis) {
          instances[unroll.dim] *= unroll.factor;
          working *= unroll.factor;
        }
      }
      std::int64_t dims = 0;
      for (const DimId d : instances.ids()) {
        dims += instances[d] > 1 ? 1 : 0;
        if (instances[d] > 1 && along.dims && !along.dims->contains(d)) {
          return false;
        }
      }
      if (dims > along.max_dims.value_or(dims) ||
          std::any_of(along.factors.begin(), along.factors.end(), [&](const FactorRule& factor) {
            return !factor.factors.contains(instances[factor.dim]);
          })) {
        return false;
      }
    }
    return static_cast<double>(working) >=
           rule.min_utilization * static_cast<double>(fanout.x * fanout.y);
  }

  // The class of the unrolling, where a space has more than can be listed. None: it has not this
  // one.
  std::vector<UnrollingClass> class_alone() const {
    const Unrolling given = space_.constraints().spatial.value_or(Unrolling{});
    const auto has = [](const Unrolling& unrolling, const Unroll& wanted) {
      return std::find(unrolling.begin(), unrolling.end(), wanted) != unrolling.end();
    };
    const bool is_as_given = std::all_of(given.begin(), given.end(), [&](const Unroll& fixed) {
      return (fixed.factor == 1 || has(unrolling_, fixed)) &&
             std::all_of(unrolling_.begin(), unrolling_.end(), [&](const Unroll& used) {
               return used.fanout != fixed.fanout || has(given, used);
             });
    });
    const auto is_given = [&](FanoutId fanout) {
      return std::any_of(given.begin(), given.end(),
                         [&](const Unroll& fixed) { return fixed.fanout == fanout; });
    };
    const std::vector<UnrollRule>& rules = space_.constraints().unroll;
    const bool is_allowed =
        std::all_of(rules.begin(), rules.end(),
                    [&](const UnrollRule& rule) { return is_given(rule.fanout) || obeys(rule); }) &&
        std::all_of(unrolling_.begin(), unrolling_.end(), [&](const Unroll& used) {
          return may_unroll(workload(), arch().fanouts[used.fanout].dims(used.axis), used.dim);
        });
    return is_as_given && is_allowed
               ? imperfect_classes(
                     space_.problem(), space_.domains(),
                     {with_idle_fanouts(unrolling_, arch()), space_.constraints().unroll}, 1)
                     .value_or(std::vector<UnrollingClass>{})
               : std::vector<UnrollingClass>{};
  }

  const Mapspace& space_;
  PerDim<std::int64_t> extents_;
  PerLevel<TensorSet> kept_;
  LevelId deepest_{};
  Unrolling unrolling_;
  bool in_parallel_ = false;
  std::string wrong_;
};

}  // namespace

std::string first_breach(const Mapspace& space, const Mapping& mapping) {
  return Reading{space}.read(mapping);
}

}  // namespace mapsim
