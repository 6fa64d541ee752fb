// SPDX-License-Identifier: Apache-2.0
// Sets of imperfect unrollings that a certificate bounds together.
#include "check/intervals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "check/closed_form_bound.hpp"
#include "check/extent_domains.hpp"
#include "check/instance_bounds.hpp"
#include "check/prover.hpp"
#include "core/rng.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "optima.hpp"
#include "proven.hpp"
#include "tests/mapper/random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::intervals_test {
namespace {

using ::testing::HasSubstr;

constexpr std::array kIntervalObjectives{
    Objective::kEnergy,
    Objective::kEdp,
    Objective::kLatency,
    Objective{ObjectiveFunction::product(1, 0.5), false, LatencyMode::kRamped},
    Objective{ObjectiveFunction::weighted_sum(3.5)},
};

check::Certificate read(const SearchCase& random, const Objective& objective) {
  return check::parse_certificate(proof_of(random.problem, random.constraints, objective), "proof");
}

// Divides a set down to its unrollings. The bound of each set is at most the least of its mappings,
// which is returned.
class Divided {
 public:
  Divided(const check::Certificate& proof, const std::map<Instances, double>& optima)
      : proof_{proof}, optima_{optima}, space_{proof.problem, proof.rules} {}

  double least() { return least(space_.whole().value()); }
  const std::map<Instances, int>& met() const { return met_; }
  int tight = 0;

 private:
  double least(const check::Intervals& set) {
    double found = HUGE_VAL;
    if (check::is_single(set)) {
      if (const auto unrolling = space_.unrolling(set)) {
        EXPECT_TRUE(space_.contains(*unrolling));
        ++met_[instances_of(*unrolling)];
        const auto optimum = optima_.find(instances_of(*unrolling));
        found = optimum == optima_.end() ? HUGE_VAL : optimum->second;
      }
    } else {
      for (const check::Intervals& half : space_.halves(set)) {
        found = std::min(found, least(half));
      }
    }
    for (const check::Paths paths :
         {check::Paths::kAlone, check::Paths::kTogether, check::Paths::kByPhases}) {
      const check::Figures bound =
          closed_form_bound(proof_.problem, proof_.rules, proof_.goal, space_.ranges(set), paths);
      EXPECT_LE(bound.first, found * (1 + 1e-10));
      tight += bound.first > 0.9 * found ? 1 : 0;
    }
    return found;
  }

  const check::Certificate& proof_;
  const std::map<Instances, double>& optima_;
  check::IntervalSpace space_;
  std::map<Instances, int> met_;
};

class IntervalBounds : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, IntervalBounds, testing::Range<std::uint64_t>(0, 4));

// No set of the space has a bound above the least of its mappings. Adds up unrollings, and bounds
// near it.
void expect_admissible(const SearchCase& random, const Objective& objective,
                       std::size_t& unrollings, int& tight) {
  const check::Certificate proof = read(random, objective);
  const Mapspace space{random.problem, random.constraints};
  const std::map<Instances, double> least = optima(space, objective);
  Divided divided{proof, least};
  divided.least();
  tight += divided.tight;
  unrollings += divided.met().size();
  for (const auto& [instances, times] : divided.met()) {
    EXPECT_EQ(times, 1);
  }
  std::size_t listed = 0;  // by the search
  for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
    listed += space.assignments(unrolling_class).size();
  }
  EXPECT_EQ(divided.met().size(), listed);
  for (const auto& [instances, optimum] : least) {
    EXPECT_TRUE(divided.met().contains(instances));
  }
}

