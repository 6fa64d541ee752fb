// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/mapping.hpp"
#include "workloads/chain.hpp"

namespace mapsim {

inline constexpr std::size_t kNoNode = std::numeric_limits<std::size_t>::max();

// keep LEVEL: tensors of einsums below. An intermediate that is made and read below is named as its
// producer's output: the keep is its scope.
struct TreeKeep {
  LevelId level{};
  std::vector<ChainTensor> tensors;
  friend bool operator==(const TreeKeep&, const TreeKeep&) = default;
};

// The loops of a leaf are over dims of its einsum, those of a group over dims of its last einsum
// (the sink). Only leaves have parallel loops.
using TreeItem = std::variant<TreeKeep, Temporal, Parallel>;

// A group: a shared prefix of items, then a sequence of children. Or a leaf: the nest of one
// einsum.
struct TreeNode {
  std::size_t einsum = 0;  // of a leaf; of a group its sink
  std::size_t parent = kNoNode;
  std::vector<std::size_t> children;  // empty: a leaf
  std::vector<TreeItem> items;
  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};

// The mapping of a chain (docs/model.md#fused-mappings): node 0 is the root, parents come before
// their children. The outermost level keeps every tensor outside of the root. An intermediate
// without a scope is spilled, that is, its scope is the outermost level. A tree of one einsum is a
// lone root.
struct MappingTree {
  std::vector<TreeNode> nodes;
  friend bool operator==(const MappingTree&, const MappingTree&) = default;
};

// Why a tree is not a mapping of its chain, at an item of a node; items.size(): the node itself.
struct TreeProblem {
  std::size_t node = 0;
  std::size_t item = 0;
  std::string what;
};
// Empty: it is one. The rules are in docs/model.md#fused-mappings.
std::vector<TreeProblem> check_tree(const Arch& arch, const EinsumChain& chain,
                                    const MappingTree& tree);

// A mapping of one einsum as a tree.
MappingTree tree_of(const Mapping& mapping);

// A tree as YAML with a newline at the end, and back (docs/formats.md). A chain of one einsum reads
// and prints as a mapping does. The parsed tree satisfies check_tree(); anything else throws a
// ConfigError.
std::string print_tree(const Arch& arch, const EinsumChain& chain, const MappingTree& tree);
MappingTree load_tree(const std::string& path, const Arch& arch, const EinsumChain& chain);
MappingTree parse_tree(const std::string& text, const std::string& filename, const Arch& arch,
                       const EinsumChain& chain);

}  // namespace mapsim
