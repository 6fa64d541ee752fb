// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/fusion/group_counts.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/simulate_tree.hpp"
#include "tests/costmodel/random_case.hpp"
#include "tests/costmodel/random_tree.hpp"
#include "tests/support/bad_inputs.hpp"

namespace mapsim::tree_test {
namespace {

Arch machine(const std::string& buffer = "1 KiB") {
  return parse_arch(
      "name: toy\n"
      "nodes:\n"
      "  - {storage: DRAM, capacity: unlimited, energy: {read: 100 pJ/B, write: 100 pJ/B}}\n"
      "  - {storage: GLB, capacity: " +
          buffer +
          ", bandwidth: {shared: 4 B/cycle}, energy: {read: 1 pJ/B, write: 1 pJ/B}, sliding: "
          "false}\n"
          "  - {compute: MAC, energy: 1 pJ}\n",
      "toy.yaml");
}

// Two windows of three, one after the other: 10 outputs need 12 points in between and 14 inputs.
EinsumChain two_windows() {
  return parse_chain(
      "name: two\n"
      "chain:\n"
      "  - {name: a, einsum: {equation: 'O[p] += I[p+r] * W[r]', dims: {p: 12, r: 3}}, out: t}\n"
      "  - {name: b, einsum: {equation: 'O[p] += I[p+r] * W[r]', dims: {p: 10, r: 3}}, "
      "in: {I: t}}\n",
      "two.yaml");
}

MappingTree parse(const std::string& text, const EinsumChain& chain) {
  static const Arch kMachine = machine();
  return parse_tree(text, "tree.yaml", kMachine, chain);
}

MappingTree parse(const std::string& text) {
  static const EinsumChain kChain = two_windows();
  return parse(text, kChain);
}

const std::string kBranches =
    "  - sequence:\n"
    "      - a: [keep GLB: [W], for p: 1, for r: 1]\n"
    "      - b: [keep GLB: [W], for p: 1, for r: 1]\n";

TreeCounts counts_of(const std::string& prefix) {
  return count_tree(machine(), two_windows(), parse("mapping:\n" + prefix + kBranches));
}

// Five tiles of two outputs: each needs four points in between, two of which the tile before had.
TEST(MappingTrees, RetainHalosWithinTheScopeAndRecomputeThemAboveIt) {
  const TreeCounts whole = counts_of("  - keep GLB: [t]\n");
  EXPECT_EQ(whole.intermediates[0], (IntermediateCounts{12, {12, 0}}));
  const TreeCounts retained = counts_of("  - keep GLB: [t]\n  - for b.p: 2\n");
  EXPECT_EQ(retained.intermediates[0], (IntermediateCounts{12, {4, 2}}));
  const TreeCounts recomputed = counts_of("  - for b.p: 2\n  - keep GLB: [t]\n");
  EXPECT_EQ(recomputed.intermediates[0], (IntermediateCounts{20, {4, 0}}));
  EXPECT_EQ(recomputed.einsums[0].macs, 60);
  EXPECT_EQ(retained.einsums[0].macs, 36);
  const LevelId glb{1};
  const TensorId output{2};
  EXPECT_EQ(retained.einsums[0].levels[glb][output].total.updates, 36);
  EXPECT_EQ(retained.einsums[0].levels[glb][output].total.readbacks, 24);
  EXPECT_EQ(retained.einsums[1].levels[glb][TensorId{0}].total.reads, 30);
  EXPECT_FALSE(retained.einsums[0].levels[LevelId{0}][output].kept);
}

// The rows of a window of two dims: a line of four columns and the halo beside it.
TEST(MappingTrees, HoldLinesOfAnIntermediateWhereTwoLoopsShareIt) {
  const EinsumChain chain = parse_chain(
      "name: c\n"
      "chain:\n"
      "  - {name: a, einsum: {equation: 'O[p][q] += I[p][q] * W[p]', dims: {p: 6, q: 10}}, out: "
      "t}\n"
      "  - {name: b, einsum: {equation: 'O[p][q] += I[p+r][q+s] * W[r][s]', "
      "dims: {p: 4, q: 8, r: 3, s: 3}}, in: {I: t}}\n",
      "c.yaml");
  const MappingTree tree = parse(
      "mapping:\n"
      "  - keep GLB: [t]\n"
      "  - for b.p: 1\n"
      "  - for b.q: 2\n"
      "  - sequence:\n"
      "      - a: [for p: 1, for q: 1]\n"
      "      - b: [for r: 1, for q: 1, for s: 1]\n",
      chain);
  // Two rows are carried whole (10 each); of the third a tile of four comes, of the first one the
  // part is gone that later tiles do not need: at most 2 * 10 + 4.
  EXPECT_EQ(count_tree(machine(), chain, tree).intermediates[0].held.live, 24);
}

TEST(MappingTrees, CountWhatTheWalkCounts) {
  TreeTraits seen;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    const RandomTree random = random_tree(seed);
    ASSERT_EQ(tree_mismatch(random), "") << "seed " << seed << "\n" << describe(random);
    const TreeTraits traits = traits_of(random);
    seen.nested = seen.nested || traits.nested;
    seen.recomputed = seen.recomputed || traits.recomputed;
    seen.retained = seen.retained || traits.retained;
    seen.whole = seen.whole || traits.whole;
    seen.spilled = seen.spilled || traits.spilled;
    seen.graph = seen.graph || traits.graph;
    seen.parallel = seen.parallel || traits.parallel;
  }
  EXPECT_TRUE(seen.nested && seen.recomputed && seen.retained && seen.whole && seen.spilled &&
              seen.graph && seen.parallel);
}

// A mapping is the tree with one leaf.
// Some interface of a chain as one group: loops of divisors over dims of the sink, scopes anywhere.
Interface random_interface(Rng& rng, const EinsumChain& group) {
  const Workload& sink = group.einsums.back();
  Interface interface;
  for (const DimId d : sink.dims.ids()) {
    const std::int64_t bound = sink.dims[d].bound;
    const auto extent = static_cast<std::int64_t>(1 + rng.below(static_cast<std::uint64_t>(bound)));
    if (extent < bound && bound % extent == 0 && interface.loops.size() < 2) {
      interface.loops.insert(
          interface.loops.begin() + (rng.below(2) == 0 ? 0 : interface.loops.size()), {d, extent});
    }
  }
  for (std::size_t i = 0; i < group.intermediates.size(); ++i) {
    interface.scopes.push_back(rng.below(interface.loops.size() + 1));
  }
  return interface;
}

// The tree of an interface whose branches have no keeps, with some of the keeps that it may have,
// and scopes at any of these levels.
MappingTree tree_of(Rng& rng, const EinsumChain& group, const std::vector<LevelId>& levels,
                    const Interface& interface, std::vector<KeepPosition>& keeps) {
  if (!keeps.empty()) {
    std::rotate(keeps.begin(), keeps.begin() + rng.between(0, std::ssize(keeps) - 1), keeps.end());
  }
  std::vector<KeepPosition> chosen;
  for (const KeepPosition& keep : keeps) {
    const bool is_new = std::none_of(chosen.begin(), chosen.end(), [&](const KeepPosition& other) {
      return other.use == keep.use;
    });
    if (is_new && rng.below(3) > 0) {
      chosen.push_back(keep);
    }
  }
  keeps = chosen;
  MappingTree tree;
  tree.nodes.resize(1);
  tree.nodes[0].einsum = group.einsums.size() - 1;
  for (std::size_t p = 0; p <= interface.loops.size(); ++p) {
    const auto keep_here = [&](LevelId level, const ChainTensor& use) {
      tree.nodes[0].items.emplace_back(TreeKeep{level, {use}});
    };
    for (std::size_t i = 0; i < interface.scopes.size(); ++i) {
      const std::size_t producer = group.intermediates[i].producer;
      if (interface.scopes[i] == p) {
        keep_here(levels[rng.below(levels.size())], {producer, group.einsums[producer].output()});
      }
    }
    for (const KeepPosition& keep : keeps) {
      if (keep.position == p) {
        keep_here(keep.level, keep.use);
      }
    }
    if (p < interface.loops.size()) {
      tree.nodes[0].items.emplace_back(interface.loops[p]);
    }
  }
  for (std::size_t e = 0; e < group.einsums.size(); ++e) {
    tree.nodes[0].children.push_back(tree.nodes.size());
    TreeNode& leaf = tree.nodes.emplace_back();
    leaf.einsum = e;
    leaf.parent = 0;
    for (const DimId d : group.einsums[e].dims.ids()) {
      if (group.einsums[e].dims[d].bound > 1) {
        leaf.items.emplace_back(Temporal{d, 1});
      }
    }
  }
  return tree;
}

// Elements in all entries of a branch, of the box's extents along some dims.
double in_all_entries(const EnteredBranch& branch, DimSet dims) {
  double product = branch.entries;
  for (const DimId d : branch.bounds.ids()) {
    double sum = branch.entry.lengths[d].empty() ? static_cast<double>(branch.bounds[d]) : 0;
    double times = branch.entry.lengths[d].empty() ? 1 : 0;
    for (const BoxLength& length : branch.entry.lengths[d]) {
      sum += static_cast<double>(length.size * length.times);
      times += static_cast<double>(length.times);
    }
    product *= dims.contains(d) ? sum / times : 1;
  }
  return product;
}

// How often something was compared that not every interface has.
struct Compared {
  int interfaces = 0, varying = 0, carried = 0, kept = 0, further_in = 0;
};

void compare(const EinsumChain& group, const GroupCounts& counts,
             const std::vector<KeepPosition>& keeps, const TreeCounts& walked, Compared& compared) {
  for (std::size_t i = 0; i < group.intermediates.size(); ++i) {
    const std::size_t producer = group.intermediates[i].producer;
    const Workload& einsum = group.einsums[producer];
    EXPECT_EQ(counts.held[i], walked.intermediates[i].held);
    EXPECT_DOUBLE_EQ(
        in_all_entries(counts.branches[producer], einsum.tensors[einsum.output()].dims()),
        static_cast<double>(walked.intermediates[i].made));
    compared.carried += walked.intermediates[i].held.carried > 0 ? 1 : 0;
  }
  for (std::size_t e = 0; e < group.einsums.size(); ++e) {
    const Workload& einsum = group.einsums[e];
    const EnteredBranch& branch = counts.branches[e];
    DimSet all;
    for (const DimId d : einsum.dims.ids()) {
      all.insert(d);
    }
    EXPECT_DOUBLE_EQ(in_all_entries(branch, all), static_cast<double>(walked.einsums[e].macs));
    if (!group.intermediate_of({e, einsum.output()})) {
      const Tensor& output = einsum.tensors[einsum.output()];
      EXPECT_DOUBLE_EQ(branch.entry.sums_begun * in_all_entries(branch, output.dims()),
                       static_cast<double>(footprint(output, bounds_of(einsum))));
    }
    compared.varying += branch.entry.varies() ? 1 : 0;
  }
  for (const KeepPosition& keep : keeps) {
    const TensorCounts& at = walked.einsums[keep.use.einsum].levels[keep.level][keep.use.tensor];
    compared.further_in += keep.level > LevelId{1} ? 1 : 0;
    const bool is_output = keep.use.tensor == group.einsums[keep.use.einsum].output();
    EXPECT_EQ(keep.moved, static_cast<double>(is_output ? at.total.drains : at.total.fills));
    EXPECT_EQ(keep.largest, static_cast<double>(at.footprint));
    ++compared.kept;
  }
}

// GroupCounter against the walk: both the search of fused mappings and its checker rely on it. One
// counter counts several interfaces, since it keeps what it knows of lines.
TEST(MappingTrees, CountGroupsWithoutTheirBranchesAsTheWalkDoes) {
  Compared compared;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const RandomTree random = random_tree(seed);
    const EinsumChain& group = random.chain;
    std::vector<LevelId> levels;  // above all arrays
    for (const LevelId level : random.arch.levels.ids()) {
      const bool in_array = !random.arch.levels_above.empty() &&
                            random.arch.levels_above[FanoutId{0}] <= index_of(level);
      if (level != LevelId{0} && !in_array) {
        levels.push_back(level);
      }
    }
    const bool is_group =
        group.einsums.size() > 1 && group.intermediates.size() + 1 == group.einsums.size();
    if (!is_group || levels.empty()) {
      continue;
    }
    Rng rng{seed};
    GroupCounter counter{random.arch, group, levels};
    for (int i = 0; i < 6; ++i) {
      const Interface interface = random_interface(rng, group);
      const auto counts = counter.count(interface);
      if (!counts) {
        continue;
      }
      std::vector<KeepPosition> keeps = counts->keeps;
      const MappingTree tree = tree_of(rng, group, levels, interface, keeps);
      const RandomTree as_case{random.arch, group, tree};
      ASSERT_TRUE(check_tree(random.arch, group, tree).empty()) << describe(as_case);
      const TreeCounts walked =
          simulate_tree(random.arch, group, tree, random_operands(group, 1), 10'000'000).counts;
      compare(group, *counts, keeps, walked, compared);
      ++compared.interfaces;
      ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << describe(as_case);
    }
  }
  EXPECT_GT(compared.interfaces, 300);
  EXPECT_GT(compared.varying, 30);
  EXPECT_GT(compared.carried, 20);
  EXPECT_GT(compared.kept, 300);
  EXPECT_GT(compared.further_in, 50);
}

