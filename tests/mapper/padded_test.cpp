// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/padded.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arch/load.hpp"
#include "mapper/counting/why_empty.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/membership.hpp"
#include "membership.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::padded_test {
namespace {

const std::string kConfigs = source_path("configs/");

Constraints imperfect() {
  Constraints constraints;
  constraints.factors.imperfect = true;
  return constraints;
}

SearchResult search_a_little(const Mapspace& space, const Objective& objective) {
  SearchOptions options;
  options.objective = objective;
  options.budget.labels = 20'000;
  return search_exact(space, options);
}

// Whatever is found lies in the space and costs what it is said to.
TEST(PaddedSearch, FindsMappingsOfTheSpace) {
  int found = 0;
  for (std::uint64_t seed = 90'000; seed < 90'200; ++seed) {
    const SearchCase random = seed % 3 == 0 ? random_ruled_imperfect_space(seed, 20'000)
                                            : random_imperfect_space(seed, 20'000);
    const Mapspace space{random.problem, random.constraints};
    SearchOptions options;
    options.objective = seed % 2 == 0 ? Objective::kEnergy : Objective::kEdp;
    const Deadline deadline{options};
    for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
      const PaddedSearch padded = search_padded(space, unrolling_class, options, 3'000, deadline);
      if (!padded.best) {
        continue;
      }
      ++found;
      EXPECT_EQ(why_outside(space, padded.best->mapping), "") << "seed " << seed;
      const Evaluation evaluation = evaluate(random.problem, padded.best->mapping);
      const Cost* cost = std::get_if<Cost>(&evaluation);
      ASSERT_NE(cost, nullptr) << "seed " << seed;
      EXPECT_EQ(cost->energy.total, padded.best->cost.energy.total) << "seed " << seed;
    }
  }
  EXPECT_GT(found, 400);
}

// A dim of 997 has no divisors. The optimum of 1000 x 1024 x 1024 is 1.764 mJ.
TEST(ImperfectSearch, AnswersLargePrimesAsWellAsTheirNeighbours) {
  const Problem problem{load_arch(kConfigs + "arch/nvdla_like_1024.yaml"),
                        gemm("primes", {997, 1009, 1013, {}, false})};
  const Mapspace space{problem, imperfect()};
  const SearchResult energy = search_a_little(space, Objective::kEnergy);
  ASSERT_TRUE(energy.cost);
  EXPECT_LT(energy.cost->energy.total.count(), 1.764e9);
  const SearchResult latency = search_a_little(space, Objective::kLatency);
  ASSERT_TRUE(latency.cost);
  EXPECT_LT(latency.cost->latency.steady.count(), 1'048'576);
}

// 997 divides by nothing, and 1000 x 1024 x 1024 takes 1,048,576 cycles: the limit is that of the
// layer, not of the wider one.
TEST(ImperfectSearch, KeepsALimitThatTheWiderProblemDoesNot) {
  const Problem problem{load_arch(kConfigs + "arch/nvdla_like_1024.yaml"),
                        gemm("primes", {997, 1009, 1013, {}, false})};
  Objective objective = Objective::kEnergy;
  objective.max_latency = Cycles{1'030'000};
  const SearchResult found = search_a_little(Mapspace{problem, imperfect()}, objective);
  ASSERT_TRUE(found.cost);
  EXPECT_LE(found.cost->latency.steady.count(), 1'030'000);
}

// Of 13 x 13 instances no tiles of 12 use all. Without the rule there are too many unrollings to
// list.
TEST(ImperfectSearch, SaysWhichRuleNothingObeys) {
  const Problem problem{
      parse_arch("name: m\nclock: 1 GHz\nnodes:\n  - storage: DRAM\n    word: 8 b\n"
                 "    capacity: unlimited\n    energy: {read: 100 pJ/word, write: 100 pJ/word}\n"
                 "  - fanout: F0\n    x: 8\n    y: 8\n    multicast: true\n"
                 "    spatial_reduction: true\n  - storage: B0\n    word: 8 b\n"
                 "    capacity: 2000 B\n    energy: {read: 6 pJ/word, write: 6 pJ/word}\n"
                 "  - fanout: F1\n    x: 13\n    y: 13\n    multicast: true\n"
                 "    spatial_reduction: true\n  - storage: B1\n    word: 8 b\n"
                 "    capacity: 256 B\n    energy: {read: 1 pJ/word, write: 1 pJ/word}\n"
                 "  - compute: MAC\n    energy: 1 pJ\n",
                 "m.yaml"),
      gemm("g", {12, 12, 12, {}, false})};
  Constraints rules = imperfect();
  rules.unroll.emplace_back().fanout = FanoutId{1};
  rules.unroll.back().min_utilization = 1.0;
  const Mapspace space{problem, rules};
  const SearchResult found = search_exact(space, {});
  EXPECT_FALSE(found.best);
  EXPECT_EQ(found.certificate.status, Proof::kInfeasible);
  ASSERT_FALSE((Mapspace{problem, imperfect()}.is_listable()));
  EXPECT_NE(why_empty(space).find("there are some without: "), std::string::npos)
      << why_empty(space);
}

// More unrollings than can be listed are generated: as good as the neighbour, and proven.
TEST(ImperfectSearch, AnswersWhereUnrollingsAreTooManyToList) {
  const Problem problem{load_arch(kConfigs + "arch/tpu_pod_like.yaml"),
                        gemm("primes", {127, 251, 131, {}, false})};
  const Mapspace space{problem, imperfect()};
  ASSERT_FALSE(space.is_listable());
  const Problem wider{problem.arch(), gemm("wider", {128, 256, 136, {}, false})};
  Mapping fastest;
  for (const Objective& objective :
       {Objective{Objective::kEnergy}, Objective{Objective::kLatency}}) {
    SearchOptions options;
    options.objective = objective;
    const SearchResult found = search_exact(space, options);
    const SearchResult neighbour = search_exact(Mapspace{wider, {}}, options);
    ASSERT_TRUE(found.cost && neighbour.cost);
    EXPECT_EQ(why_outside(space, *found.best), "");
    if (objective == Objective{Objective::kLatency}) {
      EXPECT_LE(found.cost->latency.steady.count(), neighbour.cost->latency.steady.count());
      fastest = *found.best;
    } else {
      EXPECT_LE(found.cost->energy.total.count(), 1.02 * neighbour.cost->energy.total.count());
    }
    EXPECT_FALSE(found.interrupted);
    EXPECT_EQ(found.certificate.status, Proof::kOptimal);
  }
  if (kSanitized) {
    return;  // the rest takes minutes
  }
  // Rules for unrollings are kept, and the optimum within them is proven, too.
  const Constraints ruled = parse_constraints(
      "mapspace: {factors: imperfect, unroll: {MatrixUnits: {X: {max_dims: 1}, Y: {factors: {M: "
      "1}}}}}\n",
      "rules.yaml", problem);
  const Mapspace small{problem, ruled};
  ASSERT_FALSE(small.is_listable());
  const SearchResult kept = search_exact(small, {});
  ASSERT_TRUE(kept.best);
  EXPECT_EQ(why_outside(small, *kept.best), "");
  EXPECT_EQ(why_outside_of(small, *kept.best), "");
  EXPECT_EQ(kept.certificate.status, Proof::kOptimal);
  const Constraints other = parse_constraints(
      "mapspace: {factors: imperfect, unroll: {Chips: {X: {max_dims: 0}, Y: {max_dims: 0}}}}\n",
      "rules.yaml", problem);
  EXPECT_NE(why_outside_of(Mapspace{problem, other}, fastest), "");
  SearchOptions options;
  options.objective = Objective::kEnergy;
  options.objective.max_latency = Cycles{1'000'000};
  const SearchResult limited = search_exact(space, options);
  ASSERT_TRUE(limited.cost);
  EXPECT_LE(limited.cost->latency.steady.count(), 1'000'000);
}

// An unrolling that does not divide the image: 7 x 7 of 13 x 13 takes as few steps as any.
TEST(ImperfectSearch, FindsTheMappingOfAnUnrollingThatDoesNotDivide) {
  const Problem problem{load_arch(kConfigs + "arch/shidiannao_like.yaml"),
                        load_workload(kConfigs + "workloads/alexnet/conv3.yaml")};
  const auto dim = [&](const char* name) {
    for (const DimId d : problem.workload().dims.ids()) {
      if (problem.workload().dims[d].name == name) {
        return d;
      }
    }
    return DimId{};
  };
  Constraints constraints = imperfect();
  constraints.spatial =
      Unrolling{{dim("Q"), FanoutId{0}, Axis::kX, 7}, {dim("P"), FanoutId{0}, Axis::kY, 7}};
  const Mapspace space{problem, constraints};
  const SearchResult found = search_a_little(space, Objective::kLatency);
  ASSERT_TRUE(found.cost);
  EXPECT_EQ(found.cost->latency.steady.count(), 3'538'944);
  EXPECT_EQ(found.certificate.status, Proof::kOptimal);
}

}  // namespace
}  // namespace mapsim::padded_test
