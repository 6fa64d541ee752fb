// SPDX-License-Identifier: Apache-2.0
#include "check/spatial.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace mapsim::check {

namespace {

// Ways to have used (x, y) instances along the axes of a fanout, per (x, y).
using Ways = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

// Walks the dims and grows the ways axis by axis: a fanout's factors are admissible if some way is
// left at the end.
class FanoutChoices {
 public:
  FanoutChoices(const Problem& problem, FanoutId fanout)
      : workload_{problem.workload()}, fanout_{problem.arch().fanouts[fanout]} {
    for (const DimId d : workload_.dims.ids()) {
      for (const Axis axis : {Axis::kX, Axis::kY}) {
        if (may_unroll(problem, fanout, axis, d)) {
          (axis == Axis::kX ? x_dims_ : y_dims_).insert(d);
        }
      }
    }
  }

  std::vector<Unrolling> list() {
    PerDim<std::int64_t> factors(workload_.dims.size(), 1);
    descend(0, {{{1, 1}, 1}}, factors);
    return std::move(found_);
  }

 private:
  void descend(std::size_t index, const Ways& ways, PerDim<std::int64_t>& factors) {
    if (index == factors.size()) {
      Unrolling unrolling;
      unrolling.factors.push_back(factors);
      for (const auto& [used, count] : ways) {
        unrolling.assignments += count;
      }
      found_.push_back(unrolling);
      return;
    }
    const auto dim = static_cast<DimId>(index);
    for (const std::int64_t factor : divisors_of(workload_.dims[dim].bound)) {
      const Ways more = factor <= fanout_.x * fanout_.y ? extend(ways, dim, factor) : Ways{};
      if (!more.empty()) {
        factors[dim] = factor;
        descend(index + 1, more, factors);
      }
    }
    factors[dim] = 1;
  }

  Ways extend(const Ways& ways, DimId dim, std::int64_t factor) const {
    Ways more;
    for (const std::int64_t x : divisors_of(factor)) {
      const std::int64_t y = factor / x;
      if ((x > 1 && !x_dims_.contains(dim)) || (y > 1 && !y_dims_.contains(dim))) {
        continue;
      }
      for (const auto& [used, count] : ways) {
        if (used.first * x <= fanout_.x && used.second * y <= fanout_.y) {
          more[{used.first * x, used.second * y}] += count;
        }
      }
    }
    return more;
  }

  const Workload& workload_;
  const Fanout& fanout_;
  DimSet x_dims_;
  DimSet y_dims_;
  std::vector<Unrolling> found_;
};

std::vector<Unrolling> choices(const Problem& problem, const Rules& rules, FanoutId fanout) {
  const auto& given = rules.spatial[fanout];
  if (!given) {
    return FanoutChoices{problem, fanout}.list();
  }
  Unrolling only;
  only.assignments = 1;
  only.factors.push_back((*given)[0]);
  for (const DimId d : problem.workload().dims.ids()) {
    only.factors[FanoutId{0}][d] *= (*given)[1][d];
  }
  return {only};
}

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

}  // namespace

std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i * i <= n; ++i) {
    if (n % i == 0) {
      divisors.push_back(i);
      if (i * i != n) {
        divisors.push_back(n / i);
      }
    }
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

std::vector<Unrolling> list_unrollings(const Problem& problem, const Rules& rules) {
  std::vector<Unrolling> all{{{}, 1}};
  for (const FanoutId f : problem.arch().fanouts.ids()) {
    const std::vector<Unrolling> here = choices(problem, rules, f);
    std::vector<Unrolling> longer;
    for (const Unrolling& above : all) {
      for (const Unrolling& choice : here) {
        Unrolling both = above;
        both.factors.push_back(choice.factors[FanoutId{0}]);
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

PerDim<std::int64_t> temporal_bounds(const Workload& workload, const SpatialFactors& factors) {
  PerDim<std::int64_t> bounds;
  for (const DimId d : workload.dims.ids()) {
    std::int64_t bound = workload.dims[d].bound;
    for (const PerDim<std::int64_t>& along : factors) {
      bound /= along[d];
    }
    bounds.push_back(bound);
  }
  return bounds;
}

}  // namespace mapsim::check
