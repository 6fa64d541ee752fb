// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <limits>
#include <tuple>
#include <vector>

#include "exact_check.hpp"
#include "mapper/mapper.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::exhaustive_test {
namespace {

constexpr Objective kObjectives[] = {Objective::kEnergy, Objective::kLatency, Objective::kEdp};

Cost cost_of(double energy, std::int64_t cycles) {
  Cost cost;
  cost.energy.total = Picojoules{energy};
  cost.latency.steady = Cycles{cycles};
  return cost;
}

// A GEMM of 8-bit elements on a machine whose inner level holds `bits`.
Problem tight_problem(std::int64_t bits) {
  Arch arch;
  arch.levels.push_back(Storage{});
  Storage inner;
  inner.name = "inner";
  inner.capacity.shared = Bits{bits};
  inner.keep = kAllRoles;
  arch.levels.push_back(inner);
  return Problem{arch, gemm("g", {4, 2, 3, {}, false})};
}

TEST(Better, ComparesTheObjectiveThenTheOtherFigure) {
  EXPECT_TRUE(better(Objective::kEnergy, cost_of(1, 9), cost_of(2, 1)));
  EXPECT_TRUE(better(Objective::kEnergy, cost_of(2, 1), cost_of(2, 9)));
  EXPECT_TRUE(better(Objective::kLatency, cost_of(9, 1), cost_of(1, 2)));
  EXPECT_TRUE(better(Objective::kLatency, cost_of(1, 2), cost_of(9, 2)));
  EXPECT_TRUE(better(Objective::kEdp, cost_of(4, 2), cost_of(3, 3)));
  EXPECT_TRUE(better(Objective::kEdp, cost_of(2, 6), cost_of(3, 4)));
  for (const Objective objective : kObjectives) {
    EXPECT_FALSE(better(objective, cost_of(2, 3), cost_of(2, 3)));
  }
}

TEST(InfeasibleReport, CountsReasonsAndKeepsTheSmallestNeed) {
  const Problem problem = tight_problem(16);
  InfeasibleReport report;
  add(report, problem, CapacityExceeded{LevelId{1}, std::nullopt, Bits{40}, Bits{16}});
  add(report, problem, CapacityExceeded{LevelId{1}, Role::kWeight, Bits{8}, Bits{4}});
  add(report, problem, CapacityExceeded{LevelId{1}, std::nullopt, Bits{24}, Bits{16}}, 2);
  EXPECT_THAT(report.reasons, testing::ElementsAre(testing::Pair("inner: capacity", 3),
                                                   testing::Pair("inner: capacity for weight", 1)));
  EXPECT_THAT(report.smallest_need,
              testing::ElementsAre(testing::Pair("inner: capacity", 24),
                                   testing::Pair("inner: capacity for weight", 8)));
}

TEST(Mappers, AreFoundByName) {
  EXPECT_EQ(find_mapper("exhaustive"), &search_exhaustive);
  EXPECT_EQ(find_mapper("random"), &search_random);
  EXPECT_EQ(find_mapper("annealing"), &search_annealing);
  EXPECT_EQ(find_mapper("genetic"), &search_genetic);
  EXPECT_EQ(find_mapper("exact"), &search_exact);
  EXPECT_FALSE(find_mapper("hill_climbing").has_value());
}

TEST(Exhaustive, FindsTheFirstOfTheBestMappings) {
  for (std::uint64_t seed = 0; seed < tried_of(30U); ++seed) {
    const SearchCase random = random_space(seed, 3'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective objective : kObjectives) {
      std::optional<std::tuple<double, Mapping>> best;
      std::optional<Cost> best_cost;
      std::int64_t count = 0;
      space.enumerate([&](const Mapping& mapping) {
        ++count;
        const Evaluation evaluation = evaluate(random.problem, mapping);
        const Cost* cost = std::get_if<Cost>(&evaluation);
        if (cost != nullptr && (!best_cost || better(objective, *cost, *best_cost))) {
          best = {objective_value(objective, *cost), mapping};
          best_cost = *cost;
        }
        return true;
      });
      const SearchResult result = search_exhaustive(space, {objective, 1, 0, 0, nullptr});
      ASSERT_EQ(result.best.has_value(), best.has_value());
      EXPECT_EQ(result.certificate.status, best ? Proof::kOptimal : Proof::kInfeasible);
      EXPECT_EQ(result.certificate.mapspace_size, std::to_string(count));
      EXPECT_EQ(result.statistics.evaluations, count);
      if (best) {
        EXPECT_TRUE(*result.best == std::get<Mapping>(*best)) << "seed " << seed;
        EXPECT_EQ(result.certificate.lower_bound, std::get<double>(*best));
        EXPECT_EQ(objective_value(objective, *result.cost), std::get<double>(*best));
      }
    }
  }
}

void expect_equal(const SearchResult& a, const SearchResult& b) {
  EXPECT_TRUE(a.best == b.best);
  EXPECT_EQ(a.cost.has_value(), b.cost.has_value());
  if (a.cost && b.cost) {
    EXPECT_EQ(a.cost->energy.total, b.cost->energy.total);
    EXPECT_EQ(a.cost->latency.steady, b.cost->latency.steady);
  }
  EXPECT_EQ(a.infeasible, b.infeasible);
  EXPECT_EQ(a.statistics.evaluations, b.statistics.evaluations);
  EXPECT_EQ(a.certificate.lower_bound, b.certificate.lower_bound);
}

TEST(Exhaustive, GivesTheSameAnswerOnAnyNumberOfThreads) {
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    const SearchCase random = random_space(seed, 10'000);
    const Mapspace space{random.problem, random.constraints};
    const SearchResult one = search_exhaustive(space, {Objective::kEdp, 1, 0, 0, nullptr});
    for (const int threads : {2, 3, 8}) {
      expect_equal(one, search_exhaustive(space, {Objective::kEdp, threads, 0, 0, nullptr}));
    }
  }
}

TEST(Exhaustive, ClaimsNothingWhenInterrupted) {
  const SearchCase random = random_space(5);
  const std::atomic<bool> stop{true};
  const SearchResult result = search_exhaustive(Mapspace{random.problem, random.constraints},
                                                {Objective::kEnergy, 1, 0, 0, &stop});
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.certificate.status, Proof::kNone);
}

TEST(Exhaustive, SaysWhyNothingFits) {
  const Problem problem = tight_problem(16);  // three tensors of 8 bits each do not fit
  const Mapspace space{problem, {}};
  const SearchResult result = search_exhaustive(space, {});
  EXPECT_FALSE(result.best.has_value());
  EXPECT_EQ(result.certificate.status, Proof::kInfeasible);
  EXPECT_EQ(result.infeasible.reasons.at("inner: capacity"), result.statistics.evaluations);
  EXPECT_EQ(result.infeasible.smallest_need.at("inner: capacity"), 24);
}

}  // namespace
}  // namespace mapsim::exhaustive_test
