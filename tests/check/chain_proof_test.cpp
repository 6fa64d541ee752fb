// SPDX-License-Identifier: Apache-2.0
// Certificates of chains: those of searches hold, and lies in one are refused.
#include "check/chain_proof.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "arch/load.hpp"
#include "arch/physical.hpp"
#include "check/sealed_file.hpp"
#include "core/diagnostic.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "report/certificate.hpp"
#include "tests/check/chain_proofs.hpp"
#include "tests/mapper/brute_chain.hpp"

namespace mapsim::chain_proof_test {
namespace {

using chain_proofs::kEnergy;
using chain_proofs::proof_of;
using chain_proofs::refusal_of;
using chain_proofs::resealed;
using chain_proofs::verdict_of;
using ::testing::HasSubstr;

std::string value_in(const std::string& proof, const std::string& key) {
  const std::size_t begin = proof.find("\n" + key) + 1 + key.size();
  return proof.substr(begin, proof.find(" pJ", begin) - begin);
}

// With halos and on arrays, fused and not.
TEST(ChainProof, OfASearchHolds) {
  for (const std::uint64_t seed : {2U, 8U, 12U, 20U, 1'000'002U, 1'000'012U}) {
    for (const FusionLimits& limits : {FusionLimits{}, FusionLimits{1, 0, false}}) {
      const std::string proof = proof_of(tiny_chain(seed), limits);
      const check::ChainVerdict verdict = verdict_of(proof);
      EXPECT_THAT(verdict.problems, ::testing::IsEmpty()) << "seed " << seed << "\n" << proof;
      EXPECT_TRUE(verdict.walked);
    }
  }
}

// Their hashes are not compared, which the verdict says.
TEST(ChainProof, TellsWhetherItRecordsInputs) {
  const std::string proof = proof_of(tiny_chain(2), {});
  EXPECT_TRUE(check::parse_chain_claim(proof, "proof").records_inputs);
  const std::string without = resealed(proof, "inputs:\n", "");
  EXPECT_FALSE(check::parse_chain_claim(without, "proof").records_inputs);
}

// By latency and by a weighted sum: ports of finite bandwidth, whole cycles of each einsum's run.
TEST(ChainProof, OfTimeHolds) {
  for (const std::uint64_t seed : {2'000'002U, 2'000'008U, 2'000'012U, 3'000'012U}) {
    for (const ObjectiveFunction& function :
         {Objective::kLatency.function, ObjectiveFunction::weighted_sum(20)}) {
      for (const FusionLimits& limits : {FusionLimits{}, FusionLimits{1, 0, false}}) {
        const std::string proof = proof_of(tiny_chain(seed), limits, Objective{function});
        EXPECT_THAT(proof, HasSubstr("\nobjective: " + to_string(function) + "\n"));
        const check::ChainVerdict verdict = verdict_of(proof);
        EXPECT_THAT(verdict.problems, ::testing::IsEmpty()) << "seed " << seed << "\n" << proof;
        EXPECT_TRUE(verdict.walked);
      }
    }
  }
}

// Energy leaks while the machine waits: claims are those of brute force, and that the best tree
// without leakage is the best is refused.
TEST(ChainProof, OfAMachineThatLeaksHolds) {
  int moved = 0;
  for (std::uint64_t seed = kFirstTimed; seed < kFirstTimed + 40; seed += 2) {
    TinyChain tiny = tiny_chain(seed);
    const ChainResult quiet = search_chain(tiny.arch, tiny.chain, {}, {});
    tiny.arch.levels[LevelId{1}].physical.leakage = Milliwatts{70};
    tiny.arch.compute.physical.leakage = Milliwatts{100};
    const double leakage = leakage_per_cycle(tiny.arch).count();
    ASSERT_GT(leakage, 0);
    std::int64_t trees = 0;
    const std::vector<TreePoint> front = front_by_force(tiny.arch, tiny.chain, true, trees);
    for (const ObjectiveFunction& function :
         {kEnergy.function, Objective::kLatency.function, ObjectiveFunction::weighted_sum(5),
          Objective::kEdp.function}) {
      double least = HUGE_VAL;
      for (const TreePoint& point : front) {
        const auto cycles = static_cast<double>(point.cycles);
        least = std::min(least, function.value(point.energy + leakage * cycles, cycles));
      }
      if (!(least < HUGE_VAL)) {
        continue;
      }
      const std::string proof = proof_of(tiny, {}, Objective{function});
      const check::ChainClaim claim = check::parse_chain_claim(proof, "proof");
      EXPECT_NEAR(claim.value, least, 1e-9 * least) << seed;
      EXPECT_NEAR(claim.lower_bound, least, 1e-9 * least) << seed;
      EXPECT_THAT(verdict_of(proof).problems, ::testing::IsEmpty()) << seed << "\n" << proof;
    }
    const ChainResult leaky = search_chain(tiny.arch, tiny.chain, {}, {});
    ChainResult other = quiet;
    other.cost =
        quiet.best
            ? std::optional(std::get<TreeCost>(evaluate_tree(tiny.arch, tiny.chain, *quiet.best)))
            : std::nullopt;
    if (!other.cost || !(other.cost->energy > leaky.cost->energy * (1 + 1e-9))) {
      continue;
    }
    ++moved;
    other.lower_bound = other.cost->energy.count();
    EXPECT_THAT(verdict_of(chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, {},
                                                  kEnergy, other))
                    .problems,
                ::testing::ElementsAre(HasSubstr("some mapping trees may need")))
        << seed;
  }
  EXPECT_GT(moved, 1);
}

// The tree of least energy is not the fastest one, nor is the best tree layer by layer.
TEST(ChainProof, OfTimeIsRefusedForAnotherTree) {
  const Objective latency = Objective::kLatency;
  SearchOptions fastest;
  fastest.objective = Objective::kLatency;
  int forged = 0;
  for (const std::uint64_t seed : {2'000'002U, 2'000'008U, 2'000'012U, 3'000'012U}) {
    const TinyChain tiny = tiny_chain(seed);
    const ChainResult best = search_chain(tiny.arch, tiny.chain, {}, fastest);
    for (const ChainResult& other : {search_chain(tiny.arch, tiny.chain, {}, {}),
                                     search_chain(tiny.arch, tiny.chain, {1, 0, false}, fastest)}) {
      if (other.cost->latency > best.cost->latency) {
        ++forged;
        EXPECT_THAT(verdict_of(chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, {},
                                                      latency, other))
                        .problems,
                    ::testing::ElementsAre(HasSubstr("some mapping trees may need")));
      }
    }
    // One cycle more or less than there are.
    const std::string proof = proof_of(tiny, {}, latency);
    const std::string cycles = std::to_string(best.cost->latency.count());
    const auto problems = [&](const std::string& key, std::int64_t more) {
      return verdict_of(
                 resealed(proof, fmt::format("\n{}: {} cycles", key, cycles),
                          fmt::format("\n{}: {} cycles", key, best.cost->latency.count() + more)))
          .problems;
    };
    EXPECT_THAT(problems("value", 1), ::testing::ElementsAre(HasSubstr("has a value of")));
    EXPECT_THAT(problems("value", -1), ::testing::Contains(HasSubstr("has a value of")));
    EXPECT_THAT(problems("lower_bound", 1), ::testing::Contains(HasSubstr("may need")));
    EXPECT_THAT(problems("lower_bound", -1), ::testing::IsEmpty());  // true, if less
  }
  EXPECT_GT(forged, 1);
}

