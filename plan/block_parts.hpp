// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "plan/blocks.hpp"
#include "plan/shortest_path.hpp"

namespace mapsim {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// The operations, groups and tensors of a block, each numbered from 0. Operations are in the order
// of the problem, so that each reads what earlier ones make.
struct BlockParts {
  using Set = std::uint64_t;  // operations
  static constexpr std::size_t kMostOperations = 64;
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  BlockParts(const PlanProblem& problem, const PlanBlock& block);

  bool is_small() const { return operations <= kMostOperations; }
  Set all() const { return operations == kMostOperations ? ~Set{0} : (Set{1} << operations) - 1; }

  std::size_t begin = 0;                        // operation 0 of the block, in the problem
  std::size_t operations = 0;                   // where they are not small, sets are empty
  std::vector<std::size_t> local;               // by tensor of the problem: of the block, or kNone
  std::vector<std::size_t> tensors;             // by tensor of the block: of the problem
  std::vector<std::size_t> choices;             // by group of the block: of the problem
  std::vector<Set> sets;                        // by group: its operations
  std::vector<std::vector<std::size_t>> reads;  // by operation: tensors
  std::vector<std::size_t> made_in_order;       // tensors, by the operations that make them
  std::vector<std::vector<std::size_t>> containing;  // by operation: groups
};

}  // namespace mapsim
