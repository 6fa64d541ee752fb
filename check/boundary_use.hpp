// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check/graph.hpp"
#include "costmodel/boundary_cost.hpp"

namespace mapsim::check {

// How many instances of a used fanout above a boundary's inner end count: all of them, only the
// first, or all as one because they share the transfer.
enum class Use : std::uint8_t { kSum, kFirst, kMerge };

// The cost coefficients of a boundary, and which instances count at each end: `outer` and `inner`
// for totals, `busy_outer` and `busy_inner` for the busiest instance.
struct BoundaryUse {
  BoundaryCost cost;
  TensorId tensor{};
  LevelId parent{};
  std::optional<LevelId> child;  // nullopt: the compute units or their registers
  bool output = false;
  bool has_child = false;  // its inner end is a level
  // Sums without a window: all but the first that an instance meets are read back
  bool returns = false;
  std::size_t crossed = 0;                                // used fanouts crossed at the edge
  std::size_t above = 0;                                  // used fanouts above the inner end
  double distinct = 0;                                    // elements of the whole tensor
  double begun = 0;                                       // ... first met in the mean entry
  std::vector<Use> outer, inner, busy_outer, busy_inner;  // per fanout above the inner end
  std::size_t outer_fanouts = 0;                          // used fanouts above the outer end
  double tile_width = 1;                                  // bits of an element at the inner level
  double least_addition_pj = 0;  // of a sum that is added, or else arrives; 0: none is added
  // The flow of `crossing` elements. `met`: an upper bound of the distinct sums that are met, whose
  // first crossing reads nothing back.
  EndFlow flow(double crossing, double met) const {
    return {crossing, returns ? std::max(0.0, crossing - met) : 0};
  }
  // A lower bound of the energy [pJ] of what networks add, from lower bounds of the sums that enter
  // them and that leave them. A sum that is not added leaves them and is one update more. If both
  // are charged the lesser price, the cost falls in neither number, so lower bounds of both may
  // stand for them.
  double additions_pj(double entering, double leaving) const {
    return least_addition_pj * std::max(0.0, entering - leaving);
  }
};
// `axes`: per fanout, if tiles may be padded to the instances of an array; otherwise null.
BoundaryUse boundary_of(const Graph& graph, const BoundaryEdge& edge, Tracked tracked,
                        const PerFanout<Rules::AxisFactors>* axes = nullptr);

}  // namespace mapsim::check
