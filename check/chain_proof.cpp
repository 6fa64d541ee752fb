// SPDX-License-Identifier: Apache-2.0
#include "check/chain_proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <variant>

#include "arch/physical.hpp"
#include "check/branch_bound.hpp"
#include "check/goal.hpp"
#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/fusion/lines.hpp"
#include "costmodel/fusion/shape.hpp"
#include "costmodel/reference/simulate_tree.hpp"

namespace mapsim::check {

namespace {

// Why a tree is not in the space of a certificate (docs/fusion.md, What is searched).
class Membership {
 public:
  Membership(const ChainClaim& claim)
      : claim_{claim}, tree_{*claim.tree}, shape_{shape_of(claim.arch, claim.chain, tree_)} {
    for (std::size_t line = 0; line < shape_.line_count; ++line) {
      lines_.push_back(walk_line(claim.arch, claim.chain, tree_, shape_, line));
    }
  }

  std::vector<std::string> faults() {
    look_at_order(0);
    for (const TreeNode& node : tree_.nodes) {
      look_at_levels(node);
    }
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
  // Groups are of consecutive einsums.
  void look_at_order(std::size_t n) {
    const TreeNode& node = tree_.nodes[n];
    if (node.children.empty()) {
      require(node.einsum == einsums_seen_++, "einsums are not in the order of the chain");
    }
    for (const std::size_t child : node.children) {
      look_at_order(child);
    }
  }
  void look_at_levels(const TreeNode& node) {
    for (const TreeItem& item : node.items) {
      const auto* keep = std::get_if<TreeKeep>(&item);
      require(node.children.empty() || keep == nullptr || is_above_arrays(claim_.arch, keep->level),
              "several einsums keep a tensor within an array");
    }
  }
  // What a group makes, but for its last einsum, stays within it.
  void look_at_scopes(std::size_t n) {
    const TreeNode& node = tree_.nodes[n];
    for (std::size_t c = 0; c + 1 < node.children.size(); ++c) {
      const std::size_t producer = tree_.nodes[node.children[c]].einsum;
      require(std::any_of(shape_.scopes.begin(), shape_.scopes.end(),
                          [&](const TensorScope& scope) {
                            const Intermediate& passed =
                                claim_.chain.intermediates[scope.intermediate];
                            return scope.node == n && passed.producer == producer;
                          }),
              "an einsum of a group passes on nothing within it");
    }
  }
  void look_at_unit(std::size_t n) {
    const TreeNode& node = tree_.nodes[n];
    if (node.children.empty()) {
      look_at_leaf(n);
      return;
    }
    require(node.children.size() <= claim_.space.most_einsums, "a group has too many einsums");
    look_at_scopes(n);
    look_at_shared(node);
    for (const std::size_t child : node.children) {
      require(tree_.nodes[child].children.empty(), "a sequence is nested");
      look_at_leaf(child);
    }
  }
  void look_at_shared(const TreeNode& node) {
    const Workload& sink = claim_.chain.einsums[node.einsum];
    std::set<DimId> dims;
    for (const TreeItem& item : node.items) {
      if (const auto* loop = std::get_if<Temporal>(&item)) {
        const std::int64_t bound = sink.dims[loop->dim].bound;
        require(dims.insert(loop->dim).second, "a group has two loops over one dim");
        require(bound % loop->extent == 0 && bound / loop->extent <= kMostTilesOfSharedLoop,
                "the tiles of a shared loop do not divide its dim");
      } else if (const auto* keep = std::get_if<TreeKeep>(&item)) {
        require(keep->level == claim_.space.only_level.value_or(keep->level),
                "a group keeps a tensor at another level");
      }
    }
    require(dims.size() <= claim_.space.most_loops, "a group shares too many loops");
  }
  // The sizes of a leaf's boxes, by dim.
  PerDim<std::set<std::int64_t>> sizes_of(std::size_t n) const {
    const std::size_t e = tree_.nodes[n].einsum;
    PerDim<std::set<std::int64_t>> all(claim_.chain.einsums[e].dims.size());
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      for (const auto& [sizes, entries] : lines_[line].entries[n]) {
        std::size_t next = 0;
        for (const DimId d : all.ids()) {
          if (shape_.lines[e][d] == line) {
            all[d].insert(sizes[next++]);
          }
        }
      }
    }
    return all;
  }
  // Perfect factors of all boxes. A dim of several sizes is not unrolled.
  void look_at_leaf(std::size_t n) {
    const PerDim<std::set<std::int64_t>> sizes = sizes_of(n);
    PerDim<std::int64_t> tile(sizes.size(), 1);
    for (const DimId d : sizes.ids()) {
      tile[d] = sizes[d].empty() ? 1 : *sizes[d].rbegin();
    }
    for (const TreeItem& item : tree_.nodes[n].items) {
      const auto cut = [&](DimId d, std::int64_t extent) {
        const bool is_loop = extent < tile[d];
        require(!is_loop || std::all_of(sizes[d].begin(), sizes[d].end(),
                                        [&](std::int64_t size) { return size % extent == 0; }),
                "the tiles of a branch do not divide its boxes");
        require(!is_loop || tile[d] % extent == 0, "the tiles of a branch do not divide its boxes");
        tile[d] = std::min(tile[d], extent);
      };
      if (const auto* loop = std::get_if<Temporal>(&item)) {
        cut(loop->dim, loop->extent);
      } else if (const auto* parallel = std::get_if<Parallel>(&item)) {
        require(sizes[parallel->dim].size() <= 1 || parallel->extent >= tile[parallel->dim],
                "a branch unrolls a dim whose boxes differ in size");
        cut(parallel->dim, parallel->extent);
      }
    }
  }

