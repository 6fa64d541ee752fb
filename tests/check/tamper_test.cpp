// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "check/membership.hpp"
#include "core/diagnostic.hpp"
#include "core/rng.hpp"
#include "costmodel/mapping_text.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/mapspace/membership.hpp"
#include "proven.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::tamper_test {
namespace {

using ::testing::HasSubstr;

// Large enough that some unrolling takes a search, small enough to be searched a thousand times.
Problem small_problem() { return {small_machine(), gemm("gemm", {8, 6, 4, {}, false}, {})}; }

// The same machine with rules of every kind for its loops.
std::string ruled_proof() {
  const char* const rules = R"(mapspace:
  tiling: even
  extents: {Buffer: {A: {K: done}, M: {max: 4}}}
  loops:
    Buffer: {order: [[M, K], N]}
    PEs: {order: [N, rest], factors: {M: [1, 2, 4], N: rest}}
    MAC: {factors: {K: {max: 2}}}
)";
  const Problem problem = small_problem();
  return proof_of(problem, parse_constraints(rules, "rules", problem), Objective::kEnergy);
}

std::string small_proof() { return proof_of(small_problem(), {}, Objective::kEnergy); }

TEST(Proof, HoldsAsWritten) {
  EXPECT_EQ(complaint(small_proof()), "");
  const check::Certificate read = check::parse_certificate(small_proof(), "proof");
  const check::Verdict verdict = check::check_certificate(read, {});
  EXPECT_GT(verdict.by_completion_bound, 0);
  EXPECT_GT(verdict.by_label_search, 0);
  EXPECT_TRUE(verdict.walked);
  EXPECT_EQ(print_arch(read.problem.arch()), print_arch(small_problem().arch()));
}

TEST(Proof, DoesNotHoldForAnotherValue) {
  const std::string proof = small_proof();
  const double value = check::parse_certificate(proof, "proof").value;
  for (const double other : {value * 0.999, value * 1.001}) {
    const std::string text = fmt::format("value: {} pJ\nlower_bound: {} pJ\n", other, other);
    EXPECT_THAT(
        complaint(altered(proof, "value:", "mapspace:", text)),
        HasSubstr(fmt::format("the mapping has a value of {} pJ, not {} pJ", value, other)));
  }
}

TEST(Proof, DoesNotHoldForAnotherMapping) {
  const Problem problem = small_problem();
  const std::string proof = small_proof();
  const Mapping best = check::parse_certificate(proof, "proof").points.at(0).mapping;
  int others = 0;
  Mapspace{problem, {}}.enumerate([&](const Mapping& mapping) {
    const Evaluation evaluation = evaluate(problem, mapping);
    const Cost* cost = std::get_if<Cost>(&evaluation);
    const double value = check::parse_certificate(proof, "proof").value;
    if (cost == nullptr || cost->energy.total.count() > value) {
      const std::string text = print_mapping(problem.arch(), problem.workload(), mapping);
      EXPECT_THAT(complaint(altered(proof, "mapping:", "inputs:", text)),
                  HasSubstr("the mapping "));
      ++others;
    }
    return others < 20;
  });
  EXPECT_EQ(others, 20);
  const std::string redundant =
      "mapping:\n  - keep DRAM: [A, B, Z]\n  - for M: 8\n  - for M: 1\n"
      "  - for N: 1\n  - for K: 1\n";
  EXPECT_THAT(complaint(altered(proof, "mapping:", "inputs:", redundant)),
              HasSubstr("not in the declared mapspace: it has loops that do nothing"));
}

TEST(Proof, NeedsABoundOfEveryUnrollingAndOnlyOne) {
  const std::string proof = small_proof();
  const std::size_t begin = proof.find("  - {relax");
  const std::string line = proof.substr(begin, proof.find('\n', begin) + 1 - begin);
  EXPECT_THAT(complaint(altered(proof, line, "\n", "# left out")),
              HasSubstr("no bound of the unrolling "));
  EXPECT_THAT(complaint(altered(proof, line, "\n", line + line.substr(0, line.size() - 1))),
              HasSubstr("a second bound of "));
  EXPECT_THAT(
      complaint(altered(proof, line, "\n", line + "  - {floor: 99999 pJ, spatial: {PEs: {M: 8}}}")),
      HasSubstr("no unrolling of the space: PEs: M 8"));
}

TEST(Proof, DoesNotHoldForBoundsThatAreNotTrue) {
  const std::string proof = small_proof();
  const check::Certificate read = check::parse_certificate(proof, "proof");
  int refused = 0;
  for (const check::Claim& claim : read.claims) {
    const std::string bound = fmt::format(": {} pJ, spatial", claim.bound);
    EXPECT_THAT(complaint(altered(proof, bound, ", spatial", fmt::format(": {} pJ", 1.0))),
                HasSubstr("is less than the lower bound of the whole"));
    const std::string raised =
        complaint(altered(proof, bound, ", spatial", fmt::format(": {} pJ", 50 * claim.bound)));
    EXPECT_THAT(raised, HasSubstr("where there is a mapping of"));
    ++refused;
  }
  EXPECT_GT(refused, 5);
}

