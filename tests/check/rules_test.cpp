// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "check/closed_form_bound.hpp"
#include "check/graph.hpp"
#include "check/membership.hpp"
#include "check/regions.hpp"
#include "check/size.hpp"
#include "core/factor.hpp"
#include "core/rng.hpp"
#include "costmodel/nest.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "proven.hpp"
#include "tests/mapper/random_space.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::rules_test {
namespace {

using check::Certificate;
using check::Paths;

check::Allowed random_numbers(Rng& rng, std::int64_t bound) {
  std::vector<std::int64_t> values;
  for (const std::int64_t n : divisors_of(bound)) {
    if (rng.below(2) == 0) {
      values.push_back(n);
    }
  }
  const auto least = static_cast<std::int64_t>(1 + rng.below(3));
  return values.empty() ? check::Allowed{{}, least, bound} : check::Allowed{values, 1, bound};
}

// A rule for the loops right above a node: groups in an order, factors, dims that end here.
check::LoopRule random_loops(Rng& rng, const Workload& workload) {
  check::LoopRule rule;
  if (rng.below(2) == 0) {
    rule.order = std::vector<DimSet>(1 + rng.below(3));
  }
  for (const DimId d : workload.dims.ids()) {
    if (rule.order && rng.below(6) != 0) {
      (*rule.order)[rng.below(rule.order->size())].insert(d);
    }
    if (rng.below(6) == 0) {
      rule.factors.emplace_back(d, random_numbers(rng, workload.dims[d].bound));
    }
    if (rng.below(8) == 0) {
      rule.rest.insert(d);
    }
  }
  return rule;
}

void add_loop_rules(Rng& rng, Certificate& certificate) {
  const Arch& arch = certificate.problem.arch();
  const auto add = [&](std::optional<LevelId> level, std::optional<FanoutId> fanout) {
    if (rng.below(3) == 0) {
      check::LoopRule rule = random_loops(rng, certificate.problem.workload());
      rule.level = level;
      rule.fanout = fanout;
      certificate.rules.loops.push_back(rule);
    }
  };
  for (const FanoutId f : arch.fanouts.ids()) {
    add(std::nullopt, f);
  }
  for (const LevelId l : arch.levels.ids()) {
    if (certificate.rules.even && l != LevelId{0}) {
      add(l, std::nullopt);
    }
  }
  add(std::nullopt, std::nullopt);
}

void add_rules(Rng& rng, Certificate& certificate) {
  const Workload& workload = certificate.problem.workload();
  const auto dim = [&] { return static_cast<DimId>(rng.below(workload.dims.size())); };
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    const auto level =
        static_cast<LevelId>(1 + rng.below(certificate.problem.arch().levels.size() - 1));
    const auto tensor = static_cast<TensorId>(rng.below(workload.tensors.size()));
    const DimId d = dim();
    if (workload.tensors[tensor].dims().contains(d)) {
      certificate.rules.extents.push_back(
          {level, tensor, d, random_numbers(rng, workload.dims[d].bound), rng.below(4) == 0});
    }
  }
  for (const FanoutId f : certificate.problem.arch().fanouts.ids()) {
    certificate.rules.min_utilization[f] = rng.below(3) == 0 ? 0.5 : 0.0;
    for (check::AxisRules& rules : certificate.rules.unroll[f]) {
      if (rng.below(3) == 0) {
        rules.max_dims = 1;
      }
      if (rng.below(3) == 0) {
        rules.dims = DimSet{dim(), dim()};
      }
      if (rng.below(4) == 0) {
        const DimId d = dim();
        rules.factors.emplace_back(d, random_numbers(rng, workload.dims[d].bound));
      }
    }
  }
}

