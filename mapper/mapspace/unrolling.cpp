// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/unrolling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "arch/print.hpp"
#include "core/factor.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

bool may_unroll(const Workload& workload, const AxisConstraint& constraint, DimId dim) {
  if (constraint.unconstrained()) {
    return true;
  }
  const auto& axes = constraint.gemm_axes;
  const auto& names = constraint.dims;
  return std::find(axes.begin(), axes.end(), workload.gemm_axis(dim)) != axes.end() ||
         std::find(names.begin(), names.end(), workload.dims[dim].name) != names.end();
}

namespace {

using Instances = PerDim<std::int64_t>;

// A fanout of a problem, and the rules of its unrollings. It is made anew for each class whose
// members are listed, so its size must not grow with the bounds of dims.
struct Scope {
  FanoutId fanout{};
  std::int64_t x_size = 1;
  std::int64_t y_size = 1;
  DimSet x_dims;
  DimSet y_dims;
  std::optional<Unrolling> given;  // of this fanout only, sorted, factors > 1
  UnrollRule rule;
  bool ruled = false;  // there are rules for an axis
  bool one_axis = false;

  bool may_split(std::int64_t along_x, std::int64_t along_y) const {
    return !one_axis || along_x == 1 || along_y == 1;
  }
};

DimSet allowed_dims(const Workload& workload, const AxisConstraint& constraint) {
  DimSet set;
  for (const DimId d : workload.dims.ids()) {
    if (may_unroll(workload, constraint, d)) {
      set.insert(d);
    }
  }
  return set;
}

bool by_axis_and_dim(const Unroll& a, const Unroll& b) {
  return a.axis != b.axis ? a.axis < b.axis : index_of(a.dim) < index_of(b.dim);
}

// ceil(n / 1), ceil(n / 2), ..., ascending; the divisors of n are among them.
std::vector<std::int64_t> parts(std::int64_t n) {
  std::vector<std::int64_t> found;
  for (std::int64_t k = n; k >= 1; --k) {
    if (const std::int64_t part = (n + k - 1) / k; found.empty() || part != found.back()) {
      found.push_back(part);
    }
  }
  return found;
}

// Per factor: the parts of it that may be along X, with the rest along Y.
std::vector<std::vector<std::int64_t>> splits(const Scope& scope, DimId dim,
                                              const std::vector<std::int64_t>& factors) {
  std::vector<std::vector<std::int64_t>> of_factor;
  for (const std::int64_t factor : factors) {
    std::vector<std::int64_t>& found = of_factor.emplace_back();
    for (const std::int64_t x : factors) {
      if (x > factor || factor > scope.x_size * scope.y_size) {
        break;
      }
      if (factor % x == 0 && x <= scope.x_size && factor / x <= scope.y_size &&
          (x == 1 || scope.x_dims.contains(dim)) && (x == factor || scope.y_dims.contains(dim)) &&
          scope.may_split(x, factor / x)) {
        found.push_back(x);
      }
    }
  }
  return of_factor;
}

Scope scope_of(const Problem& problem, FanoutId fanout, const UnrollingLimits& limits) {
  const Fanout& node = problem.arch().fanouts[fanout];
  const Workload& workload = problem.workload();
  Scope scope{fanout,
              node.x,
              node.y,
              allowed_dims(workload, node.x_dims),
              allowed_dims(workload, node.y_dims),
              {},
              {},
              false,
              limits.one_axis};
  for (const UnrollRule& rule : limits.rules) {
    scope.rule = rule.fanout == fanout ? rule : scope.rule;
  }
  scope.ruled = !(scope.rule.x == AxisRule{} && scope.rule.y == AxisRule{});
  for (const Unroll& unroll : limits.given.value_or(Unrolling{})) {
    if (unroll.fanout == fanout) {
      scope.given = scope.given.value_or(Unrolling{});
      if (unroll.factor > 1) {
        scope.given->push_back(unroll);
      }
    }
  }
  if (scope.given) {
    std::sort(scope.given->begin(), scope.given->end(), by_axis_and_dim);
  }
  return scope;
}

// Lists the ways to give `factors` to the two axes.
class AxisSplitter {
 public:
  AxisSplitter(const Scope& scope, const Instances& factors)
      : scope_{scope}, factors_{factors}, along_x_(factors.size(), 1) {
    for (const DimId d : factors.ids()) {
      if (factors[d] > 1) {
        unrolled_.push_back(d);
        x_factors_.push_back(divisors_of(factors[d]));
      }
    }
  }