TEST(Proof, IsAboutItsMachineAndLayerOnly) {
  const std::string proof = small_proof();
  for (const auto& [from, to, with] : std::vector<std::array<std::string, 3>>{
           {"capacity: 14 B", "\n", "capacity: 40 B"},
           {"capacity: 14 B", "\n", "capacity: 7 B"},
           {"dims: {M: 8", ",", "dims: {M: 4"},
           {"spatial_reduction: false", "\n", "spatial_reduction: true"},
           {"x: 4", "\n", "x: 2"},
           {"tiling: uneven", "\n", "tiling: even"}}) {
    EXPECT_NE(complaint(altered(proof, from, to, with)), "") << with;
  }
}

TEST(Proof, CountsTheMapspace) {
  EXPECT_THAT(complaint(altered(small_proof(), "mapspace: \"", "\n", "mapspace: \"12345\"")),
              testing::ContainsRegex("the mapspace has [0-9]+ mappings, not 12345"));
  for (const char* size : {"12345x", "-1", "1e9", ""}) {
    EXPECT_THAT(complaint(altered(small_proof(), "mapspace: \"", "\n",
                                  fmt::format("mapspace: \"{}\"", size))),
                HasSubstr("is neither a number of mappings nor"));
  }
}

TEST(Proof, RefusesInstancesThatDoNotDivide) {
  const Problem problem = small_problem();
  const std::string proof = proof_of(
      problem, parse_constraints("mapspace: {spatial: {PEs: {X: {M: 2}}}}\n", "r", problem),
      Objective::kEnergy);
  EXPECT_EQ(complaint(proof), "");
  EXPECT_THAT(complaint(altered(proof, "{M: 2", "}", "{M: 3")),
              HasSubstr("3 instances of M do not divide its bound"));
}

TEST(Proof, RefusesNumbersThatAreNone) {
  for (const char* key : {"value", "lower_bound"}) {
    for (const char* number :
         {"-1 pJ", "inf pJ", "nan pJ", "1", "1 cycles", "1pJ", "1 pJ pJ", "x pJ"}) {
      EXPECT_THAT(complaint(altered(small_proof(), fmt::format("{}: ", key), "\n",
                                    fmt::format("{}: {}", key, number))),
                  HasSubstr("expected a number of pJ"))
          << key << ": " << number;
    }
  }
}

TEST(Proof, RefusesWhatItDoesNotKnowByName) {
  const std::string proof = small_proof();
  EXPECT_EQ(
      complaint(altered(proof, "rules:\n", "  tiling", "rules:\n  moon: full\n")),
      "proof:50:3: rules: this certificate needs the rule 'moon', which the checker does not know; "
      "one of tiling, one_loop_per_dim, factors, pieces, tiles, spatial, unroll, keep, bypass, "
      "extents, loops\n  "
      "moon: full\n  ^");
  EXPECT_THAT(complaint(altered(proof, "function: energy", "}", "function: energy, area: 1")),
              HasSubstr("needs the objective's 'area', which the checker does not know"));
  EXPECT_THAT(complaint(altered(proof, "function: energy", "}", "function: enrgy")),
              HasSubstr("'enrgy' is no objective: there is no figure 'enrgy'"));
  EXPECT_THAT(complaint(altered(proof, "certificate: 1", "\n", "certificate: 2")),
              HasSubstr("proof:1:14: certificate: '2' is too large; at most 1"));
}

// As mapsim wrote objectives before it had functions: powers of energy and latency.
TEST(Proof, HoldsWithPowersInPlaceOfAFunction) {
  const std::string proof = small_proof();
  EXPECT_EQ(complaint(altered(proof, "function: energy", "}", "energy: 1, latency: 0")), "");
  EXPECT_NE(complaint(altered(proof, "function: energy", "}", "energy: 0, latency: 1")), "");
}

TEST(Proof, IsDamagedWhereverItIsCutShort) {
  const std::string proof = small_proof();
  for (std::size_t size = 0; size + 1 < proof.size(); size += 7) {
    EXPECT_THROW(check::parse_certificate(proof.substr(0, size), "proof"), ConfigError) << size;
  }
}

TEST(Proof, IsDamagedByAnyFlippedBit) {
  for (const std::string& proof : {small_proof(), ruled_proof()}) {
    for (std::size_t byte = 0; byte < proof.size(); ++byte) {
      std::string flipped = proof;
      flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 7)));
      EXPECT_THROW(check::parse_certificate(flipped, "proof"), ConfigError) << byte;
    }
  }
}

