// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "check/size.hpp"
#include "proven.hpp"
#include "tests/mapper/random_space.hpp"

namespace mapsim::check_test {
namespace {

constexpr std::array kObjectives{
    Objective::kEnergy,
    Objective::kLatency,
    Objective::kEdp,
    Objective{ObjectiveFunction::product(2, 1)},
    Objective{ObjectiveFunction::product(0, 1), false, LatencyMode::kRamped},
    Objective{ObjectiveFunction::product(1, 0.5), false, LatencyMode::kRamped},
    Objective{ObjectiveFunction::weighted_sum(3.5)},
};

class ProofsOfRandomSpaces : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ProofsOfRandomSpaces, testing::Range<std::uint64_t>(0, 8));

TEST_P(ProofsOfRandomSpaces, Hold) {
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + i;
    const SearchCase random = random_space(seed, 20'000);
    const Objective& objective = kObjectives[i % kObjectives.size()];
    EXPECT_EQ(faults_of(proof_of(random.problem, random.constraints, objective)), "")
        << "seed " << seed;
  }
}

// Rules for unrollings, extents and loops, of every kind.
TEST_P(ProofsOfRandomSpaces, HoldUnderRules) {
  int looped = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + i;
    const SearchCase random = random_ruled_space(seed, 20'000);
    const Objective& objective = kObjectives[i % kObjectives.size()];
    EXPECT_EQ(faults_of(proof_of(random.problem, random.constraints, objective)), "")
        << "seed " << seed;
    looped += random.constraints.loops.empty() ? 0 : 1;
  }
  EXPECT_GT(looped, 10);
}

TEST_P(ProofsOfRandomSpaces, HoldOnNineToTwelveLevels) {
  for (std::uint64_t i = 0; i < 14; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + i;
    const SearchCase random = random_deep_space(seed, 20'000);
    const Objective& objective = kObjectives[i % kObjectives.size()];
    EXPECT_EQ(faults_of(proof_of(random.problem, random.constraints, objective)), "")
        << "seed " << seed;
  }
}

// Least energies of what systolic arrays can run; of the same machines without the timing model
// nothing is left out, so that their optima are lower now and then.
TEST(ProofsOfSystolicArrays, LeaveOutWhatTheyCannotRun) {
  int proven = 0;
  int lower = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SearchCase random = random_systolic_space(seed, 5'000);
    if (random.problem.leakage(Cycles{1}) > Picojoules{0}) {
      continue;  // needs times
    }
    EXPECT_EQ(faults_of(proof_of(random.problem, random.constraints, Objective::kEnergy)), "")
        << "seed " << seed;
    ++proven;
    Arch arch = random.problem.arch();
    arch.compute.timing = std::monostate{};
    const Problem free{arch, random.problem.workload()};
    const auto least = [&](const Problem& problem) {
      const SearchResult found = search_exact(Mapspace{problem, random.constraints}, {});
      return found.cost ? found.cost->energy.total.count() : 1e300;
    };
    lower += least(free) < least(random.problem) ? 1 : 0;
  }
  EXPECT_GE(proven, 30);
  EXPECT_GE(lower, 3);
}

// Times of systolic arrays: of any fold size and overlap, with padded tiles, under leakage, as
// products, limits aside.
TEST_P(ProofsOfRandomSpaces, HoldOfTheTimesOfSystolicArrays) {
  for (std::uint64_t i = 0; i < 30; ++i) {  // 4'716: an array of which one column is used
    const std::uint64_t seed = 1'000 * GetParam() + 700 + i;
    const SearchCase random = random_systolic_space(seed, 5'000);
    const Objective& objective = kObjectives[i % kObjectives.size()];
    EXPECT_EQ(faults_of(proof_of(random.problem, random.constraints, objective)), "")
        << "seed " << seed;
  }
}

// The least energy of the mappings that take at most a quarter longer than the fastest, and the
// fastest of those that need at most a tenth more energy than the best.
TEST_P(ProofsOfRandomSpaces, HoldWithinLimits) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + 300 + i;
    const SearchCase random = random_space(seed, 20'000);
    SearchOptions options;
    options.objective = i % 2 == 0 ? Objective::kLatency : Objective::kEnergy;
    const SearchResult free = search_exact(Mapspace{random.problem, random.constraints}, options);
    if (!free.cost) {
      continue;
    }
    Objective limited = i % 2 == 0 ? Objective::kEnergy : Objective::kLatency;
    if (i % 2 == 0) {
      limited.max_latency = Cycles{free.cost->latency.steady.count() * 5 / 4};
    } else {
      limited.max_energy = 1.1 * free.cost->energy.total;
    }
    EXPECT_EQ(faults_of(proof_of(random.problem, random.constraints, limited)), "")
        << "seed " << seed;
  }
}

// A search that presents the second-best value as the best, and claims bounds to match. Returns how
// many spaces had one.
int refuse_second_best(std::uint64_t first_seed,
                       SearchCase (*make)(std::uint64_t seed, std::int64_t max_size)) {
  int looked_at = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = first_seed + i;
    const SearchCase random = make(seed, 500);
    const Mapspace space{random.problem, random.constraints};
    SearchOptions options;
    options.objective = kObjectives[i % kObjectives.size()];
    SearchResult result = search_exact(space, options);
    if (!result.best) {
      continue;
    }
    const double optimum = objective_value(options.objective, *result.cost);
    std::optional<double> second;
    space.enumerate([&](const Mapping& mapping) {
      const Evaluation evaluation = evaluate(random.problem, mapping);
      if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
        const double value = objective_value(options.objective, *cost);
        if (value > optimum * (1 + 1e-9) && value < second.value_or(HUGE_VAL)) {
          second = value;
          result.best = mapping;
          result.cost = *cost;
        }
      }
      return true;
    });
    if (!second) {
      continue;
    }
    result.certificate.lower_bound = *second;
    for (ClassBound& group : result.classes) {
      group.bound = std::max(group.bound, *second);
    }
    if (result.others_bound) {
      result.others_bound = std::max(*result.others_bound, *second);
    }
    EXPECT_THAT(faults_of(certificate_file({"search", {}}, space, options.objective, result)),
                testing::HasSubstr("where there is a mapping of"))
        << "seed " << seed;
    ++looked_at;
  }
  return looked_at;
}

