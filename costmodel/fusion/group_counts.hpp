// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/fusion/branch.hpp"
#include "costmodel/fusion/lines.hpp"
#include "costmodel/fusion/shape.hpp"
#include "costmodel/fusion/taken_bits.hpp"
#include "costmodel/mapping.hpp"

namespace mapsim {

// An interface: what the branches of a group share. These are the loops, outermost first, and for
// each intermediate the number of loops above its scope.
struct Interface {
  std::vector<Temporal> loops;      // over dims of the sink
  std::vector<std::size_t> scopes;  // per intermediate
};

// The level of each intermediate's scope. nullopt: undecided, so that it takes no capacity.
using ScopeLevels = std::vector<std::optional<LevelId>>;

// A possible keep of an einsum's tensor below `position` of the shared loops, and the traffic of
// it.
struct KeepPosition {
  ChainTensor use;
  LevelId level{};
  std::size_t position = 0;
  double moved = 0;    // elements that cross into it over the run
  double largest = 0;  // elements of its largest tile
};

// The branch of an einsum, except the levels of its tensors, which the caller adds.
struct EnteredBranch {
  PerDim<std::int64_t> bounds;  // of the largest box
  BranchEntry entry;
  double entries = 0;
};

// The counts of an interface that do not depend on the branches.
struct GroupCounts {
  std::vector<EnteredBranch> branches;  // per einsum
  std::vector<KeepPosition> keeps;      // at the top, or right below a loop that moves the tile
  std::vector<LiveSet> held;            // per intermediate
};
// The memory that they take [B], about.
std::size_t bytes_of(const GroupCounts& counts);

// Adds the capacities that the intermediates of the group take while an einsum runs.
// `final_sums`: per einsum, of an output with two widths; nullopt: the least width counts.
void take_scopes(const EinsumChain& group, const ScopeLevels& levels,
                 const std::vector<LiveSet>& held, std::size_t einsum,
                 const std::vector<std::optional<bool>>& final_sums,
                 const std::vector<FiniteCapacity>& capacities, TakenBits& taken);

// Counts the interfaces of a chain that is one group by trees whose branches have no keeps
// (docs/model.md#fused-mappings). Each einsum of the group but the last passes its output on to
// later ones. Lines do not depend on each other, so each one is walked once for all interfaces with
// the same loops on it. Which levels hold intermediates matters to no count.
class GroupCounter {
 public:
  // `levels`: where the group may keep tensors, at least one. The other arguments outlive it.
  GroupCounter(const Arch& arch, const EinsumChain& group, std::vector<LevelId> levels);

  // The interface with all scopes below all of its loops: nothing is held from step to step, so its
  // boxes are those of all interfaces with these loops.
  Interface innermost(const std::vector<Temporal>& loops) const {
    return {loops, std::vector(group_.intermediates.size(), loops.size())};
  }
  // nullopt: the rules of mapping trees forbid the interface, or boxes differ along two dims of a
  // branch that are not independent.
  std::optional<GroupCounts> count(const Interface& interface);

 private:
  // The effects of one line's loops, independent of other lines.
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
  std::vector<LevelId> levels_;
  std::vector<LevelId> counted_;  // of levels that count alike, the first: all slide, or none does
  std::map<std::vector<std::int64_t>, LineProfile> profiles_;
};

}  // namespace mapsim