  // Calls `visit()` for each way until it returns false; current() returns that way.
  template <class Visit>
  void for_each(Visit visit) {
    split(0, scope_.x_size, scope_.y_size, visit);
  }

  Unrolling current() const {
    Unrolling unrolling;
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      for (const DimId d : unrolled_) {
        if (along(axis, d) > 1) {
          unrolling.push_back({d, scope_.fanout, axis, along(axis, d)});
        }
      }
    }
    return unrolling;
  }

 private:
  std::int64_t along(Axis axis, DimId d) const {
    return axis == Axis::kX ? along_x_[d] : factors_[d] / along_x_[d];
  }

  bool obeys(Axis axis) const {
    const AxisRule& rule = scope_.rule.along(axis);
    std::int64_t dims = 0;
    for (const DimId d : unrolled_) {
      dims += along(axis, d) > 1 ? 1 : 0;
      if (along(axis, d) > 1 && rule.dims && !rule.dims->contains(d)) {
        return false;
      }
    }
    return (!rule.max_dims || dims <= *rule.max_dims) &&
           std::all_of(rule.factors.begin(), rule.factors.end(), [&](const FactorRule& factor) {
             return factor.factors.contains(along(axis, factor.dim));
           });
  }

  bool obeys() const {
    return scope_.given ? *scope_.given == current()
                        : !scope_.ruled || (obeys(Axis::kX) && obeys(Axis::kY));
  }

  template <class Visit>
  bool split(std::size_t index, std::int64_t x_left, std::int64_t y_left, Visit& visit) {
    if (index == unrolled_.size()) {
      return !obeys() || visit();
    }
    const DimId dim = unrolled_[static_cast<DimId>(index)];
    for (const std::int64_t x : x_factors_[index]) {
      if (x > x_left) {
        break;
      }
      const std::int64_t y = factors_[dim] / x;
      if (y <= y_left && (x == 1 || scope_.x_dims.contains(dim)) &&
          (y == 1 || scope_.y_dims.contains(dim)) && (scope_.given || scope_.may_split(x, y))) {
        along_x_[dim] = x;
        if (!split(index + 1, x_left / x, y_left / y, visit)) {
          return false;
        }
      }
    }
    return true;
  }

  const Scope& scope_;
  const Instances& factors_;
  PerDim<DimId> unrolled_;  // dims with a factor > 1
  // For these dims: the parts that may be along X
  std::vector<std::vector<std::int64_t>> x_factors_;
  Instances along_x_;
};

std::int64_t product(const Instances& factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    product *= factor;
  }
  return product;
}

// Do enough instances work?
bool is_busy(const Scope& scope, std::int64_t used) {
  const auto all = static_cast<double>(scope.x_size * scope.y_size);
  return scope.given || static_cast<double>(used) >= scope.rule.min_utilization * all;
}

// Takes `factors` if there is a way to give them to the axes.
void take_choice(const Scope& scope, const Instances& factors, const ChoiceVisitor& visitor) {
  FanoutChoice choice{factors, product(factors), 0};
  if (!is_busy(scope, choice.instances)) {
    return;
  }
  AxisSplitter splitter{scope, factors};
  splitter.for_each([&] {
    ++choice.assignments;
    return true;
  });
  if (choice.assignments > 0) {
    visitor.take(choice);
  }
}

