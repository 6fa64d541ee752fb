// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/group_chain.hpp"

#include <algorithm>
#include <vector>

namespace mapsim::fusion {

namespace {

// Adjacent loops over one dim as one, adjacent keeps of one level as one.
void add_branch(std::size_t e, const std::vector<MappingNode>& nest, TreeNode& leaf) {
  for (const MappingNode& node : nest) {
    TreeItem* before = leaf.items.empty() ? nullptr : &leaf.items.back();
    if (const auto* loop = std::get_if<Temporal>(&node)) {
      auto* outer = before != nullptr ? std::get_if<Temporal>(before) : nullptr;
      if (outer != nullptr && outer->dim == loop->dim) {
        *outer = *loop;
      } else {
        leaf.items.emplace_back(*loop);
      }
    } else if (const auto* parallel = std::get_if<Parallel>(&node)) {
      leaf.items.emplace_back(*parallel);
    } else if (const auto* keep = std::get_if<Keep>(&node)) {
      auto* same = before != nullptr ? std::get_if<TreeKeep>(before) : nullptr;
      if (same == nullptr || same->level != keep->level) {
        same = &std::get<TreeKeep>(leaf.items.emplace_back(TreeKeep{keep->level, {}}));
      }
      for (std::size_t t = 0; t < kMaxTensors; ++t) {
        if (keep->tensors.contains(static_cast<TensorId>(t))) {
          same->tensors.push_back({e, static_cast<TensorId>(t)});
        }
      }
    }
  }
}

void add_held(const EinsumChain& chain, const std::vector<const GroupChain*>& steps,
              TreeNode& root) {
  for (const GroupChain* step : steps) {
    for (const auto& [i, held] : step->before) {
      const std::size_t producer = chain.intermediates[i].producer;
      const ChainTensor use{producer, chain.einsums[producer].output()};
      const bool is_first = producer + 1 == step->group.first;
      if (held.level != LevelId{0} && is_first) {
        root.items.emplace_back(TreeKeep{held.level, {use}});
      }
    }
  }
}
// Makes the node a leaf or a group, whose branches come behind all other nodes.
void fill(const EinsumChain& chain, const GroupChain& step, std::size_t n, MappingTree& tree) {
  tree.nodes[n].einsum = step.group.last;
  if (step.group.first == step.group.last) {
    add_branch(step.group.first, step.plan.branches.front(), tree.nodes[n]);
    return;
  }
  const EinsumChain piece = piece_of(chain, step.group.first, step.group.last);
  const Interface& interface = step.plan.interface;
  std::vector<TreeItem>& items = tree.nodes[n].items;
  for (std::size_t p = 0; p <= interface.loops.size(); ++p) {
    std::map<LevelId, TreeKeep> keeps;  // from the outside in
    const auto keep_at = [&](LevelId level, std::size_t e, TensorId t) {
      keeps.try_emplace(level, TreeKeep{level, {}})
          .first->second.tensors.push_back({e + step.group.first, t});
    };
    for (std::size_t i = 0; i < interface.scopes.size(); ++i) {
      const std::size_t producer = piece.intermediates[i].producer;
      if (interface.scopes[i] == p) {
        keep_at(*step.plan.levels[i], producer, piece.einsums[producer].output());
      }
    }
    for (const SharedKeep& own : step.plan.keeps) {
      if (own.position == p) {
        keep_at(own.level, own.use.einsum, own.use.tensor);
      }
    }
    for (auto& [level, keep] : keeps) {
      items.emplace_back(std::move(keep));
    }
    if (p < interface.loops.size()) {
      items.emplace_back(interface.loops[p]);
    }
  }
  for (std::size_t e = step.group.first; e <= step.group.last; ++e) {
    tree.nodes[n].children.push_back(tree.nodes.size());
    TreeNode leaf;
    leaf.parent = n;
    leaf.einsum = e;
    add_branch(e, step.plan.branches[e - step.group.first], leaf);
    tree.nodes.push_back(std::move(leaf));
  }
}

}  // namespace

MappingTree tree_of(const EinsumChain& chain, const GroupChain& groups) {
  std::vector<const GroupChain*> steps;
  for (const GroupChain* at = &groups; at != nullptr; at = at->previous.get()) {
    steps.push_back(at);
  }
  std::reverse(steps.begin(), steps.end());
  MappingTree tree;
  tree.nodes.resize(1);
  tree.nodes[0].einsum = chain.einsums.size() - 1;
  add_held(chain, steps, tree.nodes[0]);
  if (steps.size() == 1) {
    fill(chain, *steps.front(), 0, tree);
    return tree;
  }
  for (const GroupChain* step : steps) {
    tree.nodes[0].children.push_back(tree.nodes.size());
    tree.nodes.emplace_back().parent = 0;
    fill(chain, *step, tree.nodes.size() - 1, tree);
  }
  return tree;
}

}  // namespace mapsim::fusion