TEST(MappingTrees, OfOneEinsumCostWhatItsMappingDoes) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    auto [arch, workload, mapping] = random_case(seed);
    if (!tree_obstacle(arch).empty()) {
      continue;
    }
    ++compared;
    const EinsumChain chain = chain_of(workload);
    const MappingTree tree = tree_of(mapping);
    ASSERT_TRUE(check_tree(arch, chain, tree).empty());
    const auto evaluation = evaluate_tree(arch, chain, tree);
    const TreeCost& cost = std::get<TreeCost>(evaluation);
    const Evaluation single = evaluate({arch, workload}, mapping);
    const Cost& expected = std::get<Cost>(single);
    EXPECT_EQ(cost.counts.einsums[0], expected.counts) << seed;
    EXPECT_EQ(cost.energy, expected.energy.total) << seed;
    EXPECT_EQ(cost.latency, expected.latency.steady) << seed;
    EXPECT_EQ(simulate_tree(arch, chain, tree, random_operands(chain, 1), 1'000'000).counts,
              cost.counts)
        << seed;
    EXPECT_EQ(print_tree(arch, chain, tree), print_mapping(arch, workload, mapping));
  }
  EXPECT_GT(compared, 1000);
}

// While a runs, its operand's tile takes room, and none while b does.
TEST(MappingTrees, ListWhatALevelHoldsPerPhase) {
  const EinsumChain chain = two_windows();
  const MappingTree tree = parse(
      "mapping:\n"
      "  - keep GLB: [t, b.W]\n"
      "  - for b.p: 2\n"
      "  - sequence:\n"
      "      - a: [keep GLB: [I], for p: 1, for r: 1]\n"
      "      - b: [for p: 1, for r: 1]\n");
  const auto evaluation = evaluate_tree(machine(), chain, tree);
  const TreeCost& cost = std::get<TreeCost>(evaluation);
  ASSERT_EQ(cost.phases.size(), 2U);
  const LevelId glb{1};
  EXPECT_EQ(cost.phases[0].used[glb], Bits{8 * (4 + 3 + 6)});
  EXPECT_EQ(cost.phases[1].used[glb], Bits{8 * (4 + 3)});
  EXPECT_EQ(cost.latency, cost.einsums[0].latency.steady + cost.einsums[1].latency.steady);
  const auto tight = evaluate_tree(machine("12 B"), chain, tree);
  const PhaseExceeded& exceeded = std::get<PhaseExceeded>(tight);
  EXPECT_EQ(exceeded.einsum, 0U);
  EXPECT_EQ(exceeded.capacity.need, Bits{8 * 13});
}

