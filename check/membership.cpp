// SPDX-License-Identifier: Apache-2.0
#include "check/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "check/extent_domains.hpp"
#include "check/regions.hpp"
#include "core/arithmetic.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

class Reading {
 public:
  Reading(const Problem& problem, const Rules& rules)
      : problem_{problem},
        rules_{rules},
        extents_{bounds_of(problem.workload())},
        begun_{extents_},
        left_(extents_.size(), 1),
        domains_{rules.imperfect ? list_extent_domains(problem.workload(), rules)
                                 : ExtentDomains{}},
        kept_(problem.arch().levels.size()),
        used_(problem.arch().fanouts.size()) {
    const PerDim<std::int64_t> ones(extents_.size(), 1);
    for (Rules::AxisFactors& factors : used_) {
      factors = {ones, ones};
    }
  }

  std::string read(const Mapping& mapping) {
    prepare(mapping);
    for (const MappingNode& node : mapping.nodes) {
      std::visit([this](const auto& known) { take(known); }, node);
      before_ = &node;
    }
    check_keeps();
    check_unrolling();
    check_regions();
    return wrong_;
  }

 private:
  // Prepares what rules for loops need: the fanouts, and the bounds that temporal loops cut.
  void prepare(const Mapping& mapping) {
    PerDim<std::int64_t> extents = extents_;
    for (const MappingNode& node : mapping.nodes) {
      if (const auto* parallel = std::get_if<Parallel>(&node)) {
        extents[parallel->dim] = parallel->extent;
        if (fanouts_.empty() || fanouts_.back() != parallel->fanout) {
          fanouts_.push_back(parallel->fanout);
        }
      } else if (const auto* loop = std::get_if<Temporal>(&node)) {
        left_[loop->dim] *= ceil_div(extents[loop->dim], loop->extent);
        extents[loop->dim] = loop->extent;
      }
    }
    regions_.emplace(problem_, rules_, fanouts_);
  }

  void pass_to(std::size_t region) {
    const auto state = regions_->enter(region_, state_, region);
    require(state.has_value(), "loops that the rules ask for are missing");
    require(!rules_.imperfect || regions_->allow(region_, region, begun_, extents_),
            "loops that make more tiles, or fewer, than the rules allow");
    begun_ = region_ == region ? begun_ : extents_;
    region_ = region;
    state_ = state.value_or(0);
  }
  std::size_t levels_passed() const { return index_of(deepest_) + 1; }

  void require(bool holds, const std::string& otherwise) {
    if (!holds && wrong_.empty()) {
      wrong_ = otherwise;
    }
  }

  void take(const Keep& keep) {
    since_ = {};
    const std::string& name = problem_.arch().levels[keep.level].name;
    if (rules_.even) {
      require(kept_[keep.level].empty(), fmt::format("the keeps of {} stand apart", name));
      require(deepest_ <= keep.level, fmt::format("{} stands below a level further in", name));
      deepest_ = keep.level;
    }
    kept_[keep.level] = kept_[keep.level] | keep.tensors;
    for (const TensorId t : problem_.workload().tensors.ids()) {
      require(!keep.tensors.contains(t) || allows_extents(rules_, keep.level, t, extents_, left_),
              fmt::format("the extents of {} at {} are not allowed",
                          problem_.workload().tensors[t].name, name));
    }
    pass_to(regions_->behind(crossed_, levels_passed()));
  }

  std::int64_t cut(DimId dim, std::int64_t extent) {
    const std::int64_t factor = ceil_div(extents_[dim], extent);
    const std::string& name = problem_.workload().dims[dim].name;
    if (rules_.imperfect) {
      require(std::binary_search(domains_[dim].begin(), domains_[dim].end(), extent),
              fmt::format("tiles of {} may not measure {}", name, extent));
    } else {
      require(extents_[dim] % extent == 0,
              fmt::format("the extents of {} do not divide each other", name));
    }
    extents_[dim] = extent;
    return factor;
  }

  void take(const Temporal& loop) {
    const std::int64_t factor = cut(loop.dim, loop.extent);
    require(!rules_.once || !since_.contains(loop.dim),
            fmt::format("a second loop over {} with no keep or fanout between the two",
                        problem_.workload().dims[loop.dim].name));
    since_.insert(loop.dim);
    const std::int64_t read = rules_.imperfect ? Region::kAnyFactor : factor;
    const auto state =
        wrong_.empty() ? (*regions_)[region_].after(state_, loop.dim, read) : std::nullopt;
    require(state.has_value(), fmt::format("a loop over {} that the rules do not allow",
                                           problem_.workload().dims[loop.dim].name));
    state_ = state.value_or(0);
    left_[loop.dim] /= factor;
  }