// Whatever the tiles, keeps, rules and the objective.
TEST_P(IntervalBounds, AreAtMostTheLeastOfAllMappingsOfTheirSets) {
  int tight = 0;
  std::size_t unrollings = 0;
  for (std::uint64_t i = 0; i < tried_of(25U); ++i) {
    const std::uint64_t seed = 7'100'000 + 1'000 * GetParam() + i;
    SCOPED_TRACE(seed);
    expect_admissible(i % 2 == 0 ? random_imperfect_space(seed, 20'000)
                                 : random_ruled_imperfect_space(seed, 10'000),
                      kIntervalObjectives[i % kIntervalObjectives.size()], unrollings, tight);
  }
  EXPECT_GT(unrollings, tried_of(25U));
  EXPECT_GT(tight, tried_of(30));
}

// Two fanouts above and below a small buffer, which each split any dim along both axes. Capacities
// bind, networks merge or not, sums are wide, and a limit may exclude mappings.
SearchCase random_two_fanouts(std::uint64_t seed) {
  Rng rng{seed};
  const auto any = [&](std::initializer_list<const char*> from) {
    return *(from.begin() + static_cast<std::ptrdiff_t>(rng.below(from.size())));
  };
  const std::string arch = fmt::format(
      R"(name: two_fanouts
nodes:
  - {{storage: DRAM, capacity: unlimited, energy: {{read: 16 pJ/b, write: {} pJ/b}}, bandwidth: {{shared: {} b/cycle}}}}
  - {{fanout: outer, x: {}, y: {}{}}}
  - {{storage: Buffer, capacity: {} B, energy: {{read: 1 pJ/b, write: 2 pJ/b}}{}}}
  - {{fanout: inner, x: {}, y: {}{}}}
  - {{compute: MAC, energy: 1 pJ{}}}
)",
      any({"4", "16", "40"}), any({"8", "64"}), 2 + rng.below(2), 1 + rng.below(2),
      any({"", ", multicast: [input]", ", spatial_reduction: false"}), 5 + rng.below(16),
      any({"", ", bypass: [weight]", ", bypass: [output]", ", keep: [input]"}), 2 + rng.below(2),
      1 + rng.below(2),
      any({"", ", multicast: [weight]", ", reduction_energy: 30 pJ",
           ", multicast: [input, weight], spatial_reduction: false"}),
      any({"", ", register_reuse: [weight]", ", register_reuse: [output]"}));
  const auto size = [&] { return static_cast<std::int64_t>(1 + rng.below(5)); };
  const std::string layer =
      rng.below(3) == 0
          ? fmt::format(
                "name: conv\nconv2d: {{in_channels: 1, out_channels: {}, input: [1, {}], kernel: "
                "[1, 2], stride: "
                "{}}}\nprecision: {{partial: {} b}}\n",
                1 + rng.below(3), 4 + rng.below(4), 1 + rng.below(2), any({"8", "24"}))
          : fmt::format("name: gemm\ngemm: {{m: {}, n: {}, k: {}}}\nprecision: {{partial: {} b}}\n",
                        2 + size(), size(), 2 + rng.below(2), any({"8", "24"}));
  SearchCase random{Problem{parse_arch(arch, "arch"), parse_workload(layer, "layer")}, {}};
  random.constraints.factors.imperfect = true;
  return random;
}

TEST_P(IntervalBounds, OfTwoFanoutsAreAtMostTheLeastOfAllMappings) {
  const char* const more = std::getenv("MAPSIM_MORE_SEEDS");  // for long runs by hand
  const std::uint64_t seeds = more != nullptr ? std::stoull(more) : tried_of(10U);
  int tight = 0;
  std::size_t unrollings = 0;
  for (std::uint64_t i = 0; i < seeds; ++i) {
    const std::uint64_t seed = 7'300'000 + 100'000 * GetParam() + i;
    SCOPED_TRACE(seed);
    const SearchCase random = random_two_fanouts(seed);
    const Mapspace space{random.problem, random.constraints};
    const std::string mappings = mapspace_size(space);
    if (mappings.size() > 6 || mappings == "0") {
      continue;
    }
    Objective objective = kIntervalObjectives[i % kIntervalObjectives.size()];
    if (i % 4 == 3) {
      const SearchResult best = search_exact(space, {});
      objective.max_energy = 1.3 * (best.cost ? best.cost->energy.total : Picojoules{1e9});
    }
    expect_admissible(random, objective, unrollings, tight);
  }
  EXPECT_GT(unrollings, 20 * seeds);
  EXPECT_GT(tight, 0);
}

// All bounds but one of all unrollings, as high as what is proven of each.
TEST_P(IntervalBounds, ProveWhatAListProves) {
  int optimal = 0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const std::uint64_t seed = 7'200'000 + 1'000 * GetParam() + i;
    SCOPED_TRACE(seed);
    const SearchCase random = i % 3 != 0 ? random_imperfect_space(seed, 1'500)
                                         : random_ruled_imperfect_space(seed, 1'000);
    const Objective& objective = kIntervalObjectives[i % kIntervalObjectives.size()];
    const std::string proof = proof_of(random.problem, random.constraints, objective);
    check::Certificate draft = check::parse_certificate(proof, "proof");
    draft.value = std::isfinite(draft.value) ? 1.5 * draft.value : draft.value;
    const std::vector<double> listed = check::provable_bounds(draft, {});
    const check::Claim others{{}, check::Argument::kUnrollingBound, 0, 0, true};
    draft.claims = {others};
    const double together = check::provable_bounds(draft, {}).front();
    const double least = *std::min_element(listed.begin(), listed.end());
    EXPECT_TRUE(together == least || std::abs(together - least) < 1e-9 * least);

    const std::string bound = proof.substr(
        proof.find("lower_bound: ") + 13,
        proof.find('\n', proof.find("lower_bound: ")) - proof.find("lower_bound: ") - 13);
    const std::string short_proof = altered(
        proof, "bounds:\n", "digest: ", fmt::format("bounds:\n  - {{others: {}}}\n", bound));
    EXPECT_EQ(faults_of(short_proof), "");
    const check::Certificate claimed = check::parse_certificate(proof, "proof");
    if (claimed.value < HUGE_VAL && !(claimed.lower_bound < claimed.value)) {
      ++optimal;
      const std::string too_much =
          altered(proof, "bounds:\n", "digest: ",
                  fmt::format("bounds:\n  - {{others: {}}}\n",
                              check::value_text(1.01 * claimed.value, claimed.goal)));
      EXPECT_THAT(faults_of(too_much), HasSubstr("follows"));
    }
  }
  EXPECT_GT(optimal, 4);
}

// An array whose axes take any dims, with far more unrollings than can be listed.
Problem wide(const GemmShape& shape) {
  return {parse_arch(R"(name: wide
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 12 pJ/b, write: 12 pJ/b}, bandwidth: {shared: 256 b/cycle}}
  - {storage: Buffer, capacity: 64 KiB, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {fanout: PEs, x: 64, y: 64}
  - {storage: Reg, capacity: 256 B, energy: {read: 0.06 pJ/b, write: 0.06 pJ/b}}
  - {compute: MAC, energy: 0.5 pJ}
)",
                     "arch"),
          gemm("gemm", shape, {})};
}

