// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "costmodel/mapping_text.hpp"
#include "mapper/baselines/neighbours.hpp"
#include "mapper/baselines/restarts.hpp"
#include "mapper/mapper.hpp"
#include "tests/mapper/membership.hpp"
#include "tests/mapper/random_space.hpp"

namespace mapsim::heuristics_test {
namespace {

constexpr Mapper kHeuristics[]{search_random, search_annealing, search_genetic};
constexpr Objective kObjectives[]{Objective::kEnergy, Objective::kLatency, Objective::kEdp};

// So many evaluations of so few mappings find most optima; a search that ignored what it evaluates
// or proposed too little would not.
TEST(Heuristics, NeverBeatTheOptimumAndMostlyReachItInSmallSpaces) {
  for (const Mapper search : kHeuristics) {
    int reached = 0;
    int feasible = 0;
    for (std::uint64_t seed = 200; seed < 215; ++seed) {
      const SearchCase random = random_space(seed, 2'000);
      const Mapspace space{random.problem, random.constraints};
      for (const Objective objective : kObjectives) {
        const SearchResult all = search_exhaustive(space, {objective, 1, 0, 0, nullptr});
        const SearchResult some = search(space, {objective, 2, 6'000, seed, nullptr});
        EXPECT_EQ(some.certificate.status, Proof::kNone);
        EXPECT_EQ(some.statistics.evaluations, 6'000);
        EXPECT_FALSE(some.interrupted);
        if (!some.cost) {
          continue;
        }
        ASSERT_TRUE(all.cost.has_value());
        ++feasible;
        EXPECT_EQ(why_outside(space, *some.best), "");
        const Evaluation again = evaluate(random.problem, *some.best);
        EXPECT_EQ(std::get<Cost>(again).energy.total, some.cost->energy.total);
        const double best = objective_value(objective, *all.cost);
        EXPECT_GE(objective_value(objective, *some.cost), best);
        reached += objective_value(objective, *some.cost) == best ? 1 : 0;
      }
    }
    EXPECT_GT(feasible, 30);
    EXPECT_GE(reached, feasible * 9 / 10);
  }
}

// A move may break a rule, and its nest is then none of the space.
TEST(Heuristics, StayInASpaceWithRules) {
  int found = 0;
  for (const Mapper search : kHeuristics) {
    for (std::uint64_t seed = 1; seed <= 25; ++seed) {
      const SearchCase random = random_ruled_space(seed, 20'000);
      const Mapspace space{random.problem, random.constraints};
      const SearchResult some = search(space, {Objective::kEnergy, 1, 300, seed, nullptr});
      if (some.best) {
        ++found;
        EXPECT_EQ(why_outside(space, *some.best), "") << "seed " << seed;
      }
    }
  }
  EXPECT_GT(found, 20);
}

TEST(Heuristics, KeepTheSecondsOfTheBudget) {
  const SearchCase random = random_space(300, 50'000);
  const Mapspace space{random.problem, random.constraints};
  for (const Mapper search : kHeuristics) {
    SearchOptions options{Objective::kEnergy, 1, 1'000'000'000, 3, nullptr};
    // A busy machine may spend a short budget before the first evaluation.
    std::int64_t evaluations = 0;
    for (options.budget.seconds = 0.02; evaluations == 0 && options.budget.seconds < 10;
         options.budget.seconds *= 2) {
      const SearchResult some = search(space, options);
      EXPECT_TRUE(some.interrupted);
      evaluations = some.statistics.evaluations;
      EXPECT_LT(evaluations, options.evaluations / 100);
    }
    EXPECT_GT(evaluations, 0);
  }
}

TEST(Heuristics, GiveTheSameAnswerOnAnyNumberOfThreads) {
  const SearchCase random = random_space(300, 50'000);
  const Mapspace space{random.problem, random.constraints};
  for (const Mapper search : kHeuristics) {
    const SearchResult one = search(space, {Objective::kEdp, 1, 20'000, 9, nullptr});
    ASSERT_TRUE(one.cost.has_value());
    for (const int threads : {2, 5}) {
      const SearchResult many = search(space, {Objective::kEdp, threads, 20'000, 9, nullptr});
      EXPECT_EQ(one.best, many.best);
      EXPECT_EQ(one.infeasible, many.infeasible);
      EXPECT_EQ(one.statistics.evaluations, many.statistics.evaluations);
    }
  }
}

TEST(Heuristics, StopWhenAsked) {
  const SearchCase random = random_space(5);
  const std::atomic<bool> stop{true};
  for (const Mapper search : kHeuristics) {
    const SearchResult result = search(Mapspace{random.problem, random.constraints},
                                       {Objective::kEnergy, 1, 100, 1, &stop});
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.statistics.evaluations, 0);
  }
}

TEST(PrimeNests, GoTogetherAgainAsTheyWere) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SearchCase random = random_space(seed, 1'000);
    const Mapspace space{random.problem, random.constraints};
    space.enumerate([&](const Mapping& mapping) {
      EXPECT_EQ(to_mapping(space, to_prime_nest(space, mapping)), mapping);
      return true;
    });
  }
}

// Small changes lead from any mapping of a space to every other, and not out of it.
TEST(Neighbours, LeadToEveryMappingOfTheSpace) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SearchCase random = random_space(seed, 300);
    const Mapspace space{random.problem, random.constraints};
    std::set<std::string> unseen;
    std::optional<Mapping> start;
    const auto text = [&](const Mapping& mapping) {
      return print_mapping(random.problem.arch(), random.problem.workload(), mapping);
    };
    space.enumerate([&](const Mapping& mapping) {
      start = start.value_or(mapping);
      unseen.insert(text(mapping));
      return true;
    });
    const std::set<std::string> all = unseen;
    const Neighbours neighbours{space};
    Rng rng{seed};
    PrimeNest nest = to_prime_nest(space, *start);
    for (int step = 0; step < 40'000 && !unseen.empty(); ++step) {
      PrimeNest next = nest;
      if (neighbours.change(next, rng)) {
        nest = std::move(next);
        const std::string reached = text(to_mapping(space, nest));
        ASSERT_TRUE(all.contains(reached)) << "seed " << seed << '\n' << reached;
        unseen.erase(reached);
      }
    }
    EXPECT_TRUE(unseen.empty()) << "seed " << seed << ": " << unseen.size() << " of " << all.size()
                                << '\n'
                                << (unseen.empty() ? "" : *unseen.begin());
  }
}

TEST(Excess, IsZeroForWhatFitsOnly) {
  int fits = 0;
  int misfits = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const SearchCase random = random_space(seed, 500);
    Evaluator evaluator{random.problem};
    Mapspace{random.problem, random.constraints}.enumerate([&](const Mapping& mapping) {
      const bool fit = !evaluator.evaluate(mapping);
      EXPECT_EQ(evaluator.excess() == 0, fit);
      (fit ? fits : misfits) += 1;
      return true;
    });
  }
  EXPECT_GT(fits, 1'000);
  EXPECT_GT(misfits, 1'000);
}

}  // namespace
}  // namespace mapsim::heuristics_test