TEST_P(ProofsOfRandomSpaces, DoNotHoldForTheSecondBest) {
  EXPECT_GT(refuse_second_best(1'000 * GetParam() + 500, random_space), 30);
  EXPECT_GT(refuse_second_best(1'000 * GetParam() + 500, random_ruled_space), 20);
  EXPECT_GT(refuse_second_best(1'000 * GetParam() + 500, random_systolic_space), 15);
}

TEST(Check, UsesEveryArgument) {
  std::map<std::string, std::int64_t> used;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SearchCase random = random_space(seed, 20'000);
    for (const Objective& objective : kObjectives) {
      const check::Verdict verdict = check::check_certificate(
          check::parse_certificate(proof_of(random.problem, random.constraints, objective),
                                   "proof"),
          {});
      used["floor"] += verdict.by_unrolling_bound;
      used["relaxation"] += verdict.by_completion_bound;
      used["replay"] += verdict.by_label_search;
      used["walked"] += verdict.walked ? 1 : 0;
    }
  }
  for (const char* argument : {"floor", "relaxation", "replay", "walked"}) {
    EXPECT_GE(used[argument], 10) << argument;
  }
}

TEST(Check, SaysThatTheProofIsOpenWhereItWasStopped) {
  const SearchCase random = random_space(1, 20'000);
  const check::Certificate certificate = check::parse_certificate(
      proof_of(random.problem, random.constraints, Objective::kEnergy), "proof");
  const std::atomic<bool> stop{true};
  check::CheckOptions options;
  options.effort.stop = {&stop};
  const std::vector<std::string> problems = check::check_certificate(certificate, options).problems;
  EXPECT_FALSE(problems.empty());
  EXPECT_THAT(problems, testing::Each(testing::HasSubstr("the check was stopped")));
}

}  // namespace
}  // namespace mapsim::check_test
