// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "mapper/branch/class_search.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/placement.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::patterns_test {
namespace {

SearchCase draw(std::uint64_t seed) {
  return seed % 4 == 0   ? random_tall_space(seed, 4'000)
         : seed % 4 == 1 ? random_ruled_space(seed, 4'000)
                         : random_space(seed, 4'000);
}

// The levels that a mapping keeps each tensor at, as its pattern has them.
PerTensor<std::vector<std::size_t>> path_of(const exact::StateGraph& graph,
                                            const Mapping& mapping) {
  const Problem& problem = graph.problem();
  PerTensor<std::vector<std::size_t>> path(problem.workload().tensors.size());
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* keep = std::get_if<Keep>(&node)) {
      for (const TensorId t : path.ids()) {
        if (keep->tensors.contains(t)) {
          path[t].push_back(index_of(keep->level));
        }
      }
    }
  }
  for (const TensorId t : path.ids()) {
    if (graph.residences(t).back().latch) {
      path[t].push_back(problem.arch().levels.size());
    }
  }
  return path;
}

PerTensor<std::vector<std::size_t>> path_of(const exact::Pattern& pattern) {
  PerTensor<std::vector<std::size_t>> path(pattern.boundaries.size());
  for (const TensorId t : path.ids()) {
    path[t].push_back(0);
    for (const exact::PathBoundary& boundary : pattern.boundaries[t]) {
      path[t].push_back(boundary.to);
    }
  }
  return path;
}

PerFanout<PerDim<std::int64_t>> factors_of(const Problem& problem, const Mapping& mapping) {
  PerDim<std::int64_t> extents = bounds_of(problem.workload());
  PerFanout<PerDim<std::int64_t>> factors(problem.arch().fanouts.size(),
                                          PerDim<std::int64_t>(extents.size(), 1));
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* parallel = std::get_if<Parallel>(&node)) {
      factors[parallel->fanout][parallel->dim] *= extents[parallel->dim] / parallel->extent;
      extents[parallel->dim] = parallel->extent;
    } else if (const auto* loop = std::get_if<Temporal>(&node)) {
      extents[loop->dim] = loop->extent;
    }
  }
  return factors;
}

// Every mapping has a pattern, and none is better than the pattern's bound; the best pattern found
// alone is the best of all.
TEST(Patterns, BoundEveryMappingOfTheirs) {
  int met = 0;
  int tight = 0;
  for (std::uint64_t seed = 120'000; seed < 120'000 + tried_of(60U); ++seed) {
    const SearchCase random = draw(seed);
    if (random.problem.places_matter()) {
      continue;
    }
    const Mapspace space{random.problem, random.constraints};
    const Objective objective = seed % 2 == 0 ? Objective::kLatency : Objective::kEdp;
    const exact::UnrollingTasks classes{space, objective};
    std::vector<std::vector<exact::Pattern>> patterns;
    for (std::size_t g = 0; g < classes.size(); ++g) {
      patterns.push_back(classes.patterns(g, {}, false));
      const auto first = classes.patterns(g, {}, true);
      ASSERT_EQ(first.empty(), patterns.back().empty());
      if (!first.empty()) {
        EXPECT_EQ(first.front().bound, patterns.back().front().bound) << "seed " << seed;
      }
    }
    space.enumerate([&](const Mapping& mapping) {
      const Evaluation evaluation = evaluate(random.problem, mapping);
      const Cost* cost = std::get_if<Cost>(&evaluation);
      if (cost == nullptr) {
        return true;
      }
      const auto factors = factors_of(random.problem, mapping);
      for (std::size_t g = 0; g < classes.size(); ++g) {
        if (!(space.unrolling_classes()[g].factors == factors)) {
          continue;
        }
        const auto path = path_of(classes.graph(g), mapping);
        const auto pattern =
            std::find_if(patterns[g].begin(), patterns[g].end(),
                         [&](const exact::Pattern& each) { return path_of(each) == path; });
        EXPECT_NE(pattern, patterns[g].end()) << "seed " << seed;
        if (pattern == patterns[g].end()) {
          return false;
        }
        const double value = objective_value(objective, *cost);
        EXPECT_LE(pattern->bound.first, value * (1 + kRounding)) << "seed " << seed;
        ++met;
        tight += pattern->bound.first >= 0.9 * value ? 1 : 0;
      }
      return true;
    });
  }
  EXPECT_GT(met, tried_of(5'000));
  EXPECT_GT(tight, met / 20);
}

// Searched by patterns alone: the same optimum and tie as by looking at every mapping, and the same
// result on any number of threads.
TEST(Patterns, FindTheOptimum) {
  int found = 0;
  for (std::uint64_t seed = 130'000; seed < 130'000 + tried_of(80U); ++seed) {
    const SearchCase random = draw(seed);
    const Mapspace space{random.problem, random.constraints};
    for (const Objective& objective : {Objective::kLatency, Objective::kEdp}) {
      SearchOptions options;
      options.objective = objective;
      const SearchResult all = search_exhaustive(space, options);
      ClassSearchInputs by_patterns;
      by_patterns.trial_labels = 0;
      for (const int threads : {1, 2}) {
        options.threads = threads;
        const SearchResult best = search_classes(space, options, Deadline{options}, by_patterns);
        ASSERT_EQ(best.cost.has_value(), all.cost.has_value()) << "seed " << seed;
        if (all.cost) {
          ++found;
          const double value = objective_value(objective, *all.cost);
          EXPECT_NEAR(objective_value(objective, *best.cost), value, value * kRounding)
              << "seed " << seed;
          EXPECT_EQ(best.certificate.status, Proof::kOptimal) << "seed " << seed;
          EXPECT_NEAR(best.cost->energy.total.count(), all.cost->energy.total.count(),
                      all.cost->energy.total.count() * 1e-9)
              << "seed " << seed;
        }
      }
    }
  }
  EXPECT_GT(found, tried_of(200));
}

// All ports of this machine are equally busy: 1.8 million labels without patterns.
TEST(Patterns, DecideWherePortsAreEquallyBusy) {
  const std::string root = source_path("");
  const Problem problem{load_arch(root + "bench/machines/busy_3_levels.yaml"),
                        load_workload(root + "configs/workloads/resnet50/conv2_3x3.yaml")};
  SearchOptions options;
  options.objective = Objective::kLatency;
  const SearchResult found = search_exact(Mapspace{problem, {}}, options);
  ASSERT_TRUE(found.cost);
  EXPECT_EQ(found.cost->latency.steady.count(), 3'642'368);
  EXPECT_EQ(found.certificate.status, Proof::kOptimal);
  EXPECT_LT(found.statistics.labels, 20'000);
}

}  // namespace
}  // namespace mapsim::patterns_test
