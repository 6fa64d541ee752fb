// SPDX-License-Identifier: Apache-2.0
#include "check/balanced.hpp"

#include <algorithm>
#include <array>

#include "check/unfold.hpp"

namespace mapsim::check {

namespace {

// Tiles of the coarse lattices that are tried first, and doubles that one may take (1 GB).
constexpr std::array<std::size_t, 3> kCoarse{300, 3'000, 30'000};
constexpr std::size_t kMostDoubles = 130'000'000;

}  // namespace

BalancedBound bound_balanced(const Graph& graph, const Goal& goal, const Ladders& ladders,
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
  BalancedBound found;
  for (const std::size_t tiles : {kCoarse[0], kCoarse[1], kCoarse[2], most}) {
    const Rungs rungs{ladders, list_spreads(problem, unrolling), std::min(tiles, most)};
    const Relaxed relaxed{graph, rungs, price.tracked()};
    found.states += relaxed.states();
    const Figures least = relaxed.least(price);
    found.bound = std::max(found.bound, target.of(least));
    if (target.is_met_by(least)) {
      found.bound = std::max(found.bound, target.met());
      break;
    }
    if (rungs.is_exact()) {
      for (const Memory memory : {Memory::kRooms, Memory::kLoops}) {
        if (effort.labels > 0 && found.bound < target.met()) {
          const Unfolding walked =
              unfold(graph, rungs, relaxed, goal, target, memory, effort.labels);
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
