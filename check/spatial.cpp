// SPDX-License-Identifier: Apache-2.0
#include "check/spatial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/factor.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim::check {

namespace {

// What the axes of a fanout have been given so far: instances, and dims with more than one.
struct AxisUse {
  std::array<std::int64_t, 2> instances{1, 1};
  std::array<std::int64_t, 2> dims{0, 0};
  std::vector<std::int64_t> along_x;  // per dim, where hops cost something
  friend auto operator<=>(const AxisUse&, const AxisUse&) = default;
};
// The number of ways to have given it.
using AxisWays = std::map<AxisUse, std::int64_t>;

// Lists the choices of a fanout: for each dim it extends the ways to give factors to the axes;
// factors are admissible if some way remains.
class FanoutChoices {
 public:
  FanoutChoices(const Problem& problem, const Rules& rules, FanoutId fanout)
      : workload_{problem.workload()},
        fanout_{problem.arch().fanouts[fanout]},
        places_matter_{problem.places_matter()},
        once_{rules.once},
        rules_{rules.unroll[fanout]},
        least_{rules.min_utilization[fanout] * static_cast<double>(fanout_.x * fanout_.y)} {
    for (const DimId d : workload_.dims.ids()) {
      for (const Axis axis : {Axis::kX, Axis::kY}) {
        if (may_unroll(problem, fanout, axis, d)) {
          dims_[static_cast<std::size_t>(axis)].insert(d);
        }
      }
    }
  }

  std::vector<Unrolling> list() {
    PerDim<std::int64_t> factors(workload_.dims.size(), 1);
    descend(0, {{AxisUse{}, 1}}, factors);
    return std::move(found_);
  }

 private:
  void descend(std::size_t index, const AxisWays& ways, PerDim<std::int64_t>& factors) {
    if (index == factors.size()) {
      finish(ways, factors);
      return;
    }
    const auto dim = static_cast<DimId>(index);
    for (const std::int64_t factor : divisors_of(workload_.dims[dim].bound)) {
      const AxisWays more =
          factor <= fanout_.x * fanout_.y ? extend(ways, dim, factor) : AxisWays{};
      if (!more.empty()) {
        factors[dim] = factor;
        descend(index + 1, more, factors);
      }
    }
    factors[dim] = 1;
  }

  void finish(const AxisWays& ways, const PerDim<std::int64_t>& factors) {
    Unrolling all;
    all.factors.push_back(factors);
    for (const auto& [used_axes, count] : ways) {
      const auto used = static_cast<double>(used_axes.instances[0] * used_axes.instances[1]);
      if (used >= least_ && places_matter_) {
        found_.push_back({all.factors, {}, 1});
        Rules::AxisFactors axes{factors, factors};
        for (const DimId d : factors.ids()) {
          axes[0][d] = used_axes.along_x[index_of(d)];
          axes[1][d] = factors[d] / axes[0][d];
        }
        found_.back().axes.push_back(axes);
      } else if (used >= least_) {
        all.assignments += count;
      }
    }
    if (all.assignments > 0) {
      found_.push_back(all);
    }
  }

  AxisWays extend(const AxisWays& ways, DimId dim, std::int64_t factor) const {
    AxisWays more;
    for (const std::int64_t x : divisors_of(factor)) {
      if (once_ && x != 1 && x != factor) {
        continue;
      }
      for (const auto& [used_axes, count] : ways) {
        AxisUse next = used_axes;
        if (places_matter_) {
          next.along_x.push_back(x);
        }
        if (take(next, Axis::kX, dim, x) && take(next, Axis::kY, dim, factor / x)) {
          more[next] += count;
        }
      }
    }
    return more;
  }

  bool take(AxisUse& used_axes, Axis axis, DimId dim, std::int64_t factor) const {
    const auto along = static_cast<std::size_t>(axis);
    used_axes.instances[along] *= factor;
    used_axes.dims[along] += factor > 1 ? 1 : 0;
    return used_axes.instances[along] <= fanout_.size(axis) &&
           used_axes.dims[along] <= rules_[along].max_dims.value_or(kMaxInteger) &&
           (factor == 1 || dims_[along].contains(dim)) && rules_[along].allow(dim, factor);
  }

