// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/coarse_to_fine.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/factor.hpp"
#include "mapper/bounds/cost_so_far.hpp"
#include "mapper/bounds/imperfect_rows.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/graph/divisor_lattice.hpp"
#include "mapper/label_search/history_search.hpp"
#include "random_space.hpp"

namespace mapsim::coarse_to_fine_test {
namespace {

using exact::CompletionBound;
using exact::StateGraph;

constexpr double kNear = 1e-8;
constexpr std::array<std::size_t, 2> kFewTiles{4, 12};

// How many nodes the coarse lattices leave out; the others must have the bound that they have
// without them.
std::int64_t left_out(const StateGraph& graph, const UnrollingClass& unrollings, double slack) {
  const Deadline deadline{SearchOptions{}};
  imperfect::ExtentLattice tiles{graph.space(), unrollings, graph.used()};
  tiles.list_digits();
  tiles.make_crossings();
  const imperfect::TileCountRules tile_count_rules{graph, tiles};
  const auto coefficients = make_coefficients(graph, tiles, Tracked{});
  imperfect::LeastCosts costs{graph, tiles, coefficients, 1, deadline};
  imperfect::ImperfectRows rows{graph, tiles, tile_count_rules, costs, deadline};
  double root = exact::kInfinity;
  {
    const CompletionBound any{graph, rows, {}, &deadline};
    for (const std::size_t residency : graph.starts()) {
      root = std::min(root, any.at({0, residency, tiles.size() - 1}, 0));
    }
  }
  // Nodes to which every nest costs too much are left out in any case.
  const double most = root * slack;
  std::vector<std::uint32_t> every(tiles.size());
  std::iota(every.begin(), every.end(), std::uint32_t{0});
  const exact::RowTiles everywhere(graph.stages() * graph.residencies(), every);
  const CompletionBound all{graph, rows, {nullptr, most, {}, &everywhere}, &deadline};
  const imperfect::CostSoFar paid{graph, tiles, tile_count_rules, costs, all, 0, deadline};
  const Objective energy = Objective::kEnergy;
  const exact::PathObjective path_objective{graph, energy, 0};
  const exact::Incumbent known{exact::ObjectiveKey{most}};
  const auto listed =
      surviving_tiles(graph, unrollings, tiles, {path_objective, 1, known}, deadline, kFewTiles);
  if (!listed || !(root < exact::kInfinity)) {
    return 0;
  }
  const CompletionBound part{graph, rows, {nullptr, most, {}, &*listed}, &deadline};
  std::int64_t count = 0;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    for (std::size_t residency = 0; residency < graph.residencies(); ++residency) {
      const double* so_far = paid.at(stage, residency);
      for (std::size_t tile = 0; so_far != nullptr && tile < tiles.size(); ++tile) {
        const double whole = all.at({stage, residency, tile}, 0);
        const double bound = part.at({stage, residency, tile}, 0);
        if (so_far[tile] + whole <= most * (1 - kNear)) {
          EXPECT_NEAR(bound, whole, whole * kNear);
        } else {
          EXPECT_GE(bound, whole * (1 - kNear));
          count += bound < exact::kInfinity ? 0 : 1;
        }
      }
    }
  }
  return count;
}

// Of spaces with windows, fanouts, even tilings and rules.
TEST(CoarseToFine, LeavesOutNoNodeOfInterest) {
  std::array<std::int64_t, 3> out{};
  for (std::uint64_t seed = 61'000; seed < 61'060; ++seed) {
    const SearchCase random = seed % 3 == 0 ? random_ruled_imperfect_space(seed, 100'000)
                                            : random_imperfect_space(seed, 100'000);
    const Mapspace space{random.problem, random.constraints};
    const exact::UnrollingTasks classes{space, Objective::kEnergy};
    for (std::size_t g = 0; g < classes.size(); ++g) {
      const UnrollingClass& unrollings = space.unrolling_classes()[g];
      for (std::size_t i = 0; i < out.size(); ++i) {
        constexpr std::array<double, 3> kSlack{1 + 1e-6, 1.1, 2};
        out[i] += left_out(classes.graph(g), unrollings, kSlack[i]);
      }
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  for (const std::int64_t count : out) {
    EXPECT_GT(count, 1'000);
  }
}

// With an incumbent that is little worse than the best, a search by any objective ends where it
// does without coarse lattices.
TEST(CoarseToFine, LosesNoOptimum) {
  const Deadline deadline{SearchOptions{}};
  std::int64_t ruled_out = 0;
  for (std::uint64_t seed = 63'000; seed < 63'015; ++seed) {
    const SearchCase random = seed % 3 == 0 ? random_ruled_imperfect_space(seed, 3'000)
                                            : random_imperfect_space(seed, 3'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
      const exact::UnrollingTasks classes{space, objective};
      for (std::size_t g = 0; g < classes.size(); ++g) {
        const UnrollingClass& unrollings = space.unrolling_classes()[g];
        const auto search = [&](const exact::Incumbent& known,
                                std::span<const std::size_t> lattices) {
          exact::LabelQuery query;
          query.known = known;
          return imperfect::HistorySearch(classes.graph(g), unrollings, objective, query, deadline,
                                          imperfect::ExtentLattice::kAll, lattices)
              .run();
        };
        const imperfect::HistoryResult best = search({}, {});
        if (!best.best) {
          continue;
        }
        for (const double slack : {1 + 1e-6, 1.02, 1.5}) {
          const imperfect::HistoryResult part = search(
              exact::ObjectiveKey{best.key.first * slack, best.key.second * slack}, kFewTiles);
          ASSERT_TRUE(part.best) << "seed " << seed;
          EXPECT_NEAR(part.key.first, best.key.first, best.key.first * kNear) << "seed " << seed;
          EXPECT_NEAR(part.key.second, best.key.second, best.key.second * kNear) << "seed " << seed;
        }
        const imperfect::HistoryResult none =
            search(exact::ObjectiveKey{best.key.first * 0.95, 0}, kFewTiles);
        EXPECT_FALSE(none.best) << "seed " << seed;
        ruled_out += none.states == 0 ? 1 : 0;  // without a bound on the fine lattice
      }
    }
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(ruled_out, 5);
}

// A limit that no mapping keeps leaves nothing, where the coarse lattices can tell.
TEST(CoarseToFine, LeavesNothingBelowTheLeast) {
  std::int64_t none = 0;
  for (std::uint64_t seed = 62'000; seed < 62'030; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 100'000);
    const Mapspace space{random.problem, random.constraints};
    const exact::UnrollingTasks classes{space, Objective::kEnergy};
    const imperfect::ExtentLattice tiles{space, space.unrolling_classes().front(),
                                         classes.graph(0).used()};
    const exact::PathObjective path_objective{classes.graph(0), Objective::kEnergy, 0};
    const exact::Incumbent known{exact::ObjectiveKey{1e-3}};
    const auto listed =
        surviving_tiles(classes.graph(0), space.unrolling_classes().front(), tiles,
                        {path_objective, 1, known}, Deadline{SearchOptions{}}, kFewTiles);
    for (const auto& row : listed.value_or(exact::RowTiles{})) {
      EXPECT_TRUE(row.empty()) << "seed " << seed;
    }
    none += listed ? 1 : 0;
  }
  EXPECT_GT(none, 10);
}

// A tile is the sum of its digits by their strides, loops lead to smaller indices, and the dims
// that tiles slide along vary slowest.
TEST(TileIndex, NumbersEveryVectorOfDigitsOnce) {
  PerDim<std::int64_t> bounds(3);
  PerDim<std::vector<std::int64_t>> domains(3);
  for (const DimId d : bounds.ids()) {
    bounds[d] = std::array{30, 8, 12}[index_of(d)];
    domains[d] = divisors_of(bounds[d]);
  }
  const exact::DivisorLattice tiles{bounds, PerDim<std::size_t>(3), DimSet{DimId{0}}, domains};
  EXPECT_EQ(tiles.size(), 8U * 4U * 6U);
  EXPECT_EQ(tiles.stride(DimId{0}), 24U);
  EXPECT_EQ(tiles.stride(DimId{2}), 1U);
  std::vector<std::size_t> sums(tiles.size(), 0);
  for (const DimId d : bounds.ids()) {
    const std::vector<std::uint16_t> digits = tiles.digits_of_tiles(d);
    tiles.sweep(d, [&](std::size_t digit, std::size_t first, std::size_t last) {
      for (std::size_t tile = first; tile < last; ++tile) {
        EXPECT_EQ(tiles.digit(d, tile), digit);
        EXPECT_EQ(digits[tile], digit);
        sums[tile] += digit * tiles.stride(d);
      }
    });
    for (const exact::TileIndex::Loop& step : tiles.steps(d)) {
      EXPECT_LT(step.to, step.from);
    }
  }
  for (std::size_t tile = 0; tile < sums.size(); ++tile) {
    EXPECT_EQ(sums[tile], tile);
  }
}

}  // namespace
}  // namespace mapsim::coarse_to_fine_test
