// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/fusion/lines.hpp"
#include "costmodel/fusion/shape.hpp"
#include "costmodel/mapping.hpp"
#include "mapper/mapspace/branch_entry.hpp"
#include "workloads/chain_piece.hpp"

namespace mapsim::fusion {

// What the branches of a group have to agree on: the shared loops, outermost first, and below how
// many of them each intermediate of the group has its scope.
struct Interface {
  std::vector<Temporal> loops;      // over dims of the sink
  std::vector<std::size_t> scopes;  // per intermediate
};

// A tensor of one einsum that may be kept below so many of the shared loops, and what that moves.
struct KeepPosition {
  ChainTensor use;
  std::size_t position = 0;
  double moved = 0;    // elements that cross into it over the run
  double largest = 0;  // elements of its largest tile
};

// How the branch of an einsum is entered. Sources are left to the caller.
struct EnteredBranch {
  PerDim<std::int64_t> bounds;  // of the largest box
  PerDim<std::vector<BranchEntry::Length>> lengths;
  double entries = 0;
  double sums_begun = 1;
  bool varies() const {  // do boxes differ in size?
    return std::any_of(lengths.begin(), lengths.end(),
                       [](const auto& of_dim) { return !of_dim.empty(); });
  }
};

// What the cost model counts of an interface, whatever the branches look like.
struct EnteredGroup {
  std::vector<EnteredBranch> branches;  // per einsum
  std::vector<KeepPosition> keeps;      // at the top, or right below a loop that moves the tile
  std::vector<LiveSet> held;            // per intermediate
};

// A chain that is one group, its intermediates kept at `level`, as trees whose branches have no
// keeps: costmodel/fusion/ counts them. Lines do not depend on each other, so each is walked once
// for all interfaces that have the same loops on it.
class GroupCounter {
 public:
  // All arguments outlive it.
  GroupCounter(const Arch& arch, const EinsumChain& group, LevelId level)
      : arch_{arch}, group_{group}, level_{level} {}

  // nullopt: the rules of mapping trees forbid the interface, or boxes differ along two dims of a
  // branch that move together.
  std::optional<EnteredGroup> enter(const Interface& interface);

 private:
  // What a line's loops do, whatever other lines have.
  struct LineProfile {
    std::vector<std::map<std::vector<std::int64_t>, BoxEntries>> entries;  // per einsum
    std::vector<std::vector<NeedTrace>> traces;                            // per scope
    // Of keeps: einsum, tensor, loops of the line above, and whether a tile slides.
    std::map<std::array<std::size_t, 4>, LineMoves> keeps;
  };
  const LineProfile& profile(const MappingTree& tree, const TreeShape& shape,
                             const Interface& interface, std::size_t line);
  std::array<std::size_t, 4> key_of(const TreeShape& shape, const OwnKeep& keep,
                                    std::size_t line) const;
  std::optional<EnteredBranch> entered(std::size_t e, const TreeShape& shape,
                                       const std::vector<const LineProfile*>& lines) const;

  const Arch& arch_;
  const EinsumChain& group_;
  LevelId level_;
  std::map<std::vector<std::int64_t>, LineProfile> profiles_;
};

// Per einsum of a group: do all boxes that interfaces enter it with divide its bounds? The last
// one's do, and those of what is read point by point by such an einsum. What a window reads has
// halos: a box of them divides nothing, so that the whole einsum bounds it in no way but by its
// operations.
std::vector<bool> with_boxes_that_divide(const EinsumChain& group);

}  // namespace mapsim::fusion
