// SPDX-License-Identifier: Apache-2.0
#include "membership.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "rule_check.hpp"

namespace mapsim {
namespace {

// Reads a nest node by node and notes the first rule that it breaks.
class Membership {
 public:
  explicit Membership(const Mapspace& space)
      : space_{space}, extents_(workload().dims.size()), kept_(arch().levels.size()) {
    for (const DimId d : workload().dims.ids()) {
      extents_[d] = workload().dims[d].bound;
    }
  }

  std::string check(const Mapping& mapping) {
    for (const MappingNode& node : mapping.nodes) {
      std::visit([this](const auto& known) { read(known); }, node);
      last_parallel_ = std::holds_alternative<Parallel>(node);
    }
    check_keeps();
    check_unrolling();
    return problem_;
  }

 private:
  const Arch& arch() const { return space_.problem().arch(); }
  const Workload& workload() const { return space_.problem().workload(); }
  void require(bool holds, const char* otherwise) {
    if (!holds && problem_.empty()) {
      problem_ = otherwise;
    }
  }

  void divide(DimId dim, std::int64_t extent) {
    const Factors& factors = space_.constraints().factors;
    require(factors.imperfect ? is_candidate(dim, extent) : extents_[dim] % extent == 0,
            factors.imperfect ? "an extent that no tile may have"
                              : "an extent does not divide the one above");
    extents_[dim] = extent;
  }

  // By trying every number of pieces.
  bool is_candidate(DimId dim, std::int64_t extent) const {
    const Factors& factors = space_.constraints().factors;
    const std::int64_t bound = workload().dims[dim].bound;
    if (!factors.tiles.empty() &&
        std::count(factors.tiles[dim].begin(), factors.tiles[dim].end(), extent) > 0) {
      return true;
    }
    for (std::int64_t n = 1; n <= bound; ++n) {
      const bool listed = factors.pieces == 0 || n <= factors.pieces || bound % n == 0;
      if (listed && (bound + n - 1) / n == extent) {
        return true;
      }
    }
    return false;
  }

  void read(const Keep& keep) {
    if (space_.constraints().even) {
      require(kept_[keep.level].empty(), "keeps of one level stand apart");
      require(keep.level == LevelId{0} || last_level_ < keep.level, "levels out of order");
    }
    last_level_ = keep.level;
    kept_[keep.level] = kept_[keep.level] | keep.tensors;
  }

  void read(const Temporal& loop) { divide(loop.dim, loop.extent); }

  void read(const Parallel& loop) {
    const auto place = [](const auto& node) {
      return std::tuple{index_of(node.fanout), node.axis, index_of(node.dim)};
    };
    const std::int64_t tile = extents_[loop.dim];
    const std::int64_t used = (tile + loop.extent - 1) / loop.extent;
    require((tile + used - 1) / used == loop.extent, "blocks that are not imperfect");
    const Unroll unroll{loop.dim, loop.fanout, loop.axis, used};
    if (!unrolling_.empty()) {
      require(place(unrolling_.back()) < place(unroll), "parallel nodes out of order");
      require(last_parallel_ || unrolling_.back().fanout != loop.fanout,
              "parallel nodes of one fanout apart");
    }
    unrolling_.push_back(unroll);
    divide(loop.dim, loop.extent);
    require(may_unroll(workload(), arch().fanouts[loop.fanout].dims(loop.axis), loop.dim),
            "a dim that must not be unrolled there");
  }

  void check_keeps() {
    for (const LevelId l : arch().levels.ids()) {
      for (const TensorId t : workload().tensors.ids()) {
        const KeepRule rule = space_.keep_rule(l, t);
        require(rule != KeepRule::kKeep || kept_[l].contains(t), "a tensor that must be kept");
        require(rule != KeepRule::kBypass || !kept_[l].contains(t), "a tensor that must bypass");
      }
    }
  }