TEST(Proof, UnderRulesForLoopsIsAboutThemOnly) {
  const std::string proof = ruled_proof();
  EXPECT_EQ(complaint(proof), "");
  for (const auto& [from, to, with] : std::vector<std::array<std::string, 3>>{
           {", done: true", "}", ""},
           {"level: Buffer, order: [[M, K], [N]]", "}", "level: Buffer"},
           {"[[M, K], [N]]", "}", "[[N], [M, K]]"},
           {"fanout: PEs, order", "}", "order"},
           {"factors: {M: [1, 2, 4]}", "}", "factors: {M: [1, 2]"},
           {"rest: [N]", "}", "rest: [M]"},
           {", rest: [N]", "}", ""},
           {"tiling: even", "\n", "tiling: uneven"}}) {
    EXPECT_NE(complaint(altered(proof, from, to, with)), "") << with;
  }
  EXPECT_THAT(complaint(altered(proof, "level: Buffer, order", "}", "level: DRAM, order: [[M]]")),
              HasSubstr("expected one rule per node, for a node other than the outermost level"));
}

// A mapping that has two loops over a dim between two keeps is none of this space, and without the
// rule the space is larger.
TEST(Proof, UnderOneLoopPerDimRefusesASecondLoop) {
  const Problem problem = small_problem();
  const Constraints rule =
      parse_constraints("mapspace:\n  one_loop_per_dim: true\n", "rules", problem);
  const std::string proof = proof_of(problem, rule, Objective::kEnergy);
  EXPECT_EQ(complaint(proof), "");
  EXPECT_THAT(complaint(altered(proof, "  one_loop_per_dim: true", "  factors", "")),
              HasSubstr("mappings"));
  const Mapspace narrow{problem, rule};
  int forged = 0;
  Mapspace{problem, {}}.enumerate([&](const Mapping& mapping) {
    if (!first_breach(narrow, mapping).empty()) {
      const std::string text = print_mapping(problem.arch(), problem.workload(), mapping);
      EXPECT_THAT(complaint(altered(proof, "mapping:", "inputs:", text)),
                  HasSubstr("not in the declared mapspace: a second loop over "));
      ++forged;
    }
    return forged < 3;
  });
  EXPECT_GT(forged, 0);
}

// Whoever seals it anew gets away with it only where what is claimed is still true: of the machine
// and the layer that the altered file speaks of, a search of its own finds the same.
TEST(Proof, HoldsAfterAFlippedBitOnlyIfItIsStillTrue) {
  const std::string proof = small_proof();
  Rng rng{1};
  int accepted = 0;
  for (int i = 0; i < 1'500; ++i) {
    std::string flipped = proof;
    flipped[rng.below(proof.size() - 30)] ^= static_cast<char>(1 << rng.below(7));
    flipped = sealed(flipped);
    if (!complaint(flipped).empty()) {
      continue;
    }
    ++accepted;
    const check::Certificate claimed = check::parse_certificate(flipped, "proof");
    EXPECT_FALSE(claimed.rules.even || claimed.rules.spatial[FanoutId{0}]);
    const SearchResult found = search_exact(Mapspace{claimed.problem, {}}, {});
    ASSERT_TRUE(found.best.has_value() && !claimed.points.empty());
    EXPECT_NEAR(claimed.value, found.cost->energy.total.count(), 1e-9 * claimed.value);
    EXPECT_EQ(claimed.size, found.certificate.mapspace_size);
  }
  EXPECT_GT(accepted, 20);  // names, hashes of the inputs, what no mapping feels
}

// The same of rules for loops: of all mappings, those that obey the altered rules are as many as
// claimed, and none is better.
TEST(Proof, HoldsAfterAFlippedRuleOnlyIfItIsStillTrue) {
  const std::string proof = ruled_proof();
  const std::size_t first = proof.find("rules:\n");
  const std::size_t count = proof.find("bounds:\n") - first;
  Rng rng{2};
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string flipped = proof;
    flipped[first + rng.below(count)] ^= static_cast<char>(1 << rng.below(7));
    flipped = sealed(flipped);
    if (!complaint(flipped).empty()) {
      ++refused;
      continue;
    }
    ++accepted;
    const check::Certificate claimed = check::parse_certificate(flipped, "proof");
    std::int64_t size = 0;
    double least = HUGE_VAL;
    Constraints free;
    free.even = claimed.rules.even;
    Mapspace{claimed.problem, free}.enumerate([&](const Mapping& mapping) {
      if (check::why_outside(claimed.problem, claimed.rules, mapping).empty()) {
        ++size;
        const Evaluation evaluation = evaluate(claimed.problem, mapping);
        const Cost* cost = std::get_if<Cost>(&evaluation);
        least = cost != nullptr ? std::min(least, cost->energy.total.count()) : least;
      }
      return true;
    });
    EXPECT_EQ(std::to_string(size), claimed.size);
    EXPECT_NEAR(claimed.value, least, 1e-9 * least);
  }
  EXPECT_GT(refused, 200);
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace mapsim::tamper_test