// A space in which a better tree exists than the one that is called the best.
TEST(ChainProof, OfAWorseTreeDoesNot) {
  const TinyChain tiny = tiny_chain(2);
  const FusionLimits apart{1, 0, false};
  const ChainResult best = search_chain(tiny.arch, tiny.chain, {}, {});
  const ChainResult worse = search_chain(tiny.arch, tiny.chain, apart, {});
  ASSERT_LT(best.cost->energy, worse.cost->energy);
  const std::string forged =
      chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, {}, kEnergy, worse);
  EXPECT_THAT(verdict_of(forged).problems,
              ::testing::ElementsAre(HasSubstr("some mapping trees may need")));
  // And one from outside of a smaller space.
  const std::string outside =
      chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, apart, kEnergy, best);
  EXPECT_THAT(verdict_of(outside).problems, ::testing::Contains(HasSubstr("outside of the space")));
}

// The best tree with all scopes and shared keeps at one level is proven as that, and refused as the
// best of all; the best of all lies outside of the smaller space.
TEST(ChainProof, IsAboutTheLevelsThatItNames) {
  for (const std::uint64_t seed : {31U, 67U}) {
    const TinyChain tiny = tiny_chain(seed);
    const ChainResult best = search_chain(tiny.arch, tiny.chain, {}, {});
    const auto problems = [&](const FusionLimits& limits, const ChainResult& claimed) {
      return verdict_of(chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, limits,
                                               kEnergy, claimed))
          .problems;
    };
    EXPECT_THAT(problems({}, best), ::testing::IsEmpty());
    for (const LevelId level : {LevelId{1}, LevelId{2}}) {
      FusionLimits limits;
      limits.only_level = level;
      const ChainResult at_one = search_chain(tiny.arch, tiny.chain, limits, {});
      EXPECT_THAT(problems(limits, at_one), ::testing::IsEmpty()) << seed;
      EXPECT_THAT(problems({}, at_one),
                  ::testing::ElementsAre(HasSubstr("some mapping trees may need")))
          << seed;
      EXPECT_THAT(problems(limits, best),
                  ::testing::Contains("the mapping lies outside of the space: a group keeps a "
                                      "tensor at another level"))
          << seed;
    }
  }
}

