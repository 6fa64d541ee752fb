// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check/graph.hpp"
#include "costmodel/boundary_cost.hpp"

namespace mapsim::check {

// How the instances of a used fanout above a child count: each, the first one, or as one.
enum class Use : std::uint8_t { kSum, kFirst, kMerge };

// An edge as a boundary: whose traffic counts at its ends, and what that traffic costs.
struct BoundaryUse {
  BoundaryCost cost;
  TensorId tensor{};
  LevelId parent{};
  std::optional<LevelId> child;  // a level
  bool output = false;
  bool has_child = false;   // a level: not the compute units, not a register of theirs
  bool returns = false;     // sums without a window: those met before come down again
  std::size_t crossed = 0;  // used fanouts crossed when it is made
  std::size_t above = 0;    // used fanouts above the child
  double distinct = 0;      // elements of the tensor
  double begun = 0;         // ... that the mean entry meets first
  std::vector<Use> outer, inner, busy_outer, busy_inner;  // per fanout above the child
  std::size_t outer_fanouts = 0;                          // above the parent
  double tile_width = 1;                                  // bits of an element in its level
  // `met`: at most so many distinct sums are met, which cross without coming down first.
  EndFlow flow(double crossing, double met) const {
    return {crossing, returns ? std::max(0.0, crossing - met) : 0};
  }
};
// `axes`: of every fanout, where tiles may be padded to the instances of an array; else none.
BoundaryUse boundary_of(const Graph& graph, const BoundaryEdge& edge, Tracked tracked,
                        const PerFanout<Rules::AxisFactors>* axes = nullptr);

}  // namespace mapsim::check
