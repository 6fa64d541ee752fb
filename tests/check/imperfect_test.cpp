// SPDX-License-Identifier: Apache-2.0
// Certificates of spaces with imperfect factors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "check/membership.hpp"
#include "check/point.hpp"
#include "core/diagnostic.hpp"
#include "mapper/front.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "optima.hpp"
#include "proven.hpp"
#include "report/front.hpp"
#include "tests/mapper/random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::imperfect_test {
namespace {

using ::testing::HasSubstr;

constexpr std::array kImperfectObjectives{
    Objective::kEnergy,
    Objective::kLatency,
    Objective::kEdp,
    Objective{ObjectiveFunction::product(1, 0.5), false, LatencyMode::kRamped},
    Objective{ObjectiveFunction::weighted_sum(3.5)},
};

// What a proof of the optimum is to be expected of: neither hops nor a window of sums, which are
// bounded only.
bool has_no_hops(const Problem& problem) {
  const auto& ranks = problem.workload().tensors[problem.workload().output()].ranks;
  return std::none_of(problem.arch().fanouts.begin(), problem.arch().fanouts.end(),
                      [](const Fanout& fanout) { return fanout.energy_per_hop.has_value(); }) &&
         std::all_of(ranks.begin(), ranks.end(),
                     [](const Rank& rank) { return rank.terms.size() < 2; });
}

class ImperfectProofs : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ImperfectProofs, testing::Range<std::uint64_t>(0, 4));

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

TEST_P(ImperfectProofs, HoldAndNeverClaimTooMuch) {
  int optimal = 0;
  int spaces = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t seed = 90'000 + 1'000 * GetParam() + i;
    const SearchCase random = random_imperfect_space(seed, 1'500);
    const bool proven =
        is_proven(random, kImperfectObjectives[i % kImperfectObjectives.size()], seed);
    if (has_no_hops(random.problem)) {
      optimal += proven ? 1 : 0;
      ++spaces;
    }
  }
  EXPECT_GE(spaces, 5);
  EXPECT_GE(optimal, spaces - 3);  // the rest says so
}

