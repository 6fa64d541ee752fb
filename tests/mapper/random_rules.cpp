// SPDX-License-Identifier: Apache-2.0
#include "random_rules.hpp"

#include <algorithm>
#include <vector>

#include "core/factor.hpp"

namespace mapsim {
namespace {

bool one_in(Rng& rng, std::uint64_t n) { return rng.below(n) == 0; }

// Divisors of the bound or, imperfect, any numbers up to it.
Allowed random_allowed(Rng& rng, std::int64_t bound, bool imperfect) {
  std::vector<std::int64_t> sizes = divisors_of(bound);
  for (std::int64_t n = 1; n <= bound && imperfect; ++n) {
    sizes.push_back(n);
  }
  const auto any = [&] { return sizes[rng.below(sizes.size())]; };
  Allowed allowed;
  switch (rng.below(4)) {
    case 0:
      allowed.least = any();
      break;
    case 1:
      allowed.most = any();
      break;
    case 2:
      allowed.values = {any()};
      break;
    default:
      allowed.values = {any(), any()};
  }
  std::sort(allowed.values.begin(), allowed.values.end());
  return allowed;
}

DimSet random_dims(Rng& rng, const Workload& workload, std::uint64_t all_but_one_in) {
  DimSet dims;
  for (const DimId d : workload.dims.ids()) {
    if (!one_in(rng, all_but_one_in)) {
      dims.insert(d);
    }
  }
  return dims;
}

AxisRule random_axis_rule(Rng& rng, const Workload& workload, bool imperfect) {
  AxisRule rule;
  if (one_in(rng, 3)) {
    rule.dims = random_dims(rng, workload, 3);
  }
  if (one_in(rng, 4)) {
    const auto dim = static_cast<DimId>(rng.below(workload.dims.size()));
    rule.factors.push_back({dim, random_allowed(rng, workload.dims[dim].bound, imperfect)});
  }
  if (one_in(rng, 4)) {
    rule.max_dims = static_cast<std::int64_t>(rng.below(2));
  }
  return rule;
}

LoopRule random_loop_rule(Rng& rng, const Workload& workload, bool imperfect) {
  LoopRule rule;
  if (one_in(rng, 2)) {
    rule.ordered = true;
    rule.order = std::vector<DimSet>(1 + rng.below(3));
    for (const DimId d : workload.dims.ids()) {
      if (!one_in(rng, 5)) {
        rule.order[rng.below(rule.order.size())].insert(d);
      }
    }
    std::erase(rule.order, DimSet{});
  }
  for (const DimId d : workload.dims.ids()) {
    if (one_in(rng, 4)) {
      rule.factors.push_back({d, random_allowed(rng, workload.dims[d].bound, imperfect)});
    } else if (one_in(rng, 10)) {
      rule.rest.insert(d);
    }
  }
  return rule;
}

}  // namespace

void add_random_rules(Rng& rng, const Problem& problem, Constraints& constraints) {
  const bool imperfect = constraints.factors.imperfect;
  const Arch& arch = problem.arch();
  const Workload& workload = problem.workload();
  for (const FanoutId f : arch.fanouts.ids()) {
    if (!constraints.spatial && one_in(rng, 2)) {
      constraints.unroll.push_back({f, random_axis_rule(rng, workload, imperfect),
                                    random_axis_rule(rng, workload, imperfect),
                                    0.25 * static_cast<double>(rng.below(4))});
    }
  }
  for (std::uint64_t rules = rng.below(4); rules > 0; --rules) {
    const auto level = static_cast<LevelId>(1 + rng.below(arch.levels.size() - 1));
    const auto tensor = static_cast<TensorId>(rng.below(workload.tensors.size()));
    for (const DimId d : workload.dims.ids()) {
      if (workload.tensors[tensor].dims().contains(d) && one_in(rng, 2)) {
        constraints.extents.push_back({level, tensor, d,
                                       random_allowed(rng, workload.dims[d].bound, imperfect),
                                       one_in(rng, 5)});
      }
    }
  }
  for (std::size_t l = 1; l <= arch.levels.size(); ++l) {
    for (const FanoutId f : arch.fanouts.ids()) {
      if (arch.levels_above[f] == l && one_in(rng, 3)) {
        constraints.loops.push_back(random_loop_rule(rng, workload, imperfect));
        constraints.loops.back().fanout = f;
      }
    }
    if (l < arch.levels.size() && constraints.even && one_in(rng, 2)) {
      constraints.loops.push_back(random_loop_rule(rng, workload, imperfect));
      constraints.loops.back().level = static_cast<LevelId>(l);
    }
  }
  if (one_in(rng, 3)) {
    constraints.loops.push_back(random_loop_rule(rng, workload, imperfect));
  }
  constraints.one_loop_per_dim = !imperfect && one_in(rng, 2);
}

}  // namespace mapsim
