// SPDX-License-Identifier: Apache-2.0
#include "check/fused_bound.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "arch/load.hpp"
#include "check/branch_bound.hpp"
#include "check/group_supply.hpp"
#include "core/factor.hpp"
#include "costmodel/nest.hpp"
#include "mapper/fusion/chain_search.hpp"
#include "tests/mapper/brute_chain.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::fused_bound_test {
namespace {

const ObjectiveFunction kJustEnergy = ObjectiveFunction::product(1, 0);

// Halos that are kept or made again, arrays, partial sums that a group comes back to: the least of
// all trees follows from above, and no tree is below it.
TEST(FusedBound, IsWhatBruteForceFinds) {
  const check::FusedSpace space{kMaxEinsums, kMaxDims, true};
  std::int64_t trees = 0;
  std::int64_t joined = 0;
  const std::vector<std::uint64_t> seeds{2, 8, 12, 20, 22, 31, 67, 1'000'002, 1'000'012, 1'000'026};
  for (const std::uint64_t seed : std::span(seeds).first(tried_of(seeds.size()))) {
    const TinyChain tiny = tiny_chain(seed);
    const std::vector<TreePoint> front = front_by_force(tiny.arch, tiny.chain, false, trees);
    ASSERT_FALSE(front.empty());
    const double least = front.front().energy;
    const auto above = check::bound_trees(tiny.arch, tiny.chain, space, kJustEnergy, 2 * least, {});
    EXPECT_NEAR(above.value, least, 1e-9 * least) << "seed " << seed << "\n" << describe(tiny);
    const double enough = least * (1 - 1e-9);
    EXPECT_EQ(check::bound_trees(tiny.arch, tiny.chain, space, kJustEnergy, enough, {}).value,
              enough);
    joined += above.joined;
  }
  EXPECT_GT(joined, 0);
}

// Sums with time: of ports, in whole cycles of each einsum's run, and of the compute units.
TEST(FusedBound, OfTimeIsWhatBruteForceFinds) {
  const check::FusedSpace space{kMaxEinsums, kMaxDims, true};
  std::int64_t trees = 0;
  std::int64_t joined = 0;
  for (const std::uint64_t seed : {2'000'002U, 2'000'008U, 2'000'012U, 3'000'012U, 2'000'020U}) {
    const TinyChain tiny = tiny_chain(seed);
    const std::vector<TreePoint> front = front_by_force(tiny.arch, tiny.chain, true, trees);
    ASSERT_FALSE(front.empty());
    for (const ObjectiveFunction& function :
         {ObjectiveFunction::product(0, 1), ObjectiveFunction::weighted_sum(20),
          ObjectiveFunction::product(1, 0)}) {
      double least = HUGE_VAL;
      for (const TreePoint& point : front) {
        least = std::min(least, function.value(point.energy, static_cast<double>(point.cycles)));
      }
      const auto above = check::bound_trees(tiny.arch, tiny.chain, space, function, 2 * least, {});
      EXPECT_NEAR(above.value, least, 1e-9 * least)
          << "seed " << seed << ", " << to_string(function) << "\n"
          << describe(tiny);
      const double enough = least * (1 - 1e-9);
      EXPECT_EQ(check::bound_trees(tiny.arch, tiny.chain, space, function, enough, {}).value,
                enough);
      joined += above.joined;
    }
  }
  EXPECT_GT(joined, 0);
}

// No tree that the search finds is below the bound of all of them, wherever its group holds what it
// passes on. In these chains only a scope inside of all shared loops is as good.
TEST(FusedBound, IsNotAboveWhatTheSearchFinds) {
  const check::FusedSpace space{kMaxEinsums, kMaxDims, true};
  int compared = 0;
  for (const std::uint64_t seed : {112U, 1'866U, 2'286U, 3'712U}) {
    const TinyChain tiny = tiny_chain(seed);
    const ChainResult found =
        search_chain(tiny.arch, tiny.chain, {kMaxEinsums, kMaxDims, true}, {});
    if (!found.cost) {
      continue;
    }
    const double cost = found.cost->energy.count();
    const double bound =
        check::bound_trees(tiny.arch, tiny.chain, space, kJustEnergy, 2 * cost, {}).value;
    EXPECT_LE(bound, cost * (1 + 1e-9)) << "seed " << seed;
    ++compared;
  }
  EXPECT_EQ(compared, 4);
}

// What is known of a branch never says more than a search of it: neither of boxes that do not
// divide the one that was searched, nor of more room than it had.
TEST(BranchBounds, KnowNothingThatIsNotSo) {
  int inferred = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const TinyChain tiny = tiny_chain(seed);
    const check::ChainObjective objective{tiny.arch, kJustEnergy};
    check::BranchBounds all{tiny.arch, tiny.chain, objective, {}};
    std::vector<std::pair<Branch, TakenBits>> cases;
    for (std::size_t e = 0; e < tiny.chain.einsums.size(); ++e) {
      const Workload& einsum = tiny.chain.einsums[e];
      const PerDim<std::int64_t> largest = bounds_of(einsum);
      std::vector<PerDim<std::int64_t>> boxes{largest};
      for (const DimId d : largest.ids()) {
        for (const std::int64_t extent : divisors_of(largest[d])) {
          boxes.push_back(largest);
          boxes.back()[d] = extent;
        }
      }
      for (const PerDim<std::int64_t>& box : boxes) {
        double sums_begun = 1;  // other entries continue them
        for (const DimId d : largest.ids()) {
          sums_begun *= einsum.tensors[einsum.output()].dims().contains(d)
                            ? 1.0
                            : static_cast<double>(box[d]) / static_cast<double>(largest[d]);
        }
        for (const double share : {0.75, 0.5, 0.0}) {
          TakenBits taken;
          for (const FiniteCapacity& capacity : all.capacities()) {
            taken.push_back(std::floor(share * static_cast<double>(capacity.bits.count())));
          }
          Branch branch{e, box};
          branch.entry.sources.resize(einsum.tensors.size());
          branch.entry.sums_begun = sums_begun;
          cases.emplace_back(std::move(branch), taken);
        }
      }
    }
    for (const auto& [branch, taken] : cases) {
      check::BranchBounds fresh{tiny.arch, tiny.chain, objective, {}};
      const double least = fresh.least(branch, taken, HUGE_VAL);
      for (const bool glances : {false, true}) {
        if (glances) {
          all.glance(branch, taken);
        }
        const double known = all.known(branch, taken);
        EXPECT_LE(known, least * (1 + 1e-9)) << "seed " << seed << ' ' << branch.einsum;
      }
      const double known = all.known(branch, taken);
      inferred += known > 0 ? 1 : 0;
      all.least(branch, taken, HUGE_VAL);
    }
  }
  EXPECT_GT(inferred, 100);
}

// What operations alone need, or little more, takes no search of all einsums: that is what a search
// claims that was stopped early.
TEST(FusedBound, OfAWeakClaimIsCheap) {
  const Arch arch = load_arch(source_path("configs/arch/nvdla_like_1024.yaml"));
  const EinsumChain chain = parse_chain(
      "name: wide\nchain:\n"
      "  - {name: a, conv2d: {in_channels: 720, out_channels: 840, input: [242, 242], kernel: [3, "
      "3]},"
      " out: t}\n"
      "  - {name: b, conv2d: {in_channels: 840, out_channels: 720, input: [240, 240], kernel: [1, "
      "1]},"
      " in: {I: t}}\n",
      "chain.yaml");
  const check::ChainObjective objective{arch, kJustEnergy};
  double operations = 0;
  for (const Workload& einsum : chain.einsums) {
    operations +=
        objective.of_operations(Problem{arch, einsum}, static_cast<double>(einsum.macs()));
  }
  const check::FusedSpace space{kMaxEinsums, kMaxDims, true};
  EXPECT_EQ(check::bound_trees(arch, chain, space, kJustEnergy, operations, {}).value, operations);
  EXPECT_EQ(check::bound_trees(arch, chain, space, kJustEnergy, operations, {}).branches, 0);
  const auto more = check::bound_trees(arch, chain, space, kJustEnergy, 1.01 * operations, {});
  EXPECT_EQ(more.value, 1.01 * operations);
  EXPECT_EQ(more.labels, 0);
}

// One einsum needs a search only where the closed forms of all of them together say too little:
// that of a convolution with a halo is often enough for a set of shared loops.
TEST(FusedBound, SearchesNoEinsumWhereClosedFormsSuffice) {
  const Arch arch = load_arch(source_path("configs/arch/teaching_flat.yaml"));
  const EinsumChain chain = load_chain(source_path("configs/chains/teaching_convs.yaml"));
  const ChainResult found = search_chain(arch, chain, {}, {});
  ASSERT_TRUE(found.proven && found.cost);
  const double enough = found.cost->energy.count() * (1 - 1e-9);
  const auto bound =
      check::bound_trees(arch, chain, {kMaxEinsums, kMaxDims, true}, kJustEnergy, enough, {});
  EXPECT_EQ(bound.value, enough);
  EXPECT_LT(bound.branches, bound.classes);
}

// A smaller space has no smaller least.
TEST(FusedBound, KnowsTheSpace) {
  const TinyChain tiny = tiny_chain(2);
  const double all =
      check::bound_trees(tiny.arch, tiny.chain, {kMaxEinsums, kMaxDims, true}, kJustEnergy, 1e9, {})
          .value;
  const double apart =
      check::bound_trees(tiny.arch, tiny.chain, {1, 0, false}, kJustEnergy, 1e9, {}).value;
  EXPECT_LT(all, 1e9);
  EXPECT_LE(all, apart);
}

// Sums that are wider than what comes of them: whether a group hands on final sums is decided for
// its last einsum, too. The first seeds hold an intermediate inside shared loops. (The search is
// compared with brute force where such chains are tiny.)
TEST(FusedBound, OfWideSumsIsWhatTheSearchFinds) {
  const check::FusedSpace space{kMaxEinsums, kMaxDims, true};
  std::vector<std::uint64_t> seeds{153, 221, 296, 297, 382, 399};
  for (std::uint64_t seed = 50; seed < 80; ++seed) {
    seeds.push_back(seed);
  }
  int compared = 0;
  for (const std::uint64_t seed : std::span(seeds).first(tried_of(seeds.size()))) {
    const TinyChain tiny = wide_tiny_chain(seed, 4);
    const ChainResult found =
        search_chain(tiny.arch, tiny.chain, {kMaxEinsums, kMaxDims, true}, {});
    if (!found.proven || !found.cost) {
      continue;
    }
    const double least = found.cost->energy.count();
    const auto bound = check::bound_trees(tiny.arch, tiny.chain, space, kJustEnergy, 2 * least, {});
    EXPECT_NEAR(bound.value, least, 1e-9 * least) << "seed " << seed << "\n" << describe(tiny);
    ++compared;
  }
  EXPECT_GT(compared, tried_of(30) - 1);
}

// A branch whose search ended at a cutoff is asked again with a larger one, by another way to hold
// what is before it: here the first two einsums are fused, and the next intermediates are held.
TEST(FusedBound, OfABranchAskedAgainIsWhatTheSearchFinds) {
  const Arch arch = parse_arch(
      "name: m\nclock: 1 GHz\nnodes:\n"
      "  - {storage: DRAM, word: 8 b, capacity: unlimited, energy: {read: 100 pJ/word, write: 100 "
      "pJ/word}}\n"
      "  - {storage: Buffer, word: 8 b, capacity: 128 B, energy: {read: 5 pJ/word, write: 30 "
      "pJ/word}}\n"
      "  - {storage: Reg, word: 8 b, capacity: 6 B, energy: {read: 1 pJ/word, write: 1 pJ/word}}\n"
      "  - {compute: MAC, energy: 1 pJ}\n",
      "arch.yaml");
  const std::string wide = "precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 32 b}";
  const std::string narrow = "precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 8 b}";
  const EinsumChain chain = parse_chain(
      "name: c\nchain:\n  - {name: e0, gemm: {m: 8, n: 4, k: 1}, " + wide +
          ", out: t0}\n  - {name: e1, gemm: {m: 8, n: 4, k: 4}, " + wide +
          ", in: {A: t0}, out: t1}\n  - {name: e2, gemm: {m: 8, n: 4, k: 4}, " + narrow +
          ", in: {A: t1}, out: t2}\n  - {name: e3, gemm: {m: 8, n: 6, k: 4}, " + narrow +
          ", in: {A: t2}}\n",
      "chain.yaml");
  const ChainResult found = search_chain(arch, chain, {}, {});
  ASSERT_TRUE(found.proven && found.cost);
  const double least = found.cost->energy.count();
  const auto bound =
      check::bound_trees(arch, chain, {kMaxEinsums, kMaxDims, true}, kJustEnergy, 2 * least, {});
  EXPECT_NEAR(bound.value, least, 1e-9 * least);
}

// One einsum after the other, with intermediates on chip between them or without: what the search
// finds is what the checker bounds, and room on chip is worth something.
TEST(FusedBound, OfIntermediatesThatAreHeldIsWhatTheSearchFinds) {
  int compared = 0;
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const TinyChain tiny = tiny_chain(seed);
    std::array<double, 2> least{};
    for (const bool hold : {false, true}) {
      const ChainResult found = search_chain(tiny.arch, tiny.chain, {1, 0, hold}, {});
      if (!found.proven || !found.cost) {
        continue;
      }
      least[hold ? 1 : 0] = found.cost->energy.count();
      const double value =
          check::bound_trees(tiny.arch, tiny.chain, {1, 0, hold}, kJustEnergy, HUGE_VAL, {}).value;
      EXPECT_NEAR(value, found.cost->energy.count(), 1e-9 * value) << "seed " << seed << hold;
      ++compared;
    }
    better += least[1] > 0 && least[1] < least[0] * (1 - 1e-9) ? 1 : 0;
  }
  EXPECT_GT(compared, 40);
  EXPECT_GT(better, 3);
}