  void check_unrolling() {
    for (const FanoutId f : arch().fanouts.ids()) {
      for (const Axis axis : {Axis::kX, Axis::kY}) {
        std::int64_t used = 1;
        for (const Unroll& unroll : unrolling_) {
          used *= unroll.fanout == f && unroll.axis == axis ? unroll.factor : 1;
        }
        require(used <= arch().fanouts[f].size(axis), "more instances than an axis has");
      }
      check_given(f);
      check_rules(f);
      check_axes(f);
    }
  }

  // With one loop per dim, a dim is on one axis of a fanout that is not given.
  void check_axes(FanoutId f) {
    const auto of_fanout = [f](const Unroll& unroll) { return unroll.fanout == f; };
    const auto& given = space_.constraints().spatial;
    if (!space_.constraints().one_loop_per_dim ||
        (given && std::any_of(given->begin(), given->end(), of_fanout))) {
      return;
    }
    DimSet seen;
    for (const Unroll& unroll : unrolling_) {
      require(!of_fanout(unroll) || !seen.contains(unroll.dim), "a dim on both axes of a fanout");
      if (of_fanout(unroll)) {
        seen.insert(unroll.dim);
      }
    }
  }

  // A fanout that is not given obeys its rules.
  void check_rules(FanoutId f) {
    for (const UnrollRule& rule : space_.constraints().unroll) {
      std::int64_t used = 1;
      for (const Axis axis : {Axis::kX, Axis::kY}) {
        PerDim<std::int64_t> factors(workload().dims.size(), 1);
        for (const Unroll& unroll : unrolling_) {
          factors[unroll.dim] *= unroll.fanout == f && unroll.axis == axis ? unroll.factor : 1;
        }
        std::int64_t dims = 0;
        const AxisRule& along = rule.along(axis);
        for (const DimId d : factors.ids()) {
          used *= factors[d];
          dims += factors[d] > 1 ? 1 : 0;
          require(rule.fanout != f || factors[d] == 1 || !along.dims || along.dims->contains(d),
                  "a dim that a rule keeps off an axis");
        }
        require(rule.fanout != f || dims <= along.max_dims.value_or(dims), "too many dims");
        for (const FactorRule& factor : along.factors) {
          require(rule.fanout != f || factor.factors.contains(factors[factor.dim]),
                  "not the factor of a rule");
        }
      }
      const auto size = static_cast<double>(arch().fanouts[f].x * arch().fanouts[f].y);
      require(rule.fanout != f || static_cast<double>(used) >= rule.min_utilization * size,
              "too few instances");
    }
  }

  // What the constraints name of a fanout is all that there is.
  void check_given(FanoutId f) {
    const auto& given = space_.constraints().spatial;
    const auto of_fanout = [f](const Unroll& unroll) { return unroll.fanout == f; };
    if (!given || std::none_of(given->begin(), given->end(), of_fanout)) {
      return;
    }
    const auto factor = [](const Unrolling& unrolling, const Unroll& at) {
      const auto found =
          std::find_if(unrolling.begin(), unrolling.end(), [&](const Unroll& unroll) {
            return unroll.fanout == at.fanout && unroll.axis == at.axis && unroll.dim == at.dim;
          });
      return found == unrolling.end() ? 1 : found->factor;
    };
    for (const DimId d : workload().dims.ids()) {
      for (const Axis axis : {Axis::kX, Axis::kY}) {
        const Unroll at{d, f, axis, 1};
        require(factor(*given, at) == factor(unrolling_, at), "not the given unrolling");
      }
    }
  }

  const Mapspace& space_;
  PerDim<std::int64_t> extents_;
  PerLevel<TensorSet> kept_;
  LevelId last_level_{};
  bool last_parallel_ = false;
  Unrolling unrolling_;
  std::string problem_;
};

}  // namespace

std::string why_outside(const Mapspace& space, const Mapping& mapping) {
  const Problem& problem = space.problem();
  const auto problems = check_structure(problem.arch(), problem.workload(), mapping);
  if (!problems.empty()) {
    return problems.front().what;
  }
  if (!(canonical(problem.workload(), mapping) == mapping)) {
    return "not canonical";
  }
  const std::string why = Membership{space}.check(mapping);
  return why.empty() ? broken_rule(space, mapping) : why;
}

}  // namespace mapsim
