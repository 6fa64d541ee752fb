// SPDX-License-Identifier: Apache-2.0
// Certificates of spaces with balanced factors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "core/diagnostic.hpp"
#include "mapper/constraints.hpp"
#include "proven.hpp"
#include "tests/mapper/random_space.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {
namespace {

using ::testing::HasSubstr;

constexpr std::array kBalancedObjectives{
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

// What a proof of the optimum is to be expected of: neither hops nor a window of sums, which are
// bounded only.
bool has_no_hops(const Problem& problem) {
  const auto& ranks = problem.workload().tensors[problem.workload().output()].ranks;
  return std::none_of(problem.arch().fanouts.begin(), problem.arch().fanouts.end(),
                      [](const Fanout& fanout) { return fanout.energy_per_hop.has_value(); }) &&
         std::all_of(ranks.begin(), ranks.end(),
                     [](const Rank& rank) { return rank.terms.size() < 2; });
}

class BalancedProofs : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, BalancedProofs, testing::Range<std::uint64_t>(0, 4));

// What it claims holds, and nothing that it would follow is above what there is. Is it the optimum?
bool is_proven(const SearchCase& random, const Objective& objective, std::uint64_t seed) {
  const Mapspace space{random.problem, random.constraints};
  const std::string proof = proof_of(random.problem, random.constraints, objective);
  EXPECT_EQ(faults_of(proof), "") << "seed " << seed;
  check::Certificate read = check::parse_certificate(proof, "proof");
  const bool proven = !(read.lower_bound < read.value * (1 - 1e-9));
  read.value = HUGE_VAL;
  const std::vector<double> bounds = check::provable_bounds(read, {});
  const std::map<Instances, double> least = optima(space, objective);
  for (std::size_t c = 0; c < bounds.size(); ++c) {
    const auto found = least.find(instances_of(read.claims[c].unrolling));
    if (found != least.end()) {
      EXPECT_LE(bounds[c], found->second * (1 + 1e-10)) << "seed " << seed << " claim " << c;
    }
  }
  return proven;
}

TEST_P(BalancedProofs, HoldAndNeverClaimTooMuch) {
  int optimal = 0;
  int spaces = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t seed = 90'000 + 1'000 * GetParam() + i;
    const SearchCase random = random_balanced_space(seed, 1'500);
    const bool proven =
        is_proven(random, kBalancedObjectives[i % kBalancedObjectives.size()], seed);
    if (has_no_hops(random.problem)) {
      optimal += proven ? 1 : 0;
      ++spaces;
    }
  }
  EXPECT_GE(spaces, 5);
  EXPECT_GE(optimal, spaces - 3);  // the rest says so
}

TEST_P(BalancedProofs, HoldUnderRules) {
  int ruled = 0;
  for (std::uint64_t i = 0; i < 30; ++i) {
    const std::uint64_t seed = 96'000 + 1'000 * GetParam() + i;
    const SearchCase random = random_ruled_balanced_space(seed, 1'000);
    if (random.constraints.loops.empty()) {
      is_proven(random, kBalancedObjectives[i % kBalancedObjectives.size()], seed);
      ++ruled;
    }
  }
  EXPECT_GT(ruled, 3);
}

// A layer whose dims have no divisors, on an array.
std::string layer_proof() {
  const Problem problem{small_machine(), gemm("gemm", {7, 5, 3, {}, false}, {})};
  Constraints constraints;
  constraints.factors.balanced = true;
  return proof_of(problem, constraints, Objective::kEnergy);
}

// Six terms on two units, whose network adds for much: in tiles of five, the last one adds nothing.
TEST(BalancedProof, CountsNoAdditionsThatPartialTilesSpare) {
  const Problem problem{parse_arch(R"(name: adds
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}
  - {fanout: PEs, x: 2, reduction_energy: 100 pJ}
  - {compute: MAC, energy: 1 pJ}
)",
                                   "arch"),
                        gemm("gemm", {1, 1, 6, {}, false}, {})};
  Constraints constraints =
      parse_constraints("mapspace: {unroll: {PEs: {min_utilization: 1}}}", "rules", problem);
  constraints.factors.balanced = true;
  const Mapspace space{problem, constraints};
  SearchOptions options;
  const SearchResult best = search_exhaustive(space, options);
  ASSERT_TRUE(best.cost);
  options.budget.labels = 1;
  const std::string proof =
      certificate_file({"search", {}}, space, options.objective, search_exact(space, options));
  EXPECT_EQ(faults_of(proof), "");
  EXPECT_LE(check::parse_certificate(proof, "proof").lower_bound, best.cost->energy.total.count());
}

TEST(BalancedProof, HoldsUntilItIsTamperedWith) {
  const std::string proof = layer_proof();
  EXPECT_EQ(complaint(proof), "");
  const check::Certificate read = check::parse_certificate(proof, "proof");
  EXPECT_EQ(read.lower_bound, read.value);
  EXPECT_THAT(complaint(altered(proof, "value:", "\n", fmt::format("value: {} pJ", 1.0))),
              HasSubstr("the mapping has a value of "));
  for (const auto& [from, with, says] : std::vector<std::array<std::string, 3>>{
           {"factors: balanced", "factors: perfect", "unknown dim"},
           {"factors: balanced", "factors: balanced\n  pieces: 1", "may not measure "},
           {"factors: balanced", "factors: balanced\n  tiles: {M: [6]}", "mappings, not "},
           {"capacity: 14 B", "capacity: 28 B", "follows"}}) {
    EXPECT_THAT(complaint(altered(proof, from, "\n", with)), HasSubstr(says)) << with;
  }
}

TEST(BalancedProof, DoesNotHoldForAnotherMapping) {
  const std::string other =
      "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 1\n  - for N: 1\n  - for K: 1\n";
  EXPECT_THAT(complaint(altered(layer_proof(), "mapping:", "inputs:", other)),
              HasSubstr("the mapping has a value of "));
}

// Whatever is claimed of an unrolling beyond what there is.
TEST(BalancedProof, DoesNotHoldForBoundsThatAreNotTrue) {
  const std::string proof = layer_proof();
  const std::size_t bounds = proof.find("bounds:");
  for (std::size_t at = proof.find("  - {", bounds); at != std::string::npos;
       at = proof.find("  - {", at + 1)) {
    const std::size_t colon = proof.find(": ", at);
    const std::string raised =
        proof.substr(0, colon) + ": 1e15 pJ" + proof.substr(proof.find(", spatial", colon));
    EXPECT_THAT(complaint(sealed(raised)), HasSubstr("follows"));
    const std::string left_out = proof.substr(0, at) + proof.substr(proof.find('\n', at) + 1);
    EXPECT_THAT(complaint(sealed(left_out)), HasSubstr("no bound of the unrolling "));
  }
}

}  // namespace
}  // namespace mapsim