TEST(MappingTrees, ReadBackAsTheyArePrinted) {
  const std::string text =
      "mapping:\n"
      "  - keep GLB: [t, b.W]\n"
      "  - for b.p: 2\n"
      "  - sequence:\n"
      "      - a:\n"
      "          - keep GLB: [I]\n"
      "          - for p: 1\n"
      "          - for r: 1\n"
      "      - b:\n"
      "          - for p: 1\n"
      "          - for r: 1\n";
  EXPECT_EQ(print_tree(machine(), two_windows(), parse(text)), text);
}

// Four PEs with a buffer each.
Arch spread_machine() {
  return parse_arch(
      "name: spread\n"
      "nodes:\n"
      "  - {storage: DRAM, capacity: unlimited, energy: {read: 9 pJ/B, write: 9 pJ/B}}\n"
      "  - {storage: GLB, capacity: unlimited, energy: {read: 3 pJ/B, write: 3 pJ/B}}\n"
      "  - {fanout: PEs, x: 4, multicast: [input, weight], spatial_reduction: true}\n"
      "  - {storage: spad, capacity: unlimited, energy: {read: 1 pJ/B, write: 1 pJ/B}}\n"
      "  - {compute: MAC, energy: 1 pJ}\n",
      "spread.yaml");
}

// The loop over r brings the tiles of t back twice; four PEs have one point each, or the three of a
// partial tile. Three PEs make the sums of b together.
TEST(MappingTrees, SpreadBranchesOverInstances) {
  const Arch arch = spread_machine();
  const EinsumChain chain = two_windows();
  const MappingTree tree = parse_tree(
      "mapping:\n"
      "  - for b.p: 5\n"
      "  - keep GLB: [t]\n"
      "  - sequence:\n"
      "      - a: [for r: 1, for p: 4, parallel p: 1 over X of PEs, keep spad: [O]]\n"
      "      - b: [parallel r: 1 over X of PEs, keep spad: [I, O], for p: 1]\n",
      "tree.yaml", arch, chain);
  const TreeCounts counts = count_tree(arch, chain, tree);
  const Counts& a = counts.einsums[0];
  EXPECT_EQ(counts.intermediates[0].made, 7 + 7);
  EXPECT_EQ(a.used_x[FanoutId{0}], 4);
  EXPECT_EQ(a.levels[LevelId{2}][TensorId{2}].total.drains, 3 * 14);
  EXPECT_EQ(a.levels[LevelId{1}][TensorId{2}].total.readbacks, 2 * 14);
  const Counts& b = counts.einsums[1];
  EXPECT_EQ(b.reductions[FanoutId{0}], 2 * 10);
  EXPECT_EQ(counts, simulate_tree(arch, chain, tree, random_operands(chain, 1), 10'000).counts);
}

TEST(MappingTrees, TellWhatAnArrayDoesNotHave) {
  const EinsumChain chain = two_windows();
  expect_errors("costmodel/bad_spread_trees.txt", 5, [&](const std::string& text) {
    return parse_tree(text, "tree.yaml", spread_machine(), chain);
  });
}

TEST(MappingTrees, TellWhatIsWrong) {
  expect_errors("costmodel/bad_trees.txt", 12, [](const std::string& text) { return parse(text); });
}

TEST(MappingTrees, SurviveDamagedFiles) {
  expect_survival("mapping:\n  - keep GLB: [t]\n  - for b.p: 2\n" + kBranches,
                  [](const std::string& text) { return parse(text); });
}

}  // namespace
}  // namespace mapsim::tree_test
