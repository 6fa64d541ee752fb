// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "core/index.hpp"
#include "workloads/workload.hpp"

namespace mapsim::exact {

// Which operations an element of a tensor takes part in, independent of unrolling and tiles.
struct TensorUse {
  struct OfDim {
    DimId dim{};
    // Its coefficient over the greatest common divisor of the rank's coefficients.
    std::int64_t step = 1;
    double least_factor = 1;  // the smallest divisor > 1 of its bound
  };
  struct OfRank {
    std::vector<OfDim> dims;
    double ways = 1;  // the most combinations of the dims' indices for one coordinate
  };
  DimSet dims;
  DimSet determined;  // dims whose index follows from the element: those alone in a rank
  std::vector<OfRank> ranks;
  bool slides = false;   // some rank has several dims
  bool strides = false;  // some rank has two dims, one of them with a step of 2 or more
  double elements = 0;   // of the whole tensor
};
TensorUse use_of(const Workload& workload, const Tensor& tensor);

// Do any two elements of these tensors take part in at most one common operation? False also if
// both have a rank of several dims.
bool meet_once(const Workload& workload, const TensorUse& one, const TensorUse& other);

using Extents = PerDim<double>;

// The most compute units that one access can serve, with `instances` of them along each dim.
//
// Along a rank of k dims, a_1, ..., a_k instances need at least a_1 + ... + a_k - k + 1
// coordinates, because the sum of two sets of numbers has at least |A| + |B| - 1 elements. If only
// some of the instances have work they share no better, because a / (a + c) grows with a.
double most_shared(const TensorUse& use, const Extents& instances);

// The most operations that an element takes part in, given the number of indices per dim: the
// product over the dims that the tensor does not have, times, for each rank, the number of index
// combinations, or TensorUse::OfRank::ways if that is less.
double most_operations(const TensorUse& use, const Extents& indices);

// The most instances of a fanout that one transfer serves, if tiles have at most `capacity`
// elements: as most_operations(), with one exception.
//
// Let the instances lie along a dim of step 2 or more of a rank of two dims, and let no fanout
// unroll the other dim (`all`: the instances of all fanouts). If the tile has one index of that
// other dim, no two instances share a coordinate, neither now nor after the tile moves by one
// index. To share, the tile needs several indices, which takes capacity: at least two of them with
// imperfect factors, or the smallest divisor of the bound.
double most_served(const TensorUse& use, const Extents& instances, const Extents& all,
                   double capacity, bool imperfect);

}  // namespace mapsim::exact
