// SPDX-License-Identifier: Apache-2.0
// Certificates of spaces with balanced factors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "proven.hpp"
#include "tests/mapper/random_space.hpp"

namespace mapsim {
namespace {

constexpr std::array kObjectives{
    Objective::kEnergy,
    Objective::kLatency,
    Objective::kEdp,
    Objective{1, 0.5, false, LatencyMode::kRamped},
};

// Instances per fanout, axis and dim.
using Instances = std::vector<std::int64_t>;

Instances instances_of(const check::Unrolling& unrolling) {
  Instances flat;
  for (const auto& axes : unrolling.axes) {
    flat.insert(flat.end(), axes[0].begin(), axes[0].end());
    flat.insert(flat.end(), axes[1].begin(), axes[1].end());
  }
  return flat;
}

Instances instances_of(const Problem& problem, const Mapping& mapping) {
  const std::size_t dims = problem.workload().dims.size();
  Instances flat(problem.arch().fanouts.size() * 2 * dims, 1);
  PerDim<std::int64_t> extents(dims);
  for (const DimId d : extents.ids()) {
    extents[d] = problem.workload().dims[d].bound;
  }
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* loop = std::get_if<Temporal>(&node)) {
      extents[loop->dim] = loop->extent;
    } else if (const auto* parallel = std::get_if<Parallel>(&node)) {
      const std::size_t axis =
          index_of(parallel->fanout) * 2 + static_cast<std::size_t>(parallel->axis);
      flat[axis * dims + index_of(parallel->dim)] =
          (extents[parallel->dim] + parallel->extent - 1) / parallel->extent;
      extents[parallel->dim] = parallel->extent;
    }
  }
  return flat;
}

// The least of every unrolling, by evaluating all mappings.
std::map<Instances, double> optima(const Mapspace& space, const Objective& objective) {
  std::map<Instances, double> least;
  space.enumerate([&](const Mapping& mapping) {
    const Evaluation evaluation = evaluate(space.problem(), mapping);
    if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
      double& best = least.emplace(instances_of(space.problem(), mapping), HUGE_VAL).first->second;
      best = std::min(best, objective_value(objective, *cost));
    }
    return true;
  });
  return least;
}

class BalancedProofs : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, BalancedProofs, testing::Range<std::uint64_t>(0, 4));

// What it claims holds, and nothing that it would follow is above what there is.
TEST_P(BalancedProofs, HoldAndNeverClaimTooMuch) {
  int optimal = 0;
  int spaces = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const std::uint64_t seed = 90'000 + 1'000 * GetParam() + i;
    const SearchCase random = random_balanced_space(seed, 2'000);
    const Objective& objective = kObjectives[i % kObjectives.size()];
    const Mapspace space{random.problem, random.constraints};
    const std::string proof = proof_of(random.problem, random.constraints, objective);
    EXPECT_EQ(faults_of(proof), "") << "seed " << seed;
    check::Certificate read = check::parse_certificate(proof, "proof");
    optimal += read.lower_bound < read.value * (1 - 1e-9) ? 0 : 1;
    ++spaces;
    read.value = HUGE_VAL;
    const std::vector<double> bounds = check::provable_bounds(read, {});
    const std::map<Instances, double> least = optima(space, objective);
    for (std::size_t c = 0; c < bounds.size(); ++c) {
      const auto found = least.find(instances_of(read.claims[c].unrolling));
      if (found != least.end()) {
        EXPECT_LE(bounds[c], found->second * (1 + 1e-10)) << "seed " << seed << " claim " << c;
      }
    }
  }
  std::printf("optimal %d of %d\n", optimal, spaces);
}

}  // namespace
}  // namespace mapsim
