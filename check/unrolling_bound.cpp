// SPDX-License-Identifier: Apache-2.0
#include "check/unrolling_bound.hpp"

#include <algorithm>

#include "check/label_search.hpp"
#include "check/perfect_costs.hpp"
#include "check/traffic_bounds.hpp"

namespace mapsim::check {

namespace {

// Limit of the doubles of a lattice (1 GB).
constexpr std::size_t kMostDoubles = 130'000'000;

// The inputs that all lattices of an unrolling share.
struct Question {
  const Graph& graph;
  const Goal& goal;
  const PathObjective& objective;
  const Target& target;
  const Effort& effort;
  double steps;  // lower bound of the compute units' steps
};

// Bounds the unrolling on one lattice. Returns true if no other lattice is needed or can help.
bool is_decided(const Question& of, EdgeCosts& costs, ArrayTimes* array, BoundedUnrolling& found) {
  const CompletionBound bound{of.graph, costs, array, of.effort.stop};
  if (of.effort.stop.is_set()) {
    return true;  // rows may be missing
  }
  found.states += bound.states();
  double least = of.target.threshold();
  bool met = true;
  for (const Figures& figures : bound.of_whole_walks(of.objective, of.steps)) {
    met = met && of.target.is_met_by(figures);
    least = std::min(least, of.target.of(figures));
  }
  found.bound = std::max(found.bound, met ? of.target.threshold() : least);
  if (met || !costs.lattice().is_exact()) {
    return met;
  }
  const auto search = [&](History history) {
    const SearchResult searched = search_labels(of.graph, costs, bound, array, of.objective,
                                                of.steps, of.goal, of.target, history, of.effort);
    found.labels += searched.labels;
    found.better = searched.better;
    found.bound = std::max(found.bound, searched.bound);
  };
  if (costs.lattice().is_perfect()) {
    search(History::kNone);
  } else if (of.effort.labels > 0) {
    search(History::kNone);
    if (found.bound < of.target.threshold()) {
      search(History::kLoopChains);
    }
  }
  return true;
}

BoundedUnrolling bound_perfect(const Question& of, const Unrolling& unrolling) {
  BoundedUnrolling all{of.target.threshold(), {}, 0, 0};
  for (const BlockedUnrolling& part : list_blocked_unrollings(of.graph.problem(), unrolling)) {
    const Lattice lattice{part.bounds, part.blocks, of.graph.entry()};
    PerfectCosts costs{of.graph, part, lattice, of.objective.tracked()};
    std::optional<ArrayTimes> array;
    if (of.objective.times_array()) {
      array.emplace(of.graph, part, lattice, costs);
    }
    BoundedUnrolling found;
    is_decided(of, costs, array ? &*array : nullptr, found);
    all.states += found.states;
    all.labels += found.labels;
    all.bound = std::min(all.bound, found.bound);
    if (found.better) {
      all.better = found.better;
      break;
    }
  }
  return all;
}

BoundedUnrolling bound_imperfect(const Question& of, const ExtentDomains& domains,
                                 const Unrolling& unrolling) {
  const std::size_t width = CompletionBound::width(of.graph, of.objective.tracked());
  const std::size_t most = std::min(of.effort.tiles, kMostDoubles / width);
  BoundedUnrolling found;
  for (const std::size_t tiles : {kCoarseTiles[0], kCoarseTiles[1], kCoarseTiles[2], most}) {
    const Lattice lattice{domains, list_parallel_loops(of.graph.problem(), unrolling),
                          std::min(tiles, most)};
    TrafficBounds costs{of.graph, lattice, of.objective.tracked()};
    if (is_decided(of, costs, nullptr, found) || tiles >= most) {
      break;
    }
  }
  found.bound = std::min(found.bound, of.target.threshold());
  return found;
}

}  // namespace

BoundedUnrolling bound_unrolling(const Graph& graph, const Goal& goal, const ExtentDomains& domains,
                                 const Unrolling& unrolling, const Target& target,
                                 const Effort& effort) {
  const Problem& problem = graph.problem();
  double steps = 1;
  const PerDim<std::int64_t> bounds = temporal_bounds(problem.workload(), unrolling.factors);
  for (const DimId d : bounds.ids()) {
    steps *= graph.entry().mean_size(d, bounds[d]);  // a dim whose size varies is not unrolled
  }
  const PathObjective objective{problem, graph, goal};
  const Question question{graph, goal, objective, target, effort, steps};
  return graph.rules().imperfect ? bound_imperfect(question, domains, unrolling)
                                 : bound_perfect(question, unrolling);
}

}  // namespace mapsim::check
