// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "core/index.hpp"
#include "workloads/workload.hpp"

namespace mapsim::exact {

// Which indices an element of a tensor belongs to, whatever the unrolling and the tiles.
struct TensorUse {
  struct OfDim {
    DimId dim{};
    std::int64_t step = 1;    // its coefficient over the greatest common divisor of the rank's
    double least_factor = 1;  // of its bound, above 1
  };
  struct OfRank {
    std::vector<OfDim> dims;
    double ways = 1;  // how the dims make up one coordinate, at most
  };
  DimSet dims;
  DimSet told;  // the element says which index
  std::vector<OfRank> ranks;
  bool slides = false;   // a rank of several dims
  bool strides = false;  // a rank of two dims, and a step of 2 or more
  double elements = 0;
};
TensorUse use_of(const Workload& workload, const Tensor& tensor);

// Do two elements of these tensors take part in one operation at most? And is there no loop along
// which both slide?
bool meet_once(const Workload& workload, const TensorUse& one, const TensorUse& other);

using Extents = PerDim<double>;

// Instances side by side, so many along each dim, that one access of the compute units serves at
// most. Along a window of k dims, a_1 to a_k instances need a_1 + .. + a_k - k + 1 coordinates at
// least: a sum of two sets of numbers has |A| + |B| - 1 elements or more. Fewer instances with work
// share no better: a / (a + c) grows with a.
double most_shared(const TensorUse& use, const Extents& instances);

// Operations that an element takes part in at most, of so many indices along each dim: all along
// dims that the tensor does not have, and along those of a rank no more than there are ways to make
// up a coordinate.
double most_operations(const TensorUse& use, const Extents& indices);

// Instances of a fanout that one transfer of tiles of no more than `capacity` elements serves at
// most: as many as operations would, but where the instances stand along a dim of step 2 or more,
// and none of `all`, of every fanout, along the other one of a rank. With one index of that other
// dim in the tile no two instances share a coordinate, neither now nor when it moves on by one;
// with more, each takes capacity.
double most_served(const TensorUse& use, const Extents& instances, const Extents& all,
                   double capacity, bool imperfect);

}  // namespace mapsim::exact
