// SPDX-License-Identifier: Apache-2.0
#include "check/chain_proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <variant>

#include "check/goal.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/fusion/shape.hpp"
#include "costmodel/reference/simulate_tree.hpp"

namespace mapsim::check {

namespace {

// Why a tree is not in the space of a certificate (docs/fusion.md, What is searched).
class Membership {
 public:
  Membership(const ChainClaim& claim)
      : claim_{claim}, tree_{*claim.tree}, shape_{shape_of(claim.arch, claim.chain, tree_)} {}

  std::vector<std::string> faults() {
    if (is_list_of_groups()) {
      require(claim_.space.may_hold || tree_.nodes[0].items.empty(),
              "an intermediate is held between groups");
      for (const std::size_t unit : tree_.nodes[0].children) {
        look_at_unit(unit);
      }
    } else {
      look_at_unit(0);
    }
    return faults_;
  }

 private:
  void require(bool holds, const std::string& otherwise) {
    if (!holds) {
      faults_.push_back("the mapping lies outside of the space: " + otherwise);
    }
  }
  // Or one group: of several groups the root holds intermediates and nothing else.
  bool is_list_of_groups() const {
    const TreeNode& root = tree_.nodes[0];
    const auto holds_only = [&](const TreeItem& item) {
      const auto* keep = std::get_if<TreeKeep>(&item);
      return keep != nullptr &&
             std::all_of(keep->tensors.begin(), keep->tensors.end(), [&](const ChainTensor& t) {
               return claim_.chain.intermediate_of(t).has_value();
             });
    };
    const bool is_flat =
        std::all_of(root.children.begin(), root.children.end(),
                    [&](std::size_t n) { return tree_.nodes[n].children.empty(); });
    const bool may_be = claim_.space.may_hold || root.items.empty();
    return !root.children.empty() && (may_be || !is_flat) &&
           std::all_of(root.items.begin(), root.items.end(), holds_only);
  }
  void look_at_unit(std::size_t n) {
    const TreeNode& node = tree_.nodes[n];
    if (node.children.empty()) {
      look_at_leaf(n);
      return;
    }
    require(node.children.size() <= claim_.space.most_einsums, "a group has too many einsums");
    look_at_shared(node);
    for (const std::size_t child : node.children) {
      require(tree_.nodes[child].children.empty(), "a sequence is nested");
      look_at_leaf(child);
    }
  }
  void look_at_shared(const TreeNode& node) {
    const Workload& sink = claim_.chain.einsums[node.einsum];
    std::set<DimId> dims;
    std::set<LevelId> levels;
    for (const TreeItem& item : node.items) {
      if (const auto* loop = std::get_if<Temporal>(&item)) {
        const std::int64_t bound = sink.dims[loop->dim].bound;
        require(dims.insert(loop->dim).second, "a group has two loops over one dim");
        require(bound % loop->extent == 0 && bound / loop->extent <= kMostTilesOfSharedLoop,
                "the tiles of a shared loop do not divide its dim");
      } else if (const auto* keep = std::get_if<TreeKeep>(&item)) {
        levels.insert(keep->level);
      }
    }
    require(dims.size() <= claim_.space.most_loops, "a group shares too many loops");
    require(levels.size() <= 1, "a group keeps tensors at two levels");
  }
  // Perfect factors of the largest box.
  void look_at_leaf(std::size_t n) {
    PerDim<std::int64_t> tile = shape_.nodes[n].nominal;
    for (const TreeItem& item : tree_.nodes[n].items) {
      const auto cut = [&](DimId d, std::int64_t extent) {
        require(tile[d] % extent == 0, "the tiles of a branch do not divide its box");
        tile[d] = extent;
      };
      if (const auto* loop = std::get_if<Temporal>(&item)) {
        cut(loop->dim, loop->extent);
      } else if (const auto* parallel = std::get_if<Parallel>(&item)) {
        cut(parallel->dim, parallel->extent);
      }
    }
  }

  const ChainClaim& claim_;
  const MappingTree& tree_;
  TreeShape shape_;
  std::vector<std::string> faults_;
};

void check_tree_claim(const ChainClaim& claim, std::int64_t max_steps, ChainVerdict& verdict) {
  verdict.problems = Membership{claim}.faults();
  const auto evaluation = evaluate_tree(claim.arch, claim.chain, *claim.tree);
  const auto* cost = std::get_if<TreeCost>(&evaluation);
  if (cost == nullptr) {
    verdict.problems.emplace_back("the mapping does not fit the machine");
    return;
  }
  if (cost->energy.count() != claim.value) {
    verdict.problems.push_back(fmt::format("the mapping has a value of {} pJ, not {} pJ",
                                           cost->energy.count(), claim.value));
  }
  std::int64_t macs = 0;
  for (const Counts& counts : cost->counts.einsums) {
    macs += counts.macs;
  }
  if (macs > max_steps) {
    return;
  }
  const TreeSimulation walk = simulate_tree(claim.arch, claim.chain, *claim.tree,
                                            random_operands(claim.chain, 1), max_steps);
  verdict.walked = true;
  if (walk.counts != cost->counts) {
    verdict.problems.emplace_back(
        "the reference simulator counts other accesses of the mapping than the closed form");
  }
}

}  // namespace

ChainVerdict check_chain(const ChainClaim& claim, std::int64_t max_steps) {
  const auto start = std::chrono::steady_clock::now();
  ChainVerdict verdict;
  if (claim.tree) {
    check_tree_claim(claim, max_steps, verdict);
  }
  if (claim.lower_bound > claim.value) {
    verdict.problems.emplace_back("the lower bound is above the value");
  }
  // Equal sums, added up in another order, are no refutation.
  const double enough = claim.lower_bound * (1 - kRounding / 2);
  verdict.bound = bound_trees(claim.arch, claim.chain, claim.space, enough, {});
  if (exceeds(claim.lower_bound, verdict.bound.energy)) {
    verdict.problems.push_back(
        fmt::format("some mapping trees may need {} pJ, less than the lower bound of {} pJ",
                    verdict.bound.energy, claim.lower_bound));
  }
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace mapsim::check
