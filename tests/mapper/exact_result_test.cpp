// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "exact_check.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/graph/state_graph.hpp"
#include "membership.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/conv.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::exact_result_test {
namespace {

SearchOptions options_for(Objective objective, int threads = 1) {
  SearchOptions options;
  options.objective = objective;
  options.threads = threads;
  return options;
}

std::optional<double> optimum(const Problem& problem, const Constraints& constraints,
                              Objective objective) {
  const SearchResult result = search_exact(Mapspace{problem, constraints}, options_for(objective));
  return result.cost ? std::optional{objective_value(objective, *result.cost)} : std::nullopt;
}

// 1: the optimum became better, 0: it stayed, -1: it became worse or there is none any more.
int change(std::optional<double> before, std::optional<double> after) {
  if (!before || !after) {
    return after ? 1 : before ? -1 : 0;
  }
  return *after < *before * (1 - 1e-9) ? 1 : *after > *before * (1 + 1e-9) ? -1 : 0;
}

void grow(std::optional<BitsPerCycle>& rate) {
  if (rate) {
    rate = BitsPerCycle{rate->count() * 1.5};
  }
}

// Every machine that has one limit of one level raised.
std::vector<Arch> more_room(const Arch& arch) {
  std::vector<Arch> larger;
  for (const LevelId l : arch.levels.ids()) {
    if (arch.levels[l].capacity.shared) {
      larger.push_back(arch);
      Bits& room = *larger.back().levels[l].capacity.shared;
      room = Bits{room.count() + 24};
    }
    for (const auto& partition : arch.levels[l].capacity.per_role) {
      larger.push_back(arch);
      larger.back().levels[l].capacity.per_role[partition.first] += Bits{24};
    }
  }
  return larger;
}

std::vector<Arch> more_bandwidth(const Arch& arch) {
  std::vector<Arch> faster;
  for (const LevelId l : arch.levels.ids()) {
    faster.push_back(arch);
    Bandwidth& bandwidth = faster.back().levels[l].bandwidth;
    grow(bandwidth.read);
    grow(bandwidth.write);
    grow(bandwidth.shared);
  }
  return faster;
}

TEST(ExactOptimum, IsNeverWorseWithMoreRoom) {
  int cases = 0;
  int better = 0;
  for (std::uint64_t seed = 30'000; seed < 30'120; ++seed) {
    const SearchCase random = random_space(seed);
    for (const Objective objective : kObjectives) {
      const auto before = optimum(random.problem, random.constraints, objective);
      for (const Arch& larger : more_room(random.problem.arch())) {
        const Problem problem{larger, random.problem.workload()};
        const int gain = change(before, optimum(problem, random.constraints, objective));
        EXPECT_GE(gain, 0) << "seed " << seed;
        ++cases;
        better += gain;
      }
    }
  }
  EXPECT_GT(cases, 300);
  EXPECT_GT(better, 30);  // room matters in these spaces
}

TEST(ExactOptimum, IsNeverWorseWithMoreBandwidth) {
  int cases = 0;
  int better = 0;
  for (std::uint64_t seed = 31'000; seed < 31'120; ++seed) {
    const SearchCase random = random_space(seed);
    for (const Objective objective : {Objective::kLatency, Objective::kEdp}) {
      const auto before = optimum(random.problem, random.constraints, objective);
      for (const Arch& faster : more_bandwidth(random.problem.arch())) {
        const Problem problem{faster, random.problem.workload()};
        const int gain = change(before, optimum(problem, random.constraints, objective));
        EXPECT_GE(gain, 0) << "seed " << seed;
        ++cases;
        better += gain;
      }
    }
  }
  EXPECT_GT(cases, 300);
  EXPECT_GT(better, 30);
}

// Spaces too large to look through.
TEST(ExactOptimum, IsNotBeatenBySamplesOfLargeSpaces) {
  int compared = 0;
  for (std::uint64_t seed = 34'000; seed < 34'060; ++seed) {
    const SearchCase random = random_space(seed, 1'000'000'000'000);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective objective : kObjectives) {
      SearchOptions options = options_for(objective);
      options.evaluations = 2'000;
      options.seed = seed;
      const SearchResult some = search_random(space, options);
      const SearchResult best = search_exact(space, options);
      if (some.cost) {
        ASSERT_TRUE(best.cost.has_value()) << "seed " << seed;
        EXPECT_LE(objective_value(objective, *best.cost),
                  objective_value(objective, *some.cost) * (1 + 1e-9))
            << "seed " << seed;
        EXPECT_EQ(why_outside(space, *best.best), "") << "seed " << seed;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 60);
}

// Enough unrollings for several batches, and seconds of work: a convolution on 4 x 4 units.
Problem large_problem() {
  Arch arch;
  arch.name = "array";
  for (const double energy : {16.0, 2.0, 0.25}) {
    Storage storage;
    storage.name = fmt::format("L{}", arch.levels.size());
    storage.energy = {PicojoulesPerBit{energy}, PicojoulesPerBit{energy}, PicojoulesPerBit{energy}};
    storage.bandwidth.shared = BitsPerCycle{16 / energy * 4};
    arch.levels.push_back(storage);
  }
  arch.levels[LevelId{1}].capacity.shared = Bits{2 * 1024 * 8};
  arch.levels[LevelId{2}].capacity.shared = Bits{24 * 8};
  Fanout fanout;
  fanout.name = "PEs";
  fanout.x = 4;
  fanout.y = 4;
  fanout.multicast = {Role::kInput, Role::kWeight};
  fanout.spatial_reduction = true;
  arch.fanouts.push_back(fanout);
  arch.levels_above.push_back(2);
  arch.compute.energy = Picojoules{1};
  ConvShape shape;
  shape.in_channels = 8;
  shape.out_channels = 16;
  shape.input = {12, 8};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  return Problem{arch, conv2d("conv", shape)};
}

TEST(ExactResult, CountsAnUnrollingOnceThoughTiesAreSearchedForAgain) {
  const Problem problem = large_problem();
  const Mapspace space{problem, {}};
  SearchOptions options = options_for(std::get<Objective>(parse_objective(" energy , latency ")));
  EXPECT_TRUE(options.objective.exact_ties);
  options.objective.max_energy = Picojoules{1e30};
  const SearchResult result = search_exact(space, options);
  EXPECT_GE(result.statistics.unrollings, 1);
  EXPECT_LE(result.statistics.unrollings, result.statistics.unrollings_total);
  for (const SearchCase& random : {random_space(32'000), random_space(32'001)}) {
    const Mapspace small{random.problem, random.constraints};
    const Statistics statistics = search_exact(small, options).statistics;
    EXPECT_LE(statistics.unrollings, statistics.unrollings_total);
  }
}

TEST(Objectives, AreReadWithSpacesToo) {
  const Objective objective = std::get<Objective>(parse_objective("energy^1.5 * latency ^ 0.5"));
  EXPECT_EQ(objective.function, ObjectiveFunction::product(1.5, 0.5));
  const Objective sum = std::get<Objective>(parse_objective("energy + 12.5 * latency"));
  EXPECT_EQ(sum.function, ObjectiveFunction::weighted_sum(12.5));
  EXPECT_EQ(to_string(sum), "energy + 12.5*latency");
  for (const char* bad : {"energy + latency^2", "energy + 0*latency", "energy + -1*latency",
                          "energy + edp", "energy +", "energy + 1e999*latency"}) {
    EXPECT_THAT(std::get<std::string>(parse_objective(bad)), testing::HasSubstr("'W*latency'"))
        << bad;
  }
  EXPECT_EQ(std::get<std::string>(parse_duration("-5 ms", Hertz{1e9})), "'-5 ms' is negative");
  EXPECT_EQ(std::get<std::string>(parse_duration("1 ns", Hertz{2e8})),
            "'1 ns' is less than 1 cycle; a cycle is 5 ns");
  EXPECT_EQ(std::get<std::string>(parse_duration("0.5 cycles", Hertz{2e8})),
            "'0.5 cycles' is less than 1 cycle");
  EXPECT_EQ(std::get<std::string>(parse_duration("1e9 s", Hertz{2e8})),
            "'1e9 s' is more than 2^53 cycles; a cycle is 5 ns");
  EXPECT_EQ(wrong_duration("1 ns"), std::nullopt);  // the clock may be above 1 GHz
  EXPECT_EQ(wrong_duration("1e9 s"), std::nullopt);
  EXPECT_EQ(wrong_duration("0.5 cycles"), "'0.5 cycles' is less than 1 cycle");
  EXPECT_EQ(wrong_duration("nan cycles"), "'nan cycles' is no number of cycles");
  EXPECT_EQ(std::get<Cycles>(parse_duration("5 ns", Hertz{2e8})), Cycles{1});
  EXPECT_EQ(std::get<Cycles>(parse_duration("1 cycle", Hertz{1e9})), Cycles{1});
  EXPECT_EQ(std::get<Cycles>(parse_duration("7 cycles", Hertz{1e9})), Cycles{7});
}

TEST(ExactResult, IsTheSameOnAnyNumberOfThreads) {
  for (std::uint64_t seed = 32'000; seed < 32'000 + tried_of(60U); ++seed) {
    const SearchCase random = random_space(seed);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective objective : kObjectives) {
      const SearchResult one = search_exact(space, options_for(objective));
      for (const int threads : {2, 8}) {
        EXPECT_EQ(result_difference(one, search_exact(space, options_for(objective, threads))), "")
            << "seed " << seed << ", " << threads << " threads";
      }
    }
  }
}

TEST(ExactResult, IsTheSameOnAnyNumberOfThreadsWithManyUnrollings) {
  const Problem problem = large_problem();
  const Mapspace space{problem, {}};
  for (const Objective objective : kObjectives) {
    const SearchResult one = search_exact(space, options_for(objective));
    EXPECT_GT(one.statistics.unrollings_total, 100);
    EXPECT_EQ(one.certificate.mapspace_size, mapspace_size(space));
    const exact::UnrollingTasks classes(space, objective);
    EXPECT_GT(classes.build(classes.by_bound().front())->bound.nodes().size(), 8'000U)
        << "threads share no bound of fewer nodes";
    for (const int threads : {2, 5}) {
      EXPECT_EQ(result_difference(one, search_exact(space, options_for(objective, threads))), "");
    }
  }
}

// What an interrupted search may say of a problem with this optimum.
void expect_sound(const SearchResult& result, Objective objective, double optimum) {
  const Certificate& certificate = result.certificate;
  EXPECT_EQ(result.interrupted,
            certificate.status == Proof::kBounded || certificate.status == Proof::kNone);
  EXPECT_EQ(certificate.status == Proof::kInfeasible, !result.interrupted && !result.cost);
  EXPECT_LE(certificate.lower_bound, optimum * (1 + 1e-9));
  EXPECT_GE(certificate.lower_bound, 0);
  EXPECT_EQ(certificate.status == Proof::kNone, certificate.lower_bound == 0);
  EXPECT_EQ(result.best.has_value(), result.cost.has_value());
  if (result.cost && certificate.lower_bound > 0) {
    const double value = objective_value(objective, *result.cost);
    EXPECT_GE(value, optimum * (1 - 1e-9));
    EXPECT_DOUBLE_EQ(certificate.gap, value / certificate.lower_bound - 1);
  }
}

TEST(ExactInterrupted, LooksForSomeMappingAndClaimsOnlyWhatIsSoundWhenStoppedBeforeItBegins) {
  const std::atomic<bool> stop{true};
  int found = 0;
  for (std::uint64_t seed = 33'000; seed < 33'050; ++seed) {
    const SearchCase random = random_space(seed);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : kObjectives) {
      SearchOptions options = options_for(objective);
      const SearchResult whole = search_exact(space, options);
      options.stop = &stop;
      const SearchResult result = search_exact(space, options);
      EXPECT_LE(result.statistics.unrollings, 4);
      found += whole.cost && result.cost ? 1 : 0;
      expect_sound(result, objective,
                   whole.cost ? objective_value(objective, *whole.cost) : exact::kInfinity);
    }
  }
  EXPECT_GT(found, 60);
}

// The true gap, and the same on any number of threads.
TEST(ExactBudget, OfLabelsIsReproducibleAndSound) {
  int cut = 0;
  for (std::uint64_t seed = 33'100; seed < 33'140; ++seed) {
    const SearchCase random = random_space(seed);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : kObjectives) {
      SearchOptions options = options_for(objective);
      const SearchResult whole = search_exact(space, options);
      for (const std::int64_t labels : {1, 20, 100}) {
        options.budget.labels = labels;
        options.threads = 1;
        const SearchResult one = search_exact(space, options);
        options.threads = 4;
        EXPECT_EQ(result_difference(one, search_exact(space, options)), "") << "seed " << seed;
        expect_sound(one, objective,
                     whole.cost ? objective_value(objective, *whole.cost) : exact::kInfinity);
        cut += one.interrupted ? 1 : 0;
      }
    }
  }
  EXPECT_GT(cut, 60);
}