// Instances per dim and, where hops cost something, axis.
bool is_of(const Problem& problem, const Mapping& mapping, const check::Unrolling& unrolling) {
  const PerDim<std::int64_t> ones(problem.workload().dims.size(), 1);
  PerFanout<check::Rules::AxisFactors> used(problem.arch().fanouts.size(), {ones, ones});
  PerDim<std::int64_t> extents = bounds_of(problem.workload());
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* loop = std::get_if<Temporal>(&node)) {
      extents[loop->dim] = loop->extent;
    } else if (const auto* parallel = std::get_if<Parallel>(&node)) {
      used[parallel->fanout][static_cast<std::size_t>(parallel->axis)][parallel->dim] *=
          extents[parallel->dim] / parallel->extent;
      extents[parallel->dim] = parallel->extent;
    }
  }
  bool same = unrolling.axes.empty() || unrolling.axes == used;
  for (const FanoutId f : used.ids()) {
    for (const DimId d : ones.ids()) {
      same = same && unrolling.factors[f][d] == used[f][0][d] * used[f][1][d];
    }
  }
  return same;
}

// What looking at every mapping says of the space under its rules, as a certificate has it.
// Returns the number of mappings.
std::int64_t survey(const SearchCase& random, Certificate& certificate) {
  const Problem& problem = certificate.problem;
  std::int64_t size = 0;
  certificate.claims.clear();
  for (const check::Unrolling& unrolling : check::list_unrollings(problem, certificate.rules)) {
    certificate.claims.push_back({unrolling, check::Argument::kSearch, check::kInfinity, 0});
  }
  certificate.points.clear();
  certificate.value = check::kInfinity;
  Mapspace{random.problem, random.constraints}.enumerate([&](const Mapping& mapping) {
    if (!check::why_outside(problem, certificate.rules, mapping).empty()) {
      return true;
    }
    ++size;
    const Evaluation evaluation = evaluate(problem, mapping);
    if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
      const double value = certificate.goal.value(
          cost->energy.total.count(), static_cast<double>(cost->latency.steady.count()));
      for (check::Claim& claim : certificate.claims) {
        claim.bound =
            is_of(problem, mapping, claim.unrolling) ? std::min(claim.bound, value) : claim.bound;
      }
      if (value < certificate.value) {
        certificate.value = value;
        certificate.points = {{mapping, {value, 0}, 0}};
      }
    }
    return true;
  });
  certificate.size = std::to_string(size);
  certificate.lower_bound = certificate.value;
  return size;
}

// No floor is above what the best mapping of its unrolling takes, as claimed; nor is the one of
// tensors that share rooms below that of each alone. Returns how often it is higher.
int floors_hold(const Certificate& certificate, std::uint64_t seed) {
  int higher = 0;
  for (const check::Claim& claim : certificate.claims) {
    const auto floor = [&](Paths paths) {
      return closed_form_bound(certificate.problem, certificate.rules, certificate.goal,
                               claim.unrolling, paths)
          .first;
    };
    EXPECT_LE(floor(Paths::kByPhases), claim.bound * (1 + 1e-10)) << "seed " << seed;
    EXPECT_LE(floor(Paths::kTogether), claim.bound * (1 + 1e-10)) << "seed " << seed;
    EXPECT_LE(floor(Paths::kAlone), floor(Paths::kTogether) * (1 + 1e-10)) << "seed " << seed;
    higher += floor(Paths::kTogether) > floor(Paths::kAlone) * (1 + 1e-10) ? 1 : 0;
  }
  return higher;
}

class RulesOfRandomSpaces : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, RulesOfRandomSpaces, testing::Range<std::uint64_t>(0, 4));

