// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "check/reuse.hpp"

namespace mapsim::check {

// Two tensors share a capacity or wait for a third one. The stays of reuse.hpp bound each of them
// by itself; a *phase* bounds both at once.
//
// Take one keep of each of some tensors. Of a keep, let j be the innermost loop that moves its
// tile; sort the tensors by their j, the one furthest in first. If one loop moves two tensors, the
// one that slides comes later. A phase is one step of the loop of the second tensor or, if the
// second one slides, of the third. The operations of a phase are a box: a set of indices per dim.
//
// - In a phase the tiles of this and of all later tensors stay. So the box lies in their tiles,
//   which fit their capacities together.
// - The loops of the tensors before start anew in each phase, and so all elements of theirs that
//   the box needs arrive in it (docs/model.md, rule 3: a tile is exchanged, even if it is equal).
//   The tile of the second tensor is another one in each phase; it arrives as a whole.
// - The box of the first phase is the largest along each dim, since first tiles are full. A smaller
//   box needs no fewer elements per operation: the dims that a tensor lacks divide them, and the
//   points of a window are at least a + b - 1 for a and b indices, neighbours or not.
//
// So there is a box that fits, with both tensors needing (operations) * (elements of the box) /
// (operations of the box) elements at least. Along dims of no tensor that stays the box may be the
// whole dim.

// The capacities that hold the tiles that stay. A box has its part in one of `shares` instances.
struct SharedBox {
  SharedCapacities::Capacity capacity;
  PerDim<std::int64_t> shares;
};

// What a box costs, from the elements that it needs of two tensors per operation. It may not fall
// in them.
using CostOfBox = std::function<double(double first, double second)>;

// A lower bound of the least cost of all boxes that fit, mostly within `tolerance`; infinite: none
// fits. `extents`: per dim the numbers of indices that a box may have, ascending.
double least_phase_cost(const Workload& workload, const PerDim<std::vector<std::int64_t>>& extents,
                        const std::vector<SharedBox>& capacities,
                        const std::pair<TensorId, TensorId>& tensors, const CostOfBox& cost,
                        double tolerance);

}  // namespace mapsim::check
