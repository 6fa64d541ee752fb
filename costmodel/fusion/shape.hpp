// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "costmodel/fusion/points.hpp"
#include "costmodel/fusion/tree.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

// A loop of a node with more than one tile; adjacent ones over one dim are one.
struct ShapeLoop {
  DimId dim{};  // of the node's einsum
  std::int64_t extent = 1;
  std::size_t item = 0;
  std::size_t line = 0;        // groups only
  std::vector<DimSet> drives;  // per einsum, the dims that it may move
  std::vector<DimSet> surely;  // ... and those that it moves on with each tile
};

// A tensor of one einsum kept in a node.
struct OwnKeep {
  ChainTensor use;
  LevelId level{};
  std::size_t node = 0;
  std::size_t position = 0;      // loops of the node above
  std::size_t moving = kNoLoop;  // j: innermost loop of the node above it that moves its tile
};

// Where an intermediate is kept for producer and readers alike (rule F2).
struct TensorScope {
  std::size_t intermediate = 0;
  LevelId level{};
  std::size_t node = 0;
  std::size_t position = 0;  // loops of the node above
  std::size_t home = 0;      // node whose sequence separates producer and readers
};

struct ShapeNode {
  std::vector<ShapeLoop> loops;
  PerDim<std::int64_t> nominal;       // of its einsum: the largest box at an entry
  std::size_t producer_of = kNoNode;  // the intermediate that its parent's sequence needs it for
};

// The analysis of a tree, shared by counting and simulation.
struct TreeShape {
  std::vector<ShapeNode> nodes;
  std::vector<OwnKeep> keeps;
  std::vector<TensorScope> scopes;         // one per intermediate
  std::vector<std::size_t> leaf_of;        // per einsum
  std::vector<PerDim<std::size_t>> lines;  // per einsum and dim
  std::size_t line_count = 0;

  // Is `node` `ancestor`, or below it?
  static bool is_within(const MappingTree& tree, std::size_t node, std::size_t ancestor);
  // Does the loop move that tensor's tile?
  static bool moves(const EinsumChain& chain, const ShapeLoop& loop, const ChainTensor& use);
};

// The innermost level that keeps each tensor of an einsum around its branch.
PerTensor<LevelId> levels_around(const EinsumChain& chain, const MappingTree& tree,
                                 const TreeShape& shape, std::size_t einsum);
// A branch as a nest of its own: those levels keep the tensors around it.
Mapping branch_mapping(const TreeNode& leaf, const PerTensor<LevelId>& around);

// Faults in the places of tensors: forbidden or missing keeps of levels, and their order.
void check_residences(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                      const TreeShape& shape, std::vector<TreeProblem>& problems);

// If the tree has problems, the shape must not be used.
TreeShape shape_of(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                   std::vector<TreeProblem>& problems);
TreeShape shape_of(const Arch& arch, const EinsumChain& chain, const MappingTree& tree);

}  // namespace mapsim