TEST_P(ImperfectProofs, HoldUnderRules) {
  int ruled = 0;
  int optimal = 0;
  for (std::uint64_t i = 0; i < 30; ++i) {
    const std::uint64_t seed = 96'000 + 1'000 * GetParam() + i;
    const SearchCase random = random_ruled_imperfect_space(seed, 1'000);
    const bool proven =
        is_proven(random, kImperfectObjectives[i % kImperfectObjectives.size()], seed);
    if (!random.constraints.loops.empty() && has_no_hops(random.problem)) {
      ++ruled;
      optimal += proven ? 1 : 0;
    }
  }
  EXPECT_GT(ruled, 3);
  EXPECT_GE(optimal, ruled - 3);
}

// How near any mapping comes to what a certificate says of ties, fronts or curves; 1: none beats
// it.
double true_share(const Mapspace& space, const check::Certificate& claimed) {
  check::ClaimedFront front;
  for (const check::Point& point : claimed.points) {
    front.points.push_back(point.figures);
  }
  front.first_decides = claimed.goal.kind == check::Goal::Kind::kTies;
  front.slack = claimed.goal.ties_by_energy() ? check::kTolerance : 0;
  double least = 1;
  const Mapspace all{claimed.problem, space.constraints()};  // with plenty of a curve's room
  all.enumerate([&](const Mapping& mapping) {
    const Evaluation evaluation = evaluate(all.problem(), mapping);
    if (const Cost* cost = std::get_if<Cost>(&evaluation)) {
      least = std::min(least, front.share(check::figures_of(all.problem(), claimed.goal, *cost)));
    }
    return true;
  });
  return least;
}

// What a certificate of points would follow is not above what there is, with all of them or without
// one. Does it show that there are no others?
bool shows_all_points(const Mapspace& space, const std::string& proof, std::uint64_t seed) {
  EXPECT_EQ(faults_of(proof), "") << "seed " << seed << '\n' << proof;
  check::Certificate read = check::parse_certificate(proof, "proof");
  const bool all = read.gap == 0;
  EXPECT_LE(1 / (1 + read.gap), true_share(space, read) * (1 + 1e-9)) << "seed " << seed;
  if (read.points.size() > 1) {
    read.points.erase(read.points.begin() + static_cast<std::ptrdiff_t>(seed % read.points.size()));
    const double truth = true_share(space, read);
    EXPECT_LE(check::provable_share(read, {}), truth * (1 + 1e-9)) << "seed " << seed;
    read.gap = 0;
    EXPECT_TRUE(!(truth < 1) || !check::check_certificate(read, {}).problems.empty()) << seed;
  }
  return all;
}

TEST_P(ImperfectProofs, OfFrontsTiesAndCurvesHoldAndNeverClaimTooMuch) {
  std::array<int, 3> all{};
  std::array<int, 3> tried{};
  for (std::uint64_t i = 0; i < 12; ++i) {
    const std::uint64_t seed = 93'000 + 1'000 * GetParam() + i;
    const SearchCase random = i % 2 == 0 ? random_imperfect_space(seed, 1'000)
                                         : random_ruled_imperfect_space(seed, 1'000);
    if (!has_no_hops(random.problem)) {
      continue;
    }
    const Mapspace space{random.problem, random.constraints};
    FrontSubject subject{Objective::kEnergy, std::nullopt};
    std::string proof =
        front_certificate_file({"search", {}}, space, subject, search_front(space, {}));
    ++tried[0];
    all[0] += !proof.empty() && shows_all_points(space, proof, seed) ? 1 : 0;

    Objective tied = i % 2 == 0 ? Objective::kEnergy : Objective::kLatency;
    tied.exact_ties = true;
    proof = proof_of(random.problem, random.constraints, tied);
    const bool shows_ties = proof.find("ties: ") != std::string::npos;
    ++tried[1];
    all[1] += shows_ties ? 1 : 0;
    EXPECT_TRUE(!shows_ties || shows_all_points(space, proof, seed));

    const auto level = static_cast<LevelId>(i % random.problem.arch().levels.size());
    if (random.problem.arch().levels[level].capacity.per_role.empty()) {
      subject.capacity = CurveCapacity{level, {}};
      const Front curve = search_curve(space, {}, *subject.capacity);
      proof = front_certificate_file({"search", {}}, space, subject, curve);
      ++tried[2];
      all[2] += !proof.empty() && shows_all_points(space, proof, seed) ? 1 : 0;
    }
  }
  for (const std::size_t kind : {0U, 1U, 2U}) {
    EXPECT_GT(tried[kind], 0) << kind;
    EXPECT_GE(all[kind], tried[kind] - 2) << kind;
  }
}

// A layer whose dims have no divisors, on an array.
std::string layer_proof() {
  const Problem problem{small_machine(), gemm("gemm", {7, 5, 3, {}, false}, {})};
  Constraints constraints;
  constraints.factors.imperfect = true;
  return proof_of(problem, constraints, Objective::kEnergy);
}

// Six terms on two units, whose network adds for much: in tiles of five, the last one adds nothing.
TEST(ImperfectProof, CountsNoAdditionsThatPartialTilesSpare) {
  const Problem problem{parse_arch(R"(name: adds
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}
  - {fanout: PEs, x: 2, spatial_reduction: true, reduction_energy: 100 pJ}
  - {compute: MAC, energy: 1 pJ}
)",
                                   "arch"),
                        gemm("gemm", {1, 1, 6, {}, false}, {})};
  Constraints constraints =
      parse_constraints("mapspace: {unroll: {PEs: {min_utilization: 1}}}", "rules", problem);
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  SearchOptions options;
  const SearchResult best = search_exhaustive(space, options);
  ASSERT_TRUE(best.cost);
  options.budget.labels = 1;
  const std::string proof =
      certificate_file({"search", {}}, space, options.objective, search_exact(space, options));
  EXPECT_EQ(faults_of(proof), "");
  check::Certificate claimed = check::parse_certificate(proof, "proof");
  EXPECT_LE(claimed.lower_bound, best.cost->energy.total.count());
  claimed.value = HUGE_VAL;
  const std::vector<double> bounds = check::provable_bounds(claimed, {});
  EXPECT_LE(*std::ranges::min_element(bounds), best.cost->energy.total.count());
}

// Whatever is left out of the others: as high as if each were looked at alone.
// On their way to the buffer the sums of 12 processing elements are added, for 2 pJ each.
TEST(ImperfectProof, ChargesTheSumsThatInstancesAdd) {
  const Problem problem{load_arch(source_path("configs/arch/eyeriss.yaml")),
                        gemm("gemm", {28, 64, 96, {}, false}, {})};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const check::Certificate proof =
      check::parse_certificate(proof_of(problem, constraints, Objective::kEnergy), "proof");
  EXPECT_GE(proof.lower_bound, proof.value * (1 - 1e-9));
}

TEST(ImperfectProof, ClaimsTheLeastBoundOfAllUnrollings) {
  for (std::uint64_t seed = 50'000; seed < 50'030; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 3'000);
    check::Certificate draft = check::parse_certificate(
        proof_of(random.problem, random.constraints, Objective::kEnergy), "proof");
    draft.value *= 1.5;  // more than can be shown of any
    const std::vector<check::Claim> claims = draft.claims;
    check::CheckOptions options;
    options.effort = {3'000, 0};
    options.threads = 2;
    const std::vector<double> together = check::provable_bounds(draft, options);
    double least = HUGE_VAL;
    for (std::size_t c = 0; c < claims.size(); ++c) {
      draft.claims = {claims[c]};
      const double alone = check::provable_bounds(draft, options).front();
      EXPECT_LE(together[c], alone) << "seed " << seed;
      least = std::min(least, alone);
    }
    EXPECT_EQ(*std::min_element(together.begin(), together.end()), least) << "seed " << seed;
  }
}

TEST(ImperfectProof, IsNoneIfItIsStopped) {
  const Problem problem{small_machine(), gemm("gemm", {7, 6, 5, {}, false}, {})};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  const SearchResult found = search_exact(space, {});
  const std::atomic<bool> stop{true};
  EXPECT_EQ(certificate_file({"search", {}}, space, Objective::kEnergy, found, 1, {&stop}), "");
  EXPECT_NE(certificate_file({"search", {}}, space, Objective::kEnergy, found), "");
  FrontSubject subject{Objective::kEnergy, std::nullopt};
  EXPECT_EQ(
      front_certificate_file({"search", {}}, space, subject, search_front(space, {}), 1, {&stop}),
      "");
}

TEST(ImperfectProof, HoldsUntilItIsTamperedWith) {
  const std::string proof = layer_proof();
  EXPECT_EQ(complaint(proof), "");
  const check::Certificate read = check::parse_certificate(proof, "proof");
  EXPECT_EQ(read.lower_bound, read.value);
  EXPECT_THAT(complaint(altered(proof, "value:", "\n", fmt::format("value: {} pJ", 1.0))),
              HasSubstr("the mapping has a value of "));
  for (const auto& [from, with, says] : std::vector<std::array<std::string, 3>>{
           {"factors: imperfect", "factors: perfect", "unknown dim"},
           {"factors: imperfect", "factors: imperfect\n  pieces: 1", "may not measure "},
           {"factors: imperfect", "factors: imperfect\n  tiles: {M: [6]}", "mappings, not "},
           {"capacity: 14 B", "capacity: 28 B", "follows"}}) {
    EXPECT_THAT(complaint(altered(proof, from, "\n", with)), HasSubstr(says)) << with;
  }
}

TEST(ImperfectProof, DoesNotHoldForAnotherMapping) {
  const std::string other =
      "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 1\n  - for N: 1\n  - for K: 1\n";
  EXPECT_THAT(complaint(altered(layer_proof(), "mapping:", "inputs:", other)),
              HasSubstr("the mapping has a value of "));
}

// The least energy of the mappings that the checker takes for those of the space.
double least_within(const check::Certificate& claimed) {
  Constraints free;
  free.even = claimed.rules.even;
  free.factors.imperfect = true;
  double least = HUGE_VAL;
  Mapspace{claimed.problem, free}.enumerate([&](const Mapping& mapping) {
    const Evaluation evaluation = evaluate(claimed.problem, mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    if (cost != nullptr && cost->energy.total.count() < least &&
        check::why_outside(claimed.problem, claimed.rules, mapping).empty()) {
      least = cost->energy.total.count();
    }
    return true;
  });
  return least;
}

// Loops in an order, so many tiles of M, and none at all right above the units; then with one rule
// less: what was the best is not any more, or the file says something else than what it proves.
TEST(ImperfectProof, UnderRulesForLoopsIsAboutThemOnly) {
  const Problem problem{small_machine(), gemm("gemm", {5, 3, 2, {}, false}, {})};
  const Constraints rules = parse_constraints(R"(mapspace:
  tiling: even
  factors: imperfect
  loops:
    Buffer: {order: [[K], [M, N]], factors: {M: [2, 3], N: {max: 2}}}
    PEs: {order: [N, K]}
    MAC: {order: []}
)",
                                              "rules", problem);
  const std::string proof = proof_of(problem, rules, Objective::kEnergy);
  EXPECT_EQ(complaint(proof), "");
  const check::Certificate read = check::parse_certificate(proof, "proof");
  EXPECT_EQ(read.lower_bound, read.value);
  EXPECT_NEAR(read.value, least_within(read), 1e-9 * read.value);
  int refused = 0;
  for (const auto& [from, with] :
       std::vector<std::array<std::string, 2>>{{"[[K], [M, N]]", "[[M, N], [K]]"},
                                               {", factors: {M: [2, 3], N: {min: 1, max: 2}}", ""},
                                               {"M: [2, 3], ", "M: [5], "},
                                               {"    - {order: []}\n", ""},
                                               {"tiling: even", "tiling: uneven"}}) {
    const std::size_t begin = proof.find(from);
    ASSERT_NE(begin, std::string::npos) << from << proof;
    const std::string changed = sealed(std::string{proof}.replace(begin, from.size(), with));
    const std::string says = complaint(changed);
    if (says.empty()) {  // what is claimed is still true
      const check::Certificate claimed = check::parse_certificate(changed, "proof");
      EXPECT_NEAR(claimed.value, least_within(claimed), 1e-9 * claimed.value) << with;
    }
    refused += says.empty() ? 0 : 1;
  }
  EXPECT_GE(refused, 3);
}

// A front says with a gap what it cannot show; without it, or with a point less, it does not hold.
TEST(ImperfectProof, OfAFrontHasAllOfItsPoints) {
  const Problem problem{parse_arch(R"(name: fast_and_slow
nodes:
  - {storage: DRAM, capacity: unlimited, bandwidth: {shared: 1 B/cycle}, energy: {read: 16 pJ/b, write: 16 pJ/b}}
  - {storage: Buffer, capacity: 14 B, bandwidth: {shared: 2 B/cycle}, energy: {read: 30 pJ/b, write: 30 pJ/b}}
  - {fanout: PEs, x: 4}
  - {compute: MAC, energy: 1 pJ}
)",
                                   "arch"),
                        gemm("gemm", {7, 3, 2, {}, false}, {})};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  const FrontSubject subject{Objective::kEnergy, std::nullopt};
  const Front front = search_front(space, {});
  const std::string proof = front_certificate_file({"search", {}}, space, subject, front);
  EXPECT_EQ(complaint(proof), "");
  ASSERT_GE(front.points.size(), 2U);
  Front less = front;
  less.points.pop_back();
  const std::string weaker = front_certificate_file({"search", {}}, space, subject, less);
  EXPECT_EQ(complaint(weaker), "");
  const double gap = check::parse_certificate(weaker, "proof").gap;
  EXPECT_GT(gap, 0);
  EXPECT_THAT(complaint(altered(weaker, "gap: ", "\n", fmt::format("gap: {}", 0.9 * gap))),
              HasSubstr("the points are not all: of the unrolling"));
  EXPECT_THAT(complaint(altered(weaker, "gap: ", "\n", "")),
              HasSubstr("the points are not all: of the unrolling"));
}

// GEMM 512^3 of tests/mapper/published_optima_test.cpp: tiles share both rooms, which the cost of a
// tile alone does not know, and there are too many chains of extents to look at.
TEST(ImperfectProof, OfTilesThatShareRoomsNeedsNoLoops) {
  const Problem problem{parse_arch(R"(name: round
nodes:
  - {storage: DRAM, capacity: unlimited, energy: {read: 25 pJ/b, write: 25 pJ/b}}
  - {storage: GLB, capacity: 1048576 b, energy: {read: 0.75 pJ/b, write: 0.75 pJ/b}}
  - {storage: RF, capacity: 4096 b, energy: {read: 0.0625 pJ/b, write: 0.0625 pJ/b}}
  - {compute: MAC, energy: 0.5 pJ}
)",
                                   "arch"),
                        parse_workload("name: gemm\ngemm: {m: 512, n: 512, k: 512}\n"
                                       "precision: {partial: 8 b}\n",
                                       "layer")};
  Constraints constraints;
  const SearchResult divisors = search_exact(Mapspace{problem, constraints}, {});
  constraints.factors.imperfect = true;
  const std::string proof = proof_of(problem, constraints, Objective::kEnergy);
  check::Certificate read = check::parse_certificate(proof, "proof");
  EXPECT_EQ(read.value, 685'768'704);
  EXPECT_EQ(read.lower_bound, 685'768'704);
  const check::Verdict verdict = check::check_certificate(read, {});
  EXPECT_THAT(verdict.problems, testing::IsEmpty());
  EXPECT_LT(verdict.labels, 5'000);

  // The best mapping of divisors is one of the space, but not the best.
  read.value = read.lower_bound = divisors.cost->energy.total.count();
  read.points.front().mapping = *divisors.best;
  read.points.front().figures.first = read.value;
  read.claims.front().bound = read.value;
  check::CheckOptions options;
  options.effort.labels = 2'000;
  EXPECT_THAT(check::check_certificate(read, options).problems,
              testing::ElementsAre(HasSubstr("no more than 685768704 pJ follows")));
}

// Two keeps of a tensor at one tile, the inner one there by a rule for its extents, as of the
// optimum. No bound is above that.
TEST(ImperfectProof, HoldsWhereATensorIsKeptTwiceAtATileThatARuleGives) {
  const SearchCase random = random_ruled_imperfect_space(8'500'079, 20'000);
  EXPECT_TRUE(is_proven(random, Objective::kEnergy, 8'500'079));
}

// Whatever is claimed of an unrolling beyond what there is.
TEST(ImperfectProof, DoesNotHoldForBoundsThatAreNotTrue) {
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
}  // namespace mapsim::imperfect_test