  void take(const Parallel& loop) {
    since_ = {};
    const std::string& name = problem_.arch().fanouts[loop.fanout].name;
    const auto place = [](const Parallel& at) { return std::tuple{at.fanout, at.axis, at.dim}; };
    require(used_[loop.fanout] == Rules::AxisFactors{ones(), ones()} ||
                (before_ != nullptr && std::holds_alternative<Parallel>(*before_) &&
                 place(std::get<Parallel>(*before_)) < place(loop)),
            fmt::format("the parallel loops of {} stand apart or out of order", name));
    require(may_unroll(problem_, loop.fanout, loop.axis, loop.dim),
            fmt::format("{} may not be unrolled over {} of {}",
                        problem_.workload().dims[loop.dim].name, to_string(loop.axis), name));
    while (crossed_ == 0 || fanouts_[crossed_ - 1] != loop.fanout) {
      ++crossed_;
    }
    pass_to(regions_->behind(crossed_, levels_passed()));
    const std::int64_t tile = extents_[loop.dim];
    const std::int64_t instances = cut(loop.dim, loop.extent);
    begun_[loop.dim] = loop.extent;  // the region below begins behind all of them
    require(ceil_div(tile, instances) == loop.extent,
            fmt::format("a block of {} is larger than {} instances need",
                        problem_.workload().dims[loop.dim].name, instances));
    used_[loop.fanout][static_cast<std::size_t>(loop.axis)][loop.dim] *= instances;
  }

  // Levels that end a region must keep something, and the last region may end.
  void check_regions() {
    for (const LevelId l : kept_.ids()) {
      require(!regions_->ends_at(l) || !kept_[l].empty(),
              fmt::format("nothing is kept at {}, which has rules for loops",
                          problem_.arch().levels[l].name));
    }
    require(region_ + 1 == regions_->size() && (*regions_)[region_].may_end(state_),
            "loops that the rules ask for are missing");
    require(!rules_.imperfect || regions_->allow(region_, regions_->size(), begun_, extents_),
            "loops that make more tiles, or fewer, than the rules allow");
  }

  void check_keeps() {
    for (const LevelId l : kept_.ids()) {
      for (const TensorId t : problem_.workload().tensors.ids()) {
        const bool kept = kept_[l].contains(t);
        require(
            kept ? may_keep(problem_, rules_, l, t) : !must_keep(problem_, rules_, l, t),
            fmt::format("{} {} {}", problem_.workload().tensors[t].name,
                        kept ? "must bypass" : "must be kept at", problem_.arch().levels[l].name));
      }
    }
  }

  void check_unrolling() {
    for (const FanoutId f : used_.ids()) {
      const auto& given = rules_.spatial[f];
      const std::string& name = problem_.arch().fanouts[f].name;
      require(!given || *given == used_[f], fmt::format("not the given unrolling of {}", name));
      require(given || allows_unrolling(problem_, rules_, f, used_[f]),
              fmt::format("an unrolling of {} that the rules do not allow", name));
    }
  }

  PerDim<std::int64_t> ones() const { return PerDim<std::int64_t>(extents_.size(), 1); }

  const Problem& problem_;
  const Rules& rules_;
  PerDim<std::int64_t> extents_;
  PerDim<std::int64_t> begun_;  // extents at which the region began
  PerDim<std::int64_t> left_;   // what temporal loops further in cut of them
  DimSet since_;                // dims with a loop since the last keep or fanout
  ExtentDomains domains_;       // of an imperfect space
  PerLevel<TensorSet> kept_;
  PerFanout<Rules::AxisFactors> used_;
  const MappingNode* before_ = nullptr;
  LevelId deepest_{};
  std::vector<FanoutId> fanouts_;
  std::optional<Regions> regions_;
  std::size_t crossed_ = 0;  // fanouts
  std::size_t region_ = 0;
  std::size_t state_ = 0;
  std::string wrong_;
};

}  // namespace

std::string why_outside(const Problem& problem, const Rules& rules, const Mapping& mapping) {
  if (!(canonical(problem.workload(), mapping) == mapping)) {
    return "it has loops that do nothing or could be joined";
  }
  return Reading{problem, rules}.read(mapping);
}

}  // namespace mapsim::check
