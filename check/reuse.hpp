// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/rules.hpp"

namespace mapsim::check {

// The capacities of one instance of a level, or the registers (latches) of a compute unit, with the
// tensors that share each of them.
struct SharedCapacities {
  struct Tile {
    TensorId tensor{};
    double bits = 0;  // per element
  };
  struct Capacity {
    double bits = 0;
    std::vector<Tile> tiles;
  };
  bool latch = false;                         // a register: each tensor has one element
  PerDim<std::int64_t> below;                 // at least: instances per dim further in
  PerDim<std::vector<std::int64_t>> extents;  // per dim: extents that loops can leave, ascending
  PerDim<std::int64_t> met;  // at most: indices that an instance meets while a tile stays
  std::vector<Capacity> all;
};

// A lower bound of the distinct points of a tile: F(a, b) of docs/model.md for ranks of two dims;
// for longer ranks the sum of the extents, less one for each dim after the first.
double least_points(const Tensor& tensor, const PerDim<std::int64_t>& extents);

// An upper bound m of the operations that take part in one *stay* of an element of `t` at a level.
// A stay lasts from the transfer of the element until it is replaced. The bound counts the
// operations of all instances that one transfer serves: `merged` of them per dim. 0: not even the
// smallest tiles fit.
//
// Why m is a bound. Let j be the innermost loop that moves the tile of t. While j runs through
// once, the indices of an instance are a box; let T be its extents. `outer` holds tensors u whose
// tiles only move by loops further out. All elements of u that the box needs are therefore present
// at once, so the tile of u has at least the points of T. So T must fit the capacities, together
// with the smallest tiles of tensors not in `outer`. A perfect mapping has T_d = (instances further
// in) * (a divisor of the temporal bound). With imperfect factors T_d is a tile where a tile of
// some u stops it; else the loops outside of the instances belong to the stay, too, and what one
// instance meets in partial tiles is only bounded by the dim.
//
// A stay ends before j starts again (docs/model.md, rule 3). So its operations are indices of T
// that use the element: any index of the dims that t does not have, and one index of a rank with a
// single dim. For a window a p + b r = x each r has at most one p, and each p one r. As r changes
// by multiples of a/g and p by multiples of b/g, with g = gcd(a, b), there are at most
// min(ceil(R/(a/g)), ceil(P/(b/g))). A register holds one element, and no step of a window's loops
// keeps it there.
//
// Which tensor is in `outer`: sort the tensors by their loops j. If one loop moves two tensors,
// either may count as outer, since each step of j replaces both, and the box is what one step
// leaves. Only sliding tiles stay over several steps, so a tensor with a window must be the outer
// one of such a pair. Two tensors with windows do not bound each other.
double most_operations(const Workload& workload, const SharedCapacities& capacities, TensorId t,
                       TensorSet outer, const PerDim<std::int64_t>& merged);

}  // namespace mapsim::check
