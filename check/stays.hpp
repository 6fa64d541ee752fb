// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "check/rules.hpp"

namespace mapsim::check {

// The capacities of one instance of a level, or the latches of a compute unit, and the tensors that
// share each of them.
struct SharedCapacities {
  struct Tile {
    TensorId tensor{};
    double bits = 0;  // of an element
  };
  struct Capacity {
    double bits = 0;
    std::vector<Tile> tiles;
  };
  bool latch = false;                         // each tensor has one element
  PerDim<std::int64_t> below;                 // instances per dim further in, at least
  PerDim<std::vector<std::int64_t>> extents;  // per dim: what loops leave of it, ascending
  std::vector<Capacity> all;
};

bool has_window(const Tensor& tensor);

// Is the dim one of several in a rank?
bool is_in_window(const Tensor& tensor, DimId d);

// The most operations that can take part in one stay of an element of `t` there, in all instances
// that got it by one transfer: `merged` of them per dim. Zero: not even the smallest tiles fit.
//
// Let j be the innermost loop that moves the tile of t. While j runs once through, the indices of
// an instance are a box; let T be its extents. A tensor u of `outer` is one whose tile moves by
// loops further out only, so all of its elements that the box needs are there together: its tile
// has at least the points of T. So T fits the capacities, with the smallest tiles of the tensors
// that are not in `outer`; a perfect mapping leaves T_d = (instances further in) * (a divisor of
// the temporal bound). A stay of an element ends before j starts again (docs/model.md, rule 3), so
// what it can take part in are the indices of T that have this element: any index of the dims that
// t lacks; of a rank of one dim one index; of a window a p + b r = x at most one p for each r and
// one r for each p, and as r may only change by a/g, p by b/g, g = gcd(a, b), no more than
// min(ceil(R/(a/g)), ceil(P/(b/g))) in all. A latch holds one element, which no step of a window's
// loops leaves there.
//
// Which tensor is outer: sort all by their loop j. Of two moved by one loop either may count as
// outer, since at each step of j both are exchanged, and the box is what one step leaves. Only what
// slides stays over several steps: a tensor with a window has to be the outer one of such a pair.
// Of two with windows neither says anything about the other.
double most_operations(const Workload& workload, const SharedCapacities& capacities, TensorId t,
                       TensorSet outer, const PerDim<std::int64_t>& merged);

}  // namespace mapsim::check