Constraints any_factors() {
  Constraints constraints;
  constraints.factors.imperfect = true;
  return constraints;
}

// What is wrong with a forgery, without looking for long at each unrolling that it leaves open.
std::string hasty_complaint(const std::string& proof) {
  check::CheckOptions options;
  options.effort = {300, 0};
  const check::Verdict verdict =
      check::check_certificate(check::parse_certificate(proof, "proof"), options);
  return fmt::format("{}", fmt::join(verdict.problems, "\n"));
}

// Each known by a key of its own. Also of fanouts in a line, of which no more is there than along
// one axis.
TEST(IntervalSpace, HasTheUnrollingsThatUseEnoughOfAFanout) {
  std::size_t in_lines = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 3'000);
    const check::Certificate proof = read(random, Objective::kEnergy);
    const check::IntervalSpace space{proof.problem, proof.rules};
    const auto all = space.list(10'000, {});
    ASSERT_TRUE(all) << "seed " << seed;
    std::set<std::vector<std::int64_t>> keys;
    std::transform(all->begin(), all->end(), std::inserter(keys, keys.end()), check::key_of);
    EXPECT_EQ(keys.size(), all->size()) << "seed " << seed;
    for (const FanoutId f : proof.problem.arch().fanouts.ids()) {
      const Fanout& fanout = proof.problem.arch().fanouts[f];
      if (proof.rules.spatial[f]) {
        continue;
      }
      for (const double share : {0.5, 1.0}) {
        check::Rules rules = proof.rules;
        rules.min_utilization[f] = share;
        const auto uses_enough = [&](const check::Unrolling& unrolling) {
          double instances = 1;
          for (const std::int64_t along : unrolling.factors[f]) {
            instances *= static_cast<double>(along);
          }
          return instances >= share * static_cast<double>(fanout.x * fanout.y);
        };
        const auto wanted =
            static_cast<std::size_t>(std::count_if(all->begin(), all->end(), uses_enough));
        const check::IntervalSpace ruled{proof.problem, rules};
        const auto left = ruled.list(10'000, {});
        ASSERT_TRUE(left);
        EXPECT_EQ(left->size(), wanted) << "seed " << seed;
        in_lines += fanout.x == 1 || fanout.y == 1 ? wanted : 0;
      }
    }
  }
  EXPECT_GT(in_lines, 10U);
}

// Without a step for each number up to a bound.
TEST(ExtentDomains, HaveEachQuotientThatIsRoundedUp) {
  check::Rules rules;
  rules.tiles.resize(3);
  for (const std::int64_t bound : {1, 2, 12, 97, 360, 1'001}) {
    for (const std::int64_t pieces : {0, 1, 5, 400}) {
      rules.pieces = pieces;
      std::set<std::int64_t> expected;
      for (std::int64_t n = 1; n <= bound; ++n) {
        if (pieces == 0 || n <= pieces || bound % n == 0) {
          expected.insert((bound + n - 1) / n);
        }
      }
      expected.insert(1);
      const auto found = list_extent_domains(gemm("gemm", {bound, 1, 1, {}, false}, {}), rules);
      EXPECT_THAT(found[DimId{0}], testing::ElementsAreArray(expected)) << bound << " " << pieces;
    }
  }
  rules.pieces = 0;
  const std::int64_t large = std::int64_t{1} << 32;
  const auto found = list_extent_domains(gemm("gemm", {large, 1, 1, {}, false}, {}), rules);
  EXPECT_EQ(found[DimId{0}].size(), 131'071U);
}

// The largest one is what the instances further out leave of the dim.
TEST(InstanceBounds, HaveTheTilesOfOneInstance) {
  int smaller = 0;
  for (std::uint64_t seed = 7'400'000; seed < 7'400'020; ++seed) {
    const SearchCase random = random_two_fanouts(seed);
    const check::Certificate proof = read(random, Objective::kEnergy);
    const Arch& arch = proof.problem.arch();
    const auto all = check::IntervalSpace{proof.problem, proof.rules}.list(200, {});
    for (const check::Unrolling& unrolling : all.value_or(std::vector<check::Unrolling>{})) {
      const check::ChoiceRanges ranges = check::ranges_of_axes(proof.problem, unrolling);
      const check::InstanceBounds bounds{proof.problem, proof.rules, ranges};
      for (const LevelId level : arch.levels.ids()) {
        const auto capacities = bounds.capacities_at(level);
        for (const DimId d : proof.problem.workload().dims.ids()) {
          const std::int64_t bound = proof.problem.workload().dims[d].bound;
          std::int64_t tile = bound;
          for (const FanoutId f : arch.fanouts.ids()) {
            for (const auto& along : unrolling.axes[f]) {
              tile = arch.is_above(level, f) ? tile : (tile + along[d] - 1) / along[d];
            }
          }
          EXPECT_EQ(capacities.extents[d].back(), tile) << "seed " << seed;
          smaller += tile < bound ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(smaller, 50);
}

TEST(WideProof, HoldsUntilItIsTamperedWith) {
  for (const Objective& objective : {Objective::kEnergy, Objective::kLatency, Objective::kEdp}) {
    const Problem problem = wide({97, 101, 103, {}, false});
    ASSERT_FALSE((Mapspace{problem, any_factors()}.is_listable()));
    const std::string proof = proof_of(problem, any_factors(), objective);
    EXPECT_EQ(faults_of(proof), "");
    const check::Certificate claimed = check::parse_certificate(proof, "proof");
    EXPECT_EQ(claimed.lower_bound, claimed.value);
    if (objective.function.uses_energy()) {  // the best mapping is one of the others
      const std::string too_much =
          altered(proof, "bounds:\n", "digest: ",
                  fmt::format("bounds:\n  - {{others: {}}}\n",
                              check::value_text(1.0001 * claimed.value, claimed.goal)));
      EXPECT_THAT(hasty_complaint(too_much), HasSubstr("follows"));
    }
  }
}

// A mapping that is not the best, said to be: what is left out of the claims has a better one.
TEST(WideProof, DoesNotHoldForAnotherMapping) {
  const Problem problem = wide({96, 100, 104, {}, false});
  const Mapspace space{problem, any_factors()};
  Constraints divisors;
  const SearchResult perfect = search_exact(Mapspace{problem, divisors}, {});
  SearchResult worse = search_exact(space, {});
  ASSERT_LT(worse.cost->energy.total, perfect.cost->energy.total);
  worse.best = perfect.best;
  worse.cost = perfect.cost;
  worse.certificate.lower_bound = perfect.cost->energy.total.count();
  const std::string proof = certificate_file({"search", {}}, space, Objective::kEnergy, worse);
  EXPECT_EQ(faults_of(proof), "");  // it states a gap
  const check::Certificate claimed = check::parse_certificate(proof, "proof");
  EXPECT_LT(claimed.lower_bound, claimed.value * 0.9999);
  std::string forged =
      altered(proof, "lower_bound: ", "\n", fmt::format("lower_bound: {} pJ", claimed.value));
  for (std::size_t at = forged.find("bounds:\n"); at != std::string::npos;) {
    at = forged.find("  - {", at + 1);
    if (at != std::string::npos) {
      const std::size_t colon = forged.find(": ", at) + 2;
      forged.replace(colon, forged.find(" pJ", colon) - colon, fmt::format("{}", claimed.value));
    }
  }
  EXPECT_THAT(hasty_complaint(sealed(forged)), HasSubstr("follows"));
}

TEST(WideProof, IsStopped) {
  const Problem problem = wide({97, 101, 103, {}, false});
  const check::Certificate claimed =
      check::parse_certificate(proof_of(problem, any_factors(), Objective::kEnergy), "proof");
  const std::atomic<bool> stop{true};
  check::CheckOptions options;
  options.effort.stop = {&stop};
  EXPECT_THAT(check::check_certificate(claimed, options).problems,
              testing::Contains(HasSubstr("the check was stopped")));
}

}  // namespace
}  // namespace mapsim::intervals_test