  const ChainClaim& claim_;
  const MappingTree& tree_;
  TreeShape shape_;
  std::vector<LineCounts> lines_;
  std::size_t einsums_seen_ = 0;
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
  const double energy = cost->energy.count();
  const auto cycles = static_cast<double>(cost->latency.count());
  const double value = claim.goal.value(energy, cycles);
  if (value != claim.value) {
    verdict.problems.push_back(fmt::format("the mapping has a value of {0} {2}, not {1} {2}", value,
                                           claim.value, unit_of(claim.goal.function)));
  }
  if (!claim.goal.is_within_limits(energy, cycles)) {
    verdict.problems.push_back(
        fmt::format("the mapping takes {} pJ and {} cycles, beyond the limits", energy, cycles));
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

// Leakage grows with latency: a sum of a machine that leaks is one of a machine that does not, with
// a cycle worth that much more.
ObjectiveFunction with_leakage(const Arch& arch, const ObjectiveFunction& function) {
  const double leakage = function.uses_energy() ? leakage_per_cycle(arch).count() : 0;
  return leakage > 0 ? ObjectiveFunction::weighted_sum(function.value(0, 1) + leakage) : function;
}

// Is no tree's sum below the least one that is claimed?
void check_sum(const ChainClaim& claim, const ProvenSum& sum, const std::string& says, Stop stop,
               ChainVerdict& verdict) {
  // Equal sums, added up in another order, are no refutation.
  const double enough = sum.least * (1 - kTolerance / 2);
  Arch arch = claim.arch;
  arch.leaks = false;
  account(bound_trees(arch, claim.chain, claim.space, with_leakage(claim.arch, sum.function),
                      enough, stop),
          verdict.bound);
  if (!stop.is_set() && exceeds(sum.least, verdict.bound.value)) {
    verdict.problems.push_back(
        fmt::format("some mapping trees may need {0} {2}{4}, less than {3} "
                    "{1} {2}",
                    verdict.bound.value, sum.least, unit_of(sum.function), says,
                    is_one_sum(claim.goal) ? "" : " of " + to_string(sum.function)));
  }
}

void check_bound(const ChainClaim& claim, Stop stop, ChainVerdict& verdict) {
  if (is_one_sum(claim.goal)) {
    check_sum(claim, {claim.goal.function, claim.lower_bound}, "the lower bound of", stop, verdict);
    return;
  }
  for (const ProvenSum& sum : claim.sums) {
    check_sum(claim, sum, "the least sum of", stop, verdict);
  }
  const double bound = least_of_sums(claim.goal, claim.sums);
  if (exceeds(claim.lower_bound, bound)) {
    verdict.problems.push_back(
        fmt::format("the least sums leave {0} {2}, less than the lower bound of {1} {2}", bound,
                    claim.lower_bound, unit_of(claim.goal.function)));
  }
}

}  // namespace

void account(const FusedBound& more, FusedBound& all) {
  all.value = more.value;
  all.groups += more.groups;
  all.classes += more.classes;
  all.closed += more.closed;
  all.interfaces += more.interfaces;
  all.joined += more.joined;
  all.branches += more.branches;
  all.labels += more.labels;
}

bool is_one_sum(const Goal& goal) {
  return is_sum_over_einsums(goal.function) && !goal.max_energy && !goal.max_latency;
}

ChainVerdict check_chain(const ChainClaim& claim, std::int64_t max_steps, Stop stop) {
  const auto start = std::chrono::steady_clock::now();
  ChainVerdict verdict;
  if (claim.tree) {
    check_tree_claim(claim, max_steps, verdict);
  }
  if (!claim.tree && claim.lower_bound < kInfinity && !claim.may_lack_tree) {
    verdict.problems.emplace_back("names no mapping, and a bound that some mapping may meet");
  }
  if (claim.lower_bound > claim.value) {
    verdict.problems.emplace_back("the lower bound is above the value");
  }
  check_bound(claim, stop, verdict);
  if (stop.is_set()) {
    verdict.problems.emplace_back("the check was stopped");
  }
  verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return verdict;
}

}  // namespace mapsim::check