TEST(ExactProgress, NarrowsTheGapUntilItIsClosed) {
  const Problem problem = large_problem();
  const Mapspace space{problem, {}};
  SearchOptions options = options_for(Objective::kEnergy);
  std::vector<Progress> told;
  options.progress = [&](const Progress& progress) { told.push_back(progress); };
  const SearchResult result = search_exact(space, options);
  ASSERT_GT(told.size(), 5U);
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_GE(told[i].unrollings, told[i - 1].unrollings);
    EXPECT_GE(told[i].labels, told[i - 1].labels);
    EXPECT_LE(told[i].best.value_or(exact::kInfinity), told[i - 1].best.value_or(exact::kInfinity));
    EXPECT_LE(told[i].lower_bound, told[i].best.value_or(exact::kInfinity) * (1 + 1e-9));
  }
  EXPECT_EQ(told.back().unrollings, told.back().unrollings_total);
  EXPECT_DOUBLE_EQ(told.back().best.value(), result.cost->energy.total.count());
}

TEST(ExactInterrupted, KeepsTheBestSoFarAndABound) {
  const Problem problem = large_problem();
  const Mapspace space{problem, {}};
  SearchOptions options = options_for(Objective::kEdp);
  const SearchResult whole = search_exact(space, options);
  const double best = objective_value(Objective::kEdp, whole.cost.value());
  int interrupted = 0;
  int kept = 0;
  for (const int unrollings : {1, 2, 3, 5}) {
    std::atomic<bool> stop{false};
    int done = 0;
    options.stop = &stop;
    options.progress = [&](const Progress&) { stop = ++done >= unrollings; };
    const SearchResult result = search_exact(space, options);
    if (result.interrupted) {
      ++interrupted;
      kept += result.best ? 1 : 0;
      expect_sound(result, Objective::kEdp, best);
      EXPECT_GT(result.certificate.lower_bound, 0);
    }
  }
  EXPECT_GT(interrupted, 0);
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace mapsim::exact_result_test