// Visits the choices of a fanout, dim by dim. It carries the ways to give the factors so far to the
// axes: how many of them use how much of X.
class Lister {
 public:
  // `remainders`: also factors that divide no bound.
  Lister(const Scope& scope, const Workload& workload, bool remainders,
         const ChoiceVisitor& visitor)
      : scope_{scope}, visitor_{visitor}, factors_(workload.dims.size(), 1) {
    ways_.front().push_back({1, 1});
    for (const DimId d : workload.dims.ids()) {
      const std::int64_t bound = workload.dims[d].bound;
      choices_.push_back(remainders ? parts(bound) : divisors_of(bound));
      splits_.push_back(splits(scope, d, choices_[d]));
    }
  }

  void run() { list(0, 0, 1); }

 private:
  struct Ways {
    std::int64_t x = 1;
    std::int64_t count = 0;
  };

  // Chooses for the dims from `index` on. The earlier ones take `instances`, in the ways at
  // `depth`.
  void list(std::size_t index, std::size_t depth, std::int64_t instances) {
    const std::int64_t left = scope_.x_size * scope_.y_size / instances;
    if (visitor_.enter && !visitor_.enter(factors_, index, left)) {
      return;
    }
    if (index == factors_.size()) {
      take(ways_[depth], instances);
      return;
    }
    const auto dim = static_cast<DimId>(index);
    const std::vector<std::int64_t>& choices = choices_[dim];
    list(index + 1, depth, instances);
    for (std::size_t i = 1; i < choices.size() && choices[i] <= left; ++i) {
      if (extend(depth, splits_[dim][i], instances * choices[i])) {
        factors_[dim] = choices[i];
        list(index + 1, depth + 1, instances * choices[i]);
      }
    }
    factors_[dim] = 1;
  }

  // Computes the ways at depth + 1, if the factor of one more dim may have these parts along X.
  bool extend(std::size_t depth, const std::vector<std::int64_t>& along_x, std::int64_t instances) {
    std::vector<Ways>& longer = ways_[depth + 1];
    longer.clear();
    for (const auto& [x, count] : ways_[depth]) {
      for (const std::int64_t part : along_x) {
        const std::int64_t all = x * part;
        if (all > scope_.x_size || instances / all > scope_.y_size) {
          continue;
        }
        const auto same = std::find_if(longer.begin(), longer.end(),
                                       [all](const Ways& ways) { return ways.x == all; });
        if (same != longer.end()) {
          same->count += count;
        } else {
          longer.push_back({all, count});
        }
      }
    }
    return !longer.empty();
  }

  void take(const std::vector<Ways>& ways, std::int64_t instances) {
    if (scope_.ruled) {
      take_choice(scope_, factors_, visitor_);
      return;
    }
    if (!is_busy(scope_, instances)) {
      return;
    }
    FanoutChoice choice{factors_, instances, 0};
    for (const auto& [x, count] : ways) {
      choice.assignments += count;
    }
    visitor_.take(choice);
  }

  const Scope& scope_;
  const ChoiceVisitor& visitor_;
  Instances factors_;
  PerDim<std::vector<std::int64_t>> choices_;              // factors that a dim may have, ascending
  PerDim<std::vector<std::vector<std::int64_t>>> splits_;  // [dim][index of a factor]
  std::array<std::vector<Ways>, kMaxDims + 1> ways_;       // by dims with a factor > 1 so far
};

// A list of so many takes some hundred megabytes.
constexpr std::size_t kMostChoices = 1'000'000;

}  // namespace

std::vector<std::string> idle_axes(const Problem& problem) {
  std::vector<std::string> warnings;
  const Workload& workload = problem.workload();
  for (const Fanout& fanout : problem.arch().fanouts) {
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      const AxisConstraint& constraint = fanout.dims(axis);
      if (fanout.size(axis) > 1 && allowed_dims(workload, constraint).empty()) {
        warnings.push_back(
            fmt::format("axis {} of {} takes {}: {} has none of them, so that the axis stays idle",
                        to_string(axis), fanout.name, dims_text(constraint), workload.name));
      }
    }
  }
  return warnings;
}