// A level holds an intermediate for its readers, even where it keeps nothing of the role that they
// give it. That the best tree does so is proven, and that it is none is refused.
TEST(ChainProof, IsAboutIntermediatesThatTheirReadersBypassToo) {
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const Role role : {Role::kInput, Role::kWeight}) {
      TinyChain tiny = tiny_chain(seed);
      Storage& level = tiny.arch.levels[LevelId{1}];
      level.bypass.insert(role);
      level.keep.erase(role);
      const ChainResult best = search_chain(tiny.arch, tiny.chain, {}, {});
      const ChainResult apart = search_chain(tiny.arch, tiny.chain, {1, 0, false}, {});
      if (!best.cost || !apart.cost || best.cost->energy == apart.cost->energy) {
        continue;
      }
      const auto problems = [&](const ChainResult& claimed) {
        return verdict_of(chain_certificate_file({"search", {}}, tiny.arch, tiny.chain, {}, kEnergy,
                                                 claimed))
            .problems;
      };
      EXPECT_THAT(problems(best), ::testing::IsEmpty()) << seed;
      EXPECT_THAT(problems(apart), ::testing::ElementsAre(HasSubstr("some mapping trees may need")))
          << seed;
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
}

TEST(ChainProof, OfOtherFiguresDoesNot) {
  const std::string proof = proof_of(tiny_chain(2), {});
  const std::string value = value_in(proof, "value: ");
  ASSERT_EQ(value, value_in(proof, "lower_bound: "));
  const double pj = std::stod(value);
  const auto problems = [&](const std::string& key, double is) {
    return verdict_of(resealed(proof, fmt::format("\n{}: {} pJ", key, value),
                               fmt::format("\n{}: {} pJ", key, is)))
        .problems;
  };
  EXPECT_THAT(problems("value", pj * 1.01), ::testing::ElementsAre(HasSubstr("has a value of")));
  EXPECT_THAT(problems("value", pj * 0.99), ::testing::Contains(HasSubstr("has a value of")));
  EXPECT_THAT(problems("lower_bound", pj * 1.01),
              ::testing::Contains(HasSubstr("the lower bound is above the value")));
  EXPECT_THAT(problems("lower_bound", pj * 0.99), ::testing::IsEmpty());  // true, if less
}

