// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/walk.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "costmodel/mapping_text.hpp"
#include "mapper/histogram.hpp"
#include "mapper/mapper.hpp"
#include "tests/mapper/random_space.hpp"

namespace mapsim::walk_test {
namespace {

// Feasible mappings of one unrolling of a space, by their text, numbered.
std::map<std::string, int> feasible(const Mapspace& space) {
  std::map<std::string, int> found;
  space.enumerate([&](const Mapping& mapping) {
    if (std::holds_alternative<Cost>(evaluate(space.problem(), mapping))) {
      found.emplace(print_mapping(space.problem().arch(), space.problem().workload(), mapping), 0);
    }
    return true;
  });
  return found;
}

// Visits every feasible mapping about equally often. Steps are correlated, so the bound is that of
// chi-square over every 50th state, at seven standard deviations.
// False: the seed's space is not of use here.
bool expect_uniform(std::uint64_t seed) {
  const SearchCase drawn = random_space(seed, 200);
  const Mapspace space(drawn.problem, drawn.constraints);
  std::map<std::string, int> visits = feasible(space);
  const SearchResult start = search_exact(space, {});
  if (space.unrolling_count() != 1 || visits.size() < 5 || !start.best) {
    return false;
  }
  Walk walk(space, *start.best, seed);
  const auto accept = [&](const Mapping& mapping) {
    return std::holds_alternative<Cost>(evaluate(drawn.problem, mapping));
  };
  const int samples = 100 * static_cast<int>(visits.size());
  for (int i = 0; i < samples; ++i) {
    for (int step = 0; step < 50; ++step) {
      walk.step(accept);
    }
    const auto visit =
        visits.find(print_mapping(drawn.problem.arch(), drawn.problem.workload(), walk.mapping()));
    if (visit == visits.end()) {
      ADD_FAILURE() << "a mapping outside the space, seed " << seed;
      return true;
    }
    ++visit->second;
  }
  const double expected = static_cast<double>(samples) / static_cast<double>(visits.size());
  double chi = 0;
  for (const auto& visit : visits) {
    chi += (visit.second - expected) * (visit.second - expected) / expected;
  }
  const auto freedom = static_cast<double>(visits.size() - 1);
  EXPECT_LT(chi, freedom + 7 * std::sqrt(2 * freedom)) << "seed " << seed;
  return true;
}

TEST(Walk, IsUniformOverWhatItAccepts) {
  int spaces = 0;
  for (std::uint64_t seed = 0; spaces < 8; ++seed) {
    spaces += expect_uniform(seed) ? 1 : 0;
  }
}

TEST(Histogram, IsTheSameForAnyNumberOfThreads) {
  const SearchCase drawn = random_space(3);
  const Mapspace space(drawn.problem, drawn.constraints);
  HistogramOptions options;
  options.mappings = 64;
  options.compute_only = true;
  options.within_peak = 0.99;
  const Histogram one = make_histogram(space, options);
  options.threads = 3;
  const Histogram three = make_histogram(space, options);
  ASSERT_FALSE(one.points.empty());
  ASSERT_EQ(one.points.size(), three.points.size());
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    EXPECT_EQ(one.points[i].energy_pj, three.points[i].energy_pj);
  }
}

TEST(Histogram, NeverBeatsTheProvenOptimum) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const SearchCase drawn = random_space(seed);
    const Mapspace space(drawn.problem, drawn.constraints);
    HistogramOptions options;
    options.mappings = 200;
    options.compute_only = true;
    options.within_peak = 0.999;
    const Histogram histogram = make_histogram(space, options);
    for (const HistogramPoint& point : histogram.points) {
      EXPECT_GE(point.energy_pj * (1 + 1e-9), histogram.optimum->energy.total.count());
    }
  }
}

// What a search has found when it is stopped need not be the best.
TEST(Histogram, ClaimsNoOptimumOnceItIsStopped) {
  const std::atomic<bool> stop{true};
  int found = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SearchCase drawn = random_space(seed, 1'000'000);
    const Mapspace space(drawn.problem, drawn.constraints);
    const SearchResult best = search_exact(space, {Objective::kEnergy, 1, 0, 1, &stop});
    found += best.interrupted && best.cost ? 1 : 0;
    HistogramOptions options;
    options.stop = &stop;
    const Histogram histogram = make_histogram(space, options);
    EXPECT_TRUE(histogram.interrupted);
    EXPECT_EQ(histogram.optimum.has_value(), best.cost && !best.interrupted) << "seed " << seed;
  }
  EXPECT_GT(found, 5);
}

TEST(Histogram, SummarisesSpreadAndTies) {
  Histogram histogram;
  histogram.points = {{100, 7}, {100.5, 9}, {300, 7}, {1000, 8}};
  const HistogramSummary summary = summarise(histogram);
  EXPECT_EQ(summary.least_pj, 100);
  EXPECT_EQ(summary.most_pj, 1000);
  EXPECT_EQ(summary.near_optimum, 2);
  EXPECT_EQ(summary.least_accesses, 7);
  EXPECT_EQ(summary.tied, 2);
  EXPECT_DOUBLE_EQ(summary.tied_spread, 3);
}

}  // namespace
}  // namespace mapsim::walk_test