std::vector<UnrollingClass> by_instances(std::vector<UnrollingClass> classes) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (const UnrollingClass& unrolling_class : classes) {
    std::int64_t instances = 1;
    for (const Instances& factors : unrolling_class.factors) {
      instances *= product(factors);
    }
    order.emplace_back(instances, order.size());
  }
  std::sort(order.begin(), order.end());
  std::vector<UnrollingClass> sorted;
  sorted.reserve(classes.size());
  for (const auto& [count, index] : order) {
    sorted.push_back(std::move(classes[index]));
  }
  return sorted;
}

void visit_choices(const Problem& problem, FanoutId fanout, const UnrollingLimits& limits,
                   const ChoiceVisitor& visitor) {
  const Scope scope = scope_of(problem, fanout, limits);
  if (!scope.given) {
    Lister(scope, problem.workload(), limits.remainders, visitor).run();
    return;
  }
  Instances factors(problem.workload().dims.size(), 1);
  for (const Unroll& unroll : *scope.given) {
    factors[unroll.dim] *= unroll.factor;
  }
  take_choice(scope, factors, visitor);
}

std::vector<FanoutChoice> choices_of(const Problem& problem, FanoutId fanout,
                                     const UnrollingLimits& limits) {
  std::vector<FanoutChoice> found;
  visit_choices(problem, fanout, limits,
                {{}, [&](const FanoutChoice& choice) {
                   if (found.size() == kMostChoices) {
                     throw UnsupportedSearch(
                         fmt::format("more than {} unrollings over {}, too many to "
                                     "list; give an unrolling or rules for it",
                                     kMostChoices, problem.arch().fanouts[fanout].name));
                   }
                   found.push_back(choice);
                 }});
  return found;
}

std::vector<Unrolling> axis_assignments(const Problem& problem, const UnrollingLimits& limits,
                                        FanoutId fanout, const PerDim<std::int64_t>& factors) {
  const Scope scope = scope_of(problem, fanout, limits);
  std::vector<Unrolling> all;
  AxisSplitter splitter{scope, factors};
  splitter.for_each([&] {
    all.push_back(splitter.current());
    return true;
  });
  return all;
}

Unrolling first_assignment(const Problem& problem, const UnrollingLimits& limits, FanoutId fanout,
                           const PerDim<std::int64_t>& factors) {
  const Scope scope = scope_of(problem, fanout, limits);
  Unrolling first;
  AxisSplitter splitter{scope, factors};
  splitter.for_each([&] {
    first = splitter.current();
    return false;
  });
  return first;
}

std::vector<Unrolling> axis_assignments(const Problem& problem, const UnrollingLimits& limits,
                                        const UnrollingClass& unrolling_class) {
  std::vector<Unrolling> all{{}};
  for (const FanoutId f : unrolling_class.factors.ids()) {
    const std::vector<Unrolling> ways =
        axis_assignments(problem, limits, f, unrolling_class.factors[f]);
    std::vector<Unrolling> extended;
    for (const Unrolling& above : all) {
      for (const Unrolling& here : ways) {
        Unrolling& added = extended.emplace_back(above);
        added.insert(added.end(), here.begin(), here.end());
      }
    }
    all = std::move(extended);
  }
  return all;
}

Unrolling with_idle_fanouts(Unrolling unrolling, const Arch& arch) {
  for (const FanoutId f : arch.fanouts.ids()) {
    if (std::none_of(unrolling.begin(), unrolling.end(),
                     [f](const Unroll& unroll) { return unroll.fanout == f; })) {
      unrolling.push_back({DimId{0}, f, Axis::kX, 1});
    }
  }
  return unrolling;
}

PerDim<std::int64_t> temporal_bounds(const Workload& workload,
                                     const UnrollingClass& unrolling_class) {
  PerDim<std::int64_t> bounds;
  for (const DimId d : workload.dims.ids()) {
    std::int64_t bound = workload.dims[d].bound;
    for (const Instances& factors : unrolling_class.factors) {
      bound = (bound + factors[d] - 1) / factors[d];
    }
    bounds.push_back(bound);
  }
  return bounds;
}

}  // namespace mapsim