// The optimum of each unrolling under random rules is a bound that holds, and nothing above it is.
TEST_P(RulesOfRandomSpaces, AreThoseThatEveryMappingObeys) {
  Rng rng{GetParam()};
  int narrowed = 0;
  int refused = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = 1'000 * GetParam() + 700 + i;
    const SearchCase random = random_space(seed, 3'000);
    Certificate certificate = check::parse_certificate(
        proof_of(random.problem, random.constraints, Objective::kEnergy), "proof");
    const std::string all = certificate.size;
    add_rules(rng, certificate);
    if (i % 2 == 0) {
      add_loop_rules(rng, certificate);
    }
    survey(random, certificate);
    narrowed += certificate.size != all ? 1 : 0;
    EXPECT_THAT(check::check_certificate(certificate, {}).problems, testing::IsEmpty())
        << "seed " << seed;
    floors_hold(certificate, seed);
    for (check::Claim& claim : certificate.claims) {
      if (claim.bound < check::kInfinity) {
        claim.bound *= 1 + 1e-8;
        EXPECT_THAT(check::check_certificate(certificate, {}).problems,
                    testing::ElementsAre(testing::HasSubstr("where there is a mapping of")))
            << "seed " << seed;
        ++refused;
        break;
      }
    }
  }
  EXPECT_GT(narrowed, 20);
  EXPECT_GT(refused, 20);
}

TEST_P(RulesOfRandomSpaces, LeaveFloorsBelowEveryOptimum) {
  int higher = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::uint64_t seed = 70'000 + 1'000 * GetParam() + i;
    const SearchCase random =
        i % 3 == 0 ? random_systolic_space(seed, 2'000) : random_space(seed, 2'000);
    for (const Objective objective : {Objective::kEnergy, Objective::kLatency}) {
      Certificate certificate = check::parse_certificate(
          proof_of(random.problem, random.constraints, objective), "proof");
      survey(random, certificate);
      higher += floors_hold(certificate, seed);
    }
  }
  EXPECT_GT(higher, 5);
}

// A loop read in parts leads where the whole leads, or both lead nowhere: what the count of the
// mapspace rests on.
TEST(RegionsOfRandomSpaces, ReadLoopsInParts) {
  Rng rng{1};
  int parts = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const SearchCase random = random_space(seed, 3'000);
    Certificate certificate = check::parse_certificate(
        proof_of(random.problem, random.constraints, Objective::kEnergy), "proof");
    add_loop_rules(rng, certificate);
    const check::Regions regions{certificate.problem, certificate.rules, {}};
    const PerDim<std::int64_t> bounds = bounds_of(certificate.problem.workload());
    for (std::size_t r = 0; r < regions.size(); ++r) {
      for (std::size_t state = 0; state < regions[r].states(); ++state) {
        for (const DimId d : bounds.ids()) {
          for (const std::int64_t whole : divisors_of(bounds[d])) {
            for (const std::int64_t part : divisors_of(whole)) {
              const auto half = regions[r].after(state, d, part);
              const auto next = half ? regions[r].after(*half, d, whole / part) : std::nullopt;
              EXPECT_EQ(next, regions[r].after(state, d, whole)) << "seed " << seed;
              EXPECT_GE(next.value_or(state), state);
              ++parts;
              refused += next ? 0 : 1;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(parts, 1'000);
  EXPECT_GT(refused, 100);
}

// Rules may leave no unrolling at all: nothing fits, and no bound is needed.
TEST(RuledProof, HoldsWhereNoUnrollingObeys) {
  const Problem problem{small_machine(), gemm("gemm", {4, 4, 4, {}, false})};
  const Constraints constraints = parse_constraints(
      "mapspace: {unroll: {PEs: {min_utilization: 1, X: {max_dims: 0}}}}\n", "rules.yaml", problem);
  const std::string proof = proof_of(problem, constraints, Objective::kEnergy);
  EXPECT_NE(proof.find("bounds: []"), std::string::npos);
  EXPECT_EQ(faults_of(proof), "");
  // Where there are unrollings, nothing holds without bounds.
  std::string forged = proof_of(problem, {}, Objective::kEnergy);
  const std::size_t bounds = forged.find("\nbounds:\n");
  const std::size_t digest = forged.find("\ndigest:");
  ASSERT_NE(bounds, std::string::npos);
  ASSERT_NE(digest, std::string::npos);
  forged.replace(bounds, digest - bounds, "\nbounds: []");
  EXPECT_NE(faults_of(sealed(forged)), "");
}

}  // namespace
}  // namespace mapsim::rules_test
