// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "arch/arch.hpp"
#include "check/branch_energy_bound.hpp"
#include "costmodel/fusion/lines.hpp"
#include "costmodel/fusion/shape.hpp"

namespace mapsim::check {

// What the branches of a group share: loops, outermost first, and for each intermediate the number
// of loops outside of its scope.
struct Interface {
  std::vector<Temporal> loops;
  std::vector<std::size_t> scopes;
};

// A tensor that the group may keep itself, below `position` of its loops.
struct GroupKeep {
  ChainTensor use;
  std::size_t position = 0;
  double moved = 1;    // elements that cross into it over the run
  double largest = 1;  // elements of its largest tile
};

// The counts of a group that do not depend on its branches.
struct GroupCounts {
  std::vector<Branch> branches;  // without sources
  std::vector<double> entries;   // of each
  std::vector<GroupKeep> keeps;
  std::vector<LiveSet> held;  // of each intermediate
};

// Counts groups by the lines of their loops (docs/model.md#fused-mappings). The counts of a line do
// not depend on other lines, so they are kept for all meetings with the same loops on it.
class GroupCounting {
 public:
  // `piece`: the group as a chain of its own. Both outlive it.
  GroupCounting(const Arch& arch, const EinsumChain& piece, LevelId level)
      : arch_{arch}, piece_{piece}, level_{level} {}

  // nullopt: no mapping tree has the interface, or the mapspace leaves it out because boxes of a
  // branch differ in two dims of one line.
  std::optional<GroupCounts> count(const Interface& interface);

 private:
  using KeepKey = std::array<std::size_t, 4>;  // einsum, tensor, loops of the line above, slides
  struct Line {
    std::vector<std::map<std::vector<std::int64_t>, BoxEntries>> boxes;  // by einsum
    std::vector<std::vector<NeedTrace>> traces;                          // by scope
    std::map<KeepKey, LineMoves> keeps;
  };
  MappingTree tree_of(const Interface& interface) const;
  KeepKey key_of(const TreeShape& shape, const OwnKeep& keep, std::size_t line) const;
  const Line& line(const MappingTree& tree, const TreeShape& shape, const Interface& interface,
                   std::size_t number);
  bool add_branch(std::size_t e, const TreeShape& shape, const std::vector<const Line*>& lines,
                  GroupCounts& counts) const;
  bool add_sizes(std::size_t e, const std::vector<DimId>& dims, const Line& line, Branch& branch,
                 double& entries, double& points) const;

  const Arch& arch_;
  const EinsumChain& piece_;
  LevelId level_;
  std::map<std::vector<std::int64_t>, Line> lines_;
};

}  // namespace mapsim::check