// The levels of 31 scopes are decided as far as an einsum asks for them: all choices together would
// fill no memory.
TEST(FusedBound, ListsLevelsOfScopesPerEinsum) {
  const auto& [arch, chain] = longest_chain();
  const check::ChainObjective objective{arch, kJustEnergy};
  const check::BranchBounds bounds{arch, chain, objective, {}};
  check::GroupContext around{0, kMaxEinsums - 1, {}, {}, {}};
  around.sources.assign(kMaxEinsums, PerTensor<LevelId>(3));
  const check::GroupSupply supply{arch, chain, {kMaxEinsums, kMaxDims, true}, around, bounds};
  ASSERT_TRUE(supply.is_group());
  check::LevelsLeft left = supply.scope_levels();
  EXPECT_EQ(supply.decisions(0, left).size(), 5U);
  EXPECT_EQ(supply.decisions(7, left).size(), 25U);
  left[6] = {LevelId{3}};
  const std::vector<ScopeLevels> all = supply.decisions(7, left);
  EXPECT_EQ(all.size(), 5U);
  for (const ScopeLevels& levels : all) {
    EXPECT_EQ(levels[6], LevelId{3});
    EXPECT_FALSE(levels[5]);
    EXPECT_TRUE(levels[7]);
  }
}

}  // namespace
}  // namespace mapsim::fused_bound_test
