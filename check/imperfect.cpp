// SPDX-License-Identifier: Apache-2.0
#include "check/imperfect.hpp"

#include <algorithm>

#include "check/unfold.hpp"

namespace mapsim::check {

namespace {

// Doubles that a lattice may take (1 GB).
constexpr std::size_t kMostDoubles = 130'000'000;

}  // namespace

ImperfectBound bound_imperfect(const Graph& graph, const Goal& goal, const ExtentDomains& ladders,
                               const Unrolling& unrolling, const Target& target,
                               const Effort& effort) {
  const Problem& problem = graph.problem();
  double steps = 1;
  for (const std::int64_t bound : temporal_bounds(problem.workload(), unrolling.factors)) {
    steps *= static_cast<double>(bound);
  }
  const Price price{problem, graph, goal, steps};
  const std::size_t width = Relaxed::width(graph, price.tracked());
  const std::size_t most = std::min(effort.tiles, kMostDoubles / width);
  ImperfectBound found;
  for (const std::size_t tiles : {kCoarseTiles[0], kCoarseTiles[1], kCoarseTiles[2], most}) {
    const ExtentBins bins{ladders, list_spreads(problem, unrolling), std::min(tiles, most)};
    const Relaxed relaxed{graph, bins, price.tracked(), effort.stop};
    if (effort.stop.is_set()) {
      break;  // it may not be done
    }
    found.states += relaxed.states();
    const Figures least = relaxed.least(price);
    found.bound = std::max(found.bound, target.of(least));
    if (target.is_met_by(least)) {
      found.bound = std::max(found.bound, target.met());
      break;
    }
    if (bins.is_exact()) {
      for (const Memory memory : {Memory::kRooms, Memory::kLoops}) {
        if (effort.labels > 0 && found.bound < target.met()) {
          const ForwardResult walked =
              search_forward(graph, bins, relaxed, goal, target, memory, effort);
          found.labels += walked.labels;
          found.bound = std::max(found.bound, walked.bound);
        }
      }
      break;
    }
    if (tiles >= most) {
      break;
    }
  }
  found.bound = std::min(found.bound, target.met());
  return found;
}

}  // namespace mapsim::check
