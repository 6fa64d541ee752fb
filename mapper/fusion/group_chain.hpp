// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <map>
#include <memory>
#include <optional>

#include "costmodel/fusion/tree.hpp"
#include "mapper/fusion/group_search.hpp"

namespace mapsim::fusion {

// Where an intermediate is kept between groups.
struct HeldAt {
  LevelId level{};                 // 0: spilled
  std::optional<bool> final_sums;  // with two widths: is the narrow one stored?
  friend auto operator<=>(const HeldAt&, const HeldAt&) = default;
};
using CutState = std::map<std::size_t, HeldAt>;  // by intermediate

// The groups before a cut, as a list that begins with the last one.
struct GroupChain {
  double value = 0;  // of all of them; energy [pJ] and latency [cycles] where both are asked for
  double energy = 0;
  double cycles = 0;
  Group group;
  CutState before;
  GroupPlan plan;
  std::shared_ptr<const GroupChain> previous;  // none: the first group
};

// The mapping tree of a whole chain in such groups.
MappingTree tree_of(const EinsumChain& chain, const GroupChain& groups);

}  // namespace mapsim::fusion