TEST(ChainProof, IsRefusedWhereItIsDamaged) {
  const std::string proof = proof_of(tiny_chain(2), {});
  std::size_t refused = 0;
  for (std::size_t at = 0; at < proof.size(); at += 7) {
    std::string changed = proof;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    try {
      check::parse_chain_claim(changed, "proof");
      ADD_FAILURE() << "byte " << at;
    } catch (const ConfigError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50U);
  const auto refusal = [&](const std::string& from, const std::string& to) {
    return refusal_of(resealed(proof, from, to));
  };
  EXPECT_THAT(refusal("objective: energy", "objective: entropy"), HasSubstr("is no objective"));
  EXPECT_THAT(refusal("objective: energy", "objective: edp"), HasSubstr("expected a number"));
  EXPECT_THAT(refusal("\nspace: ", "\nsums: [{objective: energy, least: 1 pJ}]\nspace: "),
              HasSubstr("follows from no others"));
  EXPECT_THAT(refusal("\nspace: ", "\nlimits: {max_latency: 9 cycles}\nspace: "),
              HasSubstr("'sums' that its bound follows from are missing"));
  const std::string limited = "\nlimits: {max_latency: 9 cycles}\nsums: ";
  EXPECT_THAT(refusal("\nspace: ", limited + "[{objective: edp, least: 1 pJ}]\nspace: "),
              HasSubstr("a sum over einsums is energy, latency or energy + W*latency"));
  EXPECT_THAT(refusal("\nspace: ", limited + "[{objective: energy, least: 1 cycles}]\nspace: "),
              HasSubstr("expected a number of pJ"));
  EXPECT_THAT(refusal("objective: energy", "objective: latency"),
              HasSubstr("expected a number of cycles"));
  EXPECT_THAT(refusal("hold: true", "hold: 1"), HasSubstr("hold"));
  EXPECT_THAT(refusal("hold: true", "hold: true, level: L7"), HasSubstr("has no level 'L7'"));
  EXPECT_THAT(refusal("chain_certificate: 2", "chain_certificate: 1"),
              HasSubstr("a certificate of a smaller space"));
  EXPECT_THAT(refusal("\nspace: ", "\nspaces: "), HasSubstr("space"));
  EXPECT_THAT(refusal("value: " + value_in(proof, "value: ") + " pJ", "value: nothing fits"),
              HasSubstr("the file has a mapping, so its value cannot be infinite"));
}

// A machine with an array of two above or below its inner memory.
Arch machine_with(const std::string& inner) {
  const std::string energies = "energy: {read: 10 pJ/B, write: 10 pJ/B, update: 10 pJ/B}}\n";
  const std::string memory = "  - {storage: Buffer, word: 1 B, capacity: 41 B, " + energies;
  const std::string array =
      "  - {fanout: PEs, x: 2, multicast: [weight, input], spatial_reduction: true}\n";
  return parse_arch("name: m\nnodes:\n  - {storage: DRAM, word: 1 B, capacity: unlimited, " +
                        energies + (inner == "memory" ? array + memory : memory + array) +
                        "  - {compute: MAC, energy: 1 pJ}\n",
                    "m.yaml");
}

EinsumChain chain_of(const std::string& einsums) {
  return parse_chain("name: c\nchain:\n" + einsums, "c.yaml");
}

// What is wrong with calling a tree the best one.
std::vector<std::string> problems_of(const Arch& arch, const EinsumChain& chain,
                                     const std::string& tree, const FusionLimits& limits = {}) {
  ChainResult result;
  result.best = parse_tree("mapping:\n" + tree, "t.yaml", arch, chain);
  result.cost = std::get<TreeCost>(evaluate_tree(arch, chain, *result.best));
  result.lower_bound = result.cost->energy.count();
  result.proven = true;
  return verdict_of(chain_certificate_file({"search", {}}, arch, chain, limits, kEnergy, result))
      .problems;
}

// Trees that are cheap because they do what the space leaves out.
TEST(ChainProof, OfATreeOutsideOfTheSpaceDoesNot) {
  const std::string product =
      "{equation: \"O[m][n] += A[m][k] * B[k][n]\", dims: {m: 4, n: 4, k: 4}}\n";
  const EinsumChain two = chain_of("  - name: a\n    einsum: " + product +
                                   "    out: t\n  - name: b\n"
                                   "    einsum: " +
                                   product + "    in: {A: t}\n");
  const std::string loops = "          - for m: 1\n          - for n: 1\n          - for k: 1\n";
  EXPECT_THAT(problems_of(machine_with("memory"), two,
                          "  - keep Buffer: [t]\n  - sequence:\n      - a:\n" + loops +
                              "      - b:\n" + loops),
              ::testing::Contains(HasSubstr("keep a tensor within an array")));

  const EinsumChain four = chain_of("  - name: a\n    einsum: " + product +
                                    "    out: ta\n  - name: b\n    einsum: " + product +
                                    "    out: tb\n  - name: c\n    einsum: " + product +
                                    "    in: {A: ta}\n  - name: d\n"
                                    "    einsum: " +
                                    product + "    in: {A: tb}\n");
  const auto group = [&](const std::string& one, const std::string& other) {
    const std::string inner =
        "                  - for m: 1\n                  - for n: 1\n"
        "                  - for k: 1\n";
    return "      - group:\n          - for " + other + ".m: 1\n          - keep Buffer: [t" + one +
           "]\n          - sequence:\n              - " + one + ":\n" + inner + "              - " +
           other + ":\n" + inner;
  };
  EXPECT_THAT(problems_of(machine_with("array"), four,
                          "  - sequence:\n" + group("a", "c") + group("b", "d")),
              ::testing::Contains(HasSubstr("not in the order of the chain")));

  const EinsumChain halo = chain_of(
      "  - name: e0\n    einsum: {equation: \"O[p] += A[p+r] * W[r]\", dims: {p: 26, r: 3}}\n"
      "    out: t\n  - name: e1\n    einsum: {equation: \"O[p] += A[p+r] * W[r]\", dims: {p: 24, "
      "r: "
      "3}}\n    in: {A: t}\n");
  EXPECT_THAT(problems_of(machine_with("array"), halo,
                          "  - keep Buffer: [t]\n  - for e1.p: 2\n  - sequence:\n      - e0:\n"
                          "          - parallel p: 2 over X of PEs\n          - for p: 1\n"
                          "          - for r: 1\n      - e1:\n          - for p: 1\n"
                          "          - for r: 1\n"),
              ::testing::Contains(HasSubstr("unrolls a dim whose boxes differ")));
}

// Every limit of the space, by a tree that is beyond it and is none of what it is not.
TEST(ChainProof, OfATreeBeyondALimitDoesNot) {
  const std::string product =
      "    einsum: {equation: \"O[m][n] += A[m][k] * B[k][n]\", dims: {m: 4, n: 4, k: 4}}\n";
  const EinsumChain two = chain_of("  - name: a\n" + product + "    out: t\n  - name: b\n" +
                                   product + "    in: {A: t}\n");
  const auto group = [](const std::string& shared) {
    const std::string loops = "          - for m: 1\n          - for n: 1\n          - for k: 1\n";
    return shared + "  - sequence:\n      - a:\n" + loops + "      - b:\n" + loops;
  };
  const std::string kept = "  - keep Buffer: [t]\n";
  const Arch arch = machine_with("array");
  FusionLimits one_loop;
  one_loop.most_loops = 1;
  FusionLimits alone;
  alone.most_einsums = 1;
  const std::string outside = "the mapping lies outside of the space: ";
  struct Case {
    std::string tree, says;
    FusionLimits limits{};
  };
  for (const Case& each : {
           Case{group("  - for b.m: 2\n" + kept), ""},
           Case{group("  - for b.m: 2\n" + kept), "", one_loop},
           Case{group("  - for b.m: 2\n  - for b.n: 2\n" + kept), ""},
           Case{group("  - for b.m: 2\n  - for b.n: 2\n" + kept),
                outside + "a group shares too many loops", one_loop},
           Case{group("  - for b.m: 2\n" + kept), outside + "a group has too many einsums", alone},
           Case{group("  - for b.m: 2\n  - for b.m: 1\n" + kept),
                outside + "a group has two loops over one dim"},
           Case{group("  - for b.m: 3\n" + kept),
                outside + "the tiles of a shared loop do not divide its dim"},
       }) {
    const std::vector<std::string> problems = problems_of(arch, two, each.tree, each.limits);
    if (each.says.empty()) {  // another tree may be better
      EXPECT_THAT(problems, ::testing::Not(::testing::Contains(HasSubstr(outside)))) << each.tree;
    } else {
      EXPECT_THAT(problems, ::testing::Contains(each.says)) << each.tree;
    }
  }
}

TEST(ChainProof, ThatNothingFitsTakesABoundThatNothingMeets) {
  const std::string proof = proof_of(tiny_chain(2), {});
  const std::string value = value_in(proof, "value: ");
  const std::size_t tree = proof.find("\nmapping:\n") + 1;
  std::string text = proof.substr(0, tree) + proof.substr(proof.find("\ninputs:\n") + 1);
  text = resealed(text, "\nvalue: " + value + " pJ", "\nvalue: nothing fits");
  EXPECT_THAT(verdict_of(text).problems, ::testing::Contains(HasSubstr("names no mapping")));
}

// The last tile has what is left over, those before it the gap of the stride, and none has both.
TEST(ChainProof, OfStridesThatLeaveAGapHolds) {
  const std::string precision =
      "    precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 24 b}\n";
  const EinsumChain chain = chain_of(
      "  - name: e0\n    einsum: {equation: \"O[p] += A[p+r] * W[r]\", dims: {p: 26, r: 3}}\n" +
      precision +
      "    out: t\n  - name: e1\n    einsum: {equation: \"O[p] += A[2*p+r] * W[r]\", dims: {p: 13, "
      "r: 1}}\n" +
      precision + "    in: {A: t}\n");
  const Arch arch = parse_arch(
      "name: m\nnodes:\n"
      "  - {storage: L0, word: 1 B, capacity: unlimited, energy: {read: 90 pJ/B, write: 162 "
      "pJ/B}}\n"
      "  - {storage: L1, word: 1 B, capacity: 41 B, energy: {read: 2 pJ/B, write: 2 pJ/B}}\n"
      "  - {fanout: PE, x: 2, multicast: [input, weight], spatial_reduction: true}\n"
      "  - {compute: MAC, energy: 1 pJ}\n",
      "m.yaml");
  const ChainResult result = search_chain(arch, chain, {}, {});
  ASSERT_TRUE(result.proven && result.cost);
  EXPECT_THAT(
      verdict_of(chain_certificate_file({"search", {}}, arch, chain, {}, kEnergy, result)).problems,
      ::testing::IsEmpty());
}

}  // namespace
}  // namespace mapsim::chain_proof_test
