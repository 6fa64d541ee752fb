// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "core/index.hpp"
#include "workloads/workload.hpp"

namespace mapsim::exact {

// Which indices an element of a tensor belongs to, whatever the unrolling and the tiles.
struct TensorUse {
  struct OfRank {
    std::vector<DimId> dims;
    double ways = 1;  // how the dims make up one coordinate, at most
  };
  DimSet dims;
  DimSet told;  // the element says which index
  std::vector<OfRank> ranks;
  bool slides = false;  // a rank of several dims
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

// The same of one transfer of tiles, and operations that an element takes part in at most, of so
// many indices along each dim: all along dims that the tensor does not have, and along those of a
// rank no more than there are ways to make up a coordinate.
double most_served(const TensorUse& use, const Extents& indices);

}  // namespace mapsim::exact