  const Workload& workload_;
  const Fanout& fanout_;
  bool places_matter_;
  bool once_;  // a dim goes along one axis only
  const std::array<AxisRules, 2>& rules_;
  double least_;                // instances that must work
  std::array<DimSet, 2> dims_;  // dims that the architecture allows
  std::vector<Unrolling> found_;
};

bool divides_bounds(const Workload& workload, const SpatialFactors& factors) {
  for (const DimId d : workload.dims.ids()) {
    std::int64_t product = 1;
    for (const PerDim<std::int64_t>& along : factors) {
      product *= along[d];
    }
    if (workload.dims[d].bound % product != 0) {
      return false;
    }
  }
  return true;
}

// "K 16, C 2"
std::string factors_text(const Workload& workload, const PerDim<std::int64_t>& factors) {
  std::string text;
  for (const DimId d : factors.ids()) {
    if (factors[d] > 1) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", workload.dims[d].name, factors[d]);
    }
  }
  return text;
}

}  // namespace

std::vector<Unrolling> list_choices(const Problem& problem, const Rules& rules, FanoutId fanout) {
  const auto& given = rules.spatial[fanout];
  if (!given) {
    return FanoutChoices{problem, rules, fanout}.list();
  }
  Unrolling only;
  only.assignments = 1;
  only.factors.push_back((*given)[0]);
  if (problem.places_matter()) {
    only.axes.push_back(*given);
  }
  for (const DimId d : problem.workload().dims.ids()) {
    only.factors[FanoutId{0}][d] *= (*given)[1][d];
  }
  return {only};
}

std::vector<Unrolling> list_unrollings(const Problem& problem, const Rules& rules) {
  std::vector<Unrolling> all{{{}, {}, 1}};
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    const std::vector<Unrolling> here = list_choices(problem, rules, f);
    std::vector<Unrolling> longer;
    for (const Unrolling& above : all) {
      for (const Unrolling& choice : here) {
        Unrolling both = above;
        both.factors.push_back(choice.factors[FanoutId{0}]);
        if (!choice.axes.empty()) {
          both.axes.push_back(choice.axes[FanoutId{0}]);
        }
        both.assignments *= choice.assignments;
        if (divides_bounds(problem.workload(), both.factors)) {
          longer.push_back(both);
        }
      }
    }
    all = std::move(longer);
  }
  return all;
}

std::optional<TensorSet> may_stay_in_array(const Problem& problem, const Unrolling& unrolling) {
  const ArrayModel* model = timing_model(problem.arch()).array;
  if (model == nullptr) {
    return std::nullopt;
  }
  const Rules::AxisFactors& axes = unrolling.axes[*array_of(problem.arch())];
  return model->may_stay(problem, {axes[0], axes[1]});
}

PerDim<std::int64_t> temporal_bounds(const Workload& workload, const SpatialFactors& factors) {
  PerDim<std::int64_t> bounds;
  for (const DimId d : workload.dims.ids()) {
    std::int64_t instances = 1;
    for (const PerDim<std::int64_t>& along : factors) {
      instances *= along[d];
    }
    bounds.push_back((workload.dims[d].bound + instances - 1) / instances);
  }
  return bounds;
}

std::string unrolling_text(const Problem& problem, const Unrolling& unrolling) {
  const Workload& workload = problem.workload();
  std::string text;
  for (const FanoutId f : unrolling.factors.ids()) {
    std::string along = factors_text(workload, unrolling.factors[f]);
    if (along.empty()) {
      continue;
    }
    if (!unrolling.axes.empty()) {
      along = fmt::format("X {}, Y {}", factors_text(workload, unrolling.axes[f][0]),
                          factors_text(workload, unrolling.axes[f][1]));
    }
    text +=
        fmt::format("{}{}: {}", text.empty() ? "" : "; ", problem.arch().fanouts[f].name, along);
  }
  return text.empty() ? "nothing unrolled" : text;
}

}  // namespace mapsim::check
