// SPDX-License-Identifier: Apache-2.0
#include "check/prover.hpp"

#include <algorithm>

#include "check/closed_form_bound.hpp"
#include "check/geometry.hpp"
#include "check/unrolling_bound.hpp"

namespace mapsim::check {

Prover::Prover(const Certificate& certificate, const CheckOptions& options, Verdict& verdict)
    : certificate_{certificate},
      options_{options},
      problem_{certificate.problem},
      verdict_{verdict},
      domains_{is_imperfect() ? list_extent_domains(problem_.workload(), certificate.rules)
                              : ExtentDomains{}} {}

BoundedUnrolling Prover::bound_of(const Unrolling& unrolling, const Target& target,
                                  const Effort& effort) {
  const Goal& goal = certificate_.goal;
  BoundedUnrolling found;
  for (const Paths paths : ways_to_bound(certificate_.rules, goal)) {
    if (paths > effort.paths) {
      break;
    }
    const Figures closed_form =
        closed_form_bound(problem_, certificate_.rules, goal, unrolling, paths);
    if (target.is_met_by(closed_form)) {
#pragma omp atomic
      ++verdict_.by_unrolling_bound;
      found.bound = target.threshold();
      return found;
    }
    found.bound = std::max(found.bound, target.of(closed_form));
  }
  if (effort.tiles == 0) {
    return found;
  }
  const double closed_form = std::min(found.bound, target.threshold());
  found =
      bound_unrolling(*graphs_.at(kind_of(unrolling)), goal, domains_, unrolling, target, effort);
#pragma omp atomic
  verdict_.states += found.states;
#pragma omp atomic
  verdict_.labels += found.labels;
  std::int64_t& proven = found.labels > 0 ? verdict_.by_label_search : verdict_.by_completion_bound;
#pragma omp atomic
  ++proven;
  found.bound = std::max(found.bound, closed_form);
  return found;
}

double Prover::bound_of(const ChoiceRanges& ranges, const Target& target) const {
  double bound = 0;
  for (const Paths paths : ways_to_bound(certificate_.rules, certificate_.goal)) {
    const Figures figures =
        closed_form_bound(problem_, certificate_.rules, certificate_.goal, ranges, paths);
    bound = std::max(bound, target.is_met_by(figures) ? target.threshold() : target.of(figures));
    if (bound >= target.threshold() || paths == Paths::kTogether) {  // phases take too long
      break;
    }
  }
  return bound;
}

bool Prover::is_closed(const ChoiceRanges& ranges, const Target& target) const {
  return bound_of(ranges, target) >= target.threshold();
}

Prover::Kind Prover::kind_of(const Unrolling& unrolling) const {
  if (is_imperfect()) {
    std::vector<FanoutId> used;
    for (const ParallelLoops& loops : list_parallel_loops(problem_, unrolling)) {
      used.push_back(loops.fanout);
    }
    return {used, 0};
  }
  const auto stays = may_stay_in_array(problem_, unrolling);
  return {list_blocked_unrollings(problem_, unrolling).front().used, stays ? stays->bits() : 0};
}

void Prover::prepare_graph(const Unrolling& unrolling) {
  const Kind kind = kind_of(unrolling);
  std::unique_ptr<Graph>& graph = graphs_[kind];
  if (!graph) {
    const auto stays = is_imperfect() ? std::nullopt : may_stay_in_array(problem_, unrolling);
    graph = std::make_unique<Graph>(problem_, certificate_.rules, kind.first, stays);
  }
}

std::vector<std::int64_t> key_of(const Unrolling& unrolling) {
  std::vector<std::int64_t> flat;
  for (const PerDim<std::int64_t>& along : unrolling.factors) {
    flat.insert(flat.end(), along.begin(), along.end());
  }
  for (const Rules::AxisFactors& axes : unrolling.axes) {
    flat.insert(flat.end(), axes[0].begin(), axes[0].end());
  }
  return flat;
}

}  // namespace mapsim::check
