// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/per_tensor_bound.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "mapper/bounds/lattice_rows.hpp"
#include "mapper/label_search/beam_search.hpp"
#include "mapper/label_search/label_search.hpp"
#include "random_space.hpp"

namespace mapsim::per_tensor_bound_test {
namespace {

using exact::Node;
using exact::SearchTables;

constexpr std::uint64_t kSpaces = 40;
constexpr double kNear = 1e-9;

// Calls visit(space, group) for every unrolling of random spaces.
void for_each_class(const std::function<void(const Mapspace&, const UnrollingClass&)>& visit) {
  for (std::uint64_t seed = 95'000; seed < 95'000 + kSpaces; ++seed) {
    const SearchCase random = random_space(seed, 100'000);
    const Mapspace space(random.problem, random.constraints);
    for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
      visit(space, unrolling_class);
    }
  }
}

// Calls visit(tables) for those in which something may fit; nothing is left out of the bounds.
void for_each_class(const Objective& objective, const std::function<void(SearchTables&)>& visit) {
  for_each_class([&](const Mapspace& space, const UnrollingClass& unrolling_class) {
    exact::Unrolled unrolled(space.problem(), unrolling_class);
    const exact::StateGraph graph(space, unrolled.used);
    SearchTables tables(graph, std::move(unrolled), objective);
    if (tables.root().first < exact::kInfinity) {
      visit(tables);
    }
  });
}

void for_each_node(const SearchTables& tables, const std::function<void(const Node&)>& visit) {
  const exact::StateGraph& graph = tables.graph;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      const std::size_t tiles = tables.unrolled.lattices[graph.crossed(stage)].size();
      for (std::size_t tile = 0; tile < tiles && graph.reachable(stage, residency); ++tile) {
        visit({stage, residency, tile});
      }
    }
  }
}

double so_far(const exact::PerTensorBound& per_tensor, const Node& node) {
  const std::uint32_t tile[] = {static_cast<std::uint32_t>(node.tile)};
  std::vector<double> sum;
  per_tensor.add_cost_so_far(node.stage, node.residency, tile, sum);
  return sum.front();
}

// Along every edge what has been paid rises, and what is to go falls, by no more than the edge
// costs: no nest pays less.
TEST(PerTensorBound, IsConsistentAlongEveryEdge) {
  std::int64_t edges = 0;
  std::int64_t exact_ones = 0;
  for_each_class(Objective::kEnergy, [&](SearchTables& tables) {
    exact::PerTensorBound per_tensor(tables.graph, tables.unrolled, tables.costs);
    per_tensor.find_cost_so_far(tables.costs);
    for_each_node(tables, [&](const Node& node) {
      const double to_go = per_tensor.to_go(node.stage, node.residency, node.tile);
      exact_ones += to_go >= tables.bound.at(node, 0) * (1 - kNear) ? 1 : 0;
      exact::for_each_move(
          tables.graph, tables.unrolled, tables.costs, node, [](const Node&) { return true; },
          [&](const exact::Step& step, std::span<const exact::StepCost> costs_of_edges) {
            double cost = 0;
            for (const exact::StepCost& step_cost : costs_of_edges) {
              cost += step_cost.cost[0];
            }
            const bool ends = step.kind == exact::Step::Kind::kEnd;
            const Node& next = step.node;
            const double from_there =
                ends ? 0 : per_tensor.to_go(next.stage, next.residency, next.tile);
            ASSERT_LE(to_go * (1 - kNear), cost + from_there);
            if (!ends) {
              ASSERT_LE(so_far(per_tensor, next) * (1 - kNear), so_far(per_tensor, node) + cost);
            }
            ++edges;
          });
    });
  });
  EXPECT_GT(edges, 10'000);
  EXPECT_GT(exact_ones, edges / 100);  // it is not merely admissible
}

// Nodes through which a nest may stay within the limit have the bound that they have without one;
// few others are left.
TEST(PerTensorBound, LeavesOutNoNodeOfInterest) {
  std::int64_t kept = 0;
  std::int64_t left_out = 0;
  for_each_class(Objective::kEnergy, [&](SearchTables& tables) {
    exact::PerTensorBound per_tensor(tables.graph, tables.unrolled, tables.costs);
    per_tensor.find_cost_so_far(tables.costs);
    for (const double slack : {1.0, 1.3}) {
      const double most = tables.root().first * slack * (1 + kNear);
      const exact::CompletionBound within = exact::complete_on_lattice(
          tables.graph, tables.unrolled, tables.costs, {&per_tensor, most});
      for_each_node(tables, [&](const Node& node) {
        const double whole = tables.bound.at(node, 0);
        const double part = within.at(node, 0);
        if (so_far(per_tensor, node) + whole <= most * (1 - kNear)) {
          ASSERT_DOUBLE_EQ(part, whole);
          ++kept;
        } else if (part < exact::kInfinity) {
          ASSERT_LE(so_far(per_tensor, node) + part, most);
        } else {
          ++left_out;
        }
      });
    }
  });
  EXPECT_GT(kept, 1'000);
  EXPECT_GT(left_out, 2 * kept);
}

// A beam search finds no better key than there is, and what it leaves out changes nothing.
TEST(PerTensorBound, LeavesTheOptimumOfEveryObjective) {
  const SearchOptions options;
  std::int64_t found = 0;
  std::int64_t beam = 0;
  std::int64_t timed = 0;
  std::int64_t fast = 0;  // as fast as can be
  for (const Objective& objective : {Objective::kEnergy, Objective::kEdp, Objective::kLatency}) {
    for_each_class([&](const Mapspace& space, const UnrollingClass& unrolling_class) {
      const exact::Unrolled unrolled(space.problem(), unrolling_class);
      const exact::StateGraph graph(space, unrolled.used);
      SearchTables all(graph, unrolled, objective);
      SearchTables some(graph, unrolled, objective, {}, true);
      const exact::LabelResult best = exact::search_labels(all, {}, Deadline(options));
      const exact::LabelResult same = exact::search_labels(some, {}, Deadline(options));
      ASSERT_EQ(best.goals.size(), same.goals.size());
      if (best.goals.empty()) {
        return;
      }
      ++found;
      EXPECT_EQ(best.goals.front().key, same.goals.front().key);
      if (all.array) {
        return;  // the time of an array is not in the components
      }
      exact::PerTensorBound per_tensor(graph, unrolled, all.costs);
      const exact::ObjectiveKey key =
          exact::beam_search(graph, unrolled, all.costs, per_tensor, all.path_objective).key;
      EXPECT_FALSE(exact::exceeds(best.goals.front().key, key));
      beam += key.first < exact::kInfinity ? 1 : 0;
      timed += !objective.function.uses_energy() ? 1 : 0;
      fast +=
          !objective.function.uses_energy() && key.first <= best.goals.front().key.first ? 1 : 0;
    });
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(beam, found / 2);
  EXPECT_GT(fast, timed * 4 / 5);
}

}  // namespace
}  // namespace mapsim::per_tensor_bound_test
