// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "mapper/mapspace/factors.hpp"
#include "workloads/workload.hpp"

namespace mapsim::exact {

// Tiles that lie in one capacity at the same time.
struct SharedTiles {
  struct Tile {
    TensorId tensor{};
    double bits = 0;  // of an element
  };
  std::vector<Tile> tiles;
  double capacity = 0;          // [b]
  PerDim<std::int64_t> shares;  // per dim: instances of the level that have a part of the box
};

// The cost of a box, from the elements that it needs of two tensors per operation. It must fall in
// neither.
using CostOfRates = std::function<double(double first, double second)>;

// The least cost of all boxes of operations whose tiles fit the capacities. A box has so many
// indices per dim, which need not be neighbours; tiles have neighbours. `extents`: the numbers that
// a box may have, ascending, the first one being 1 or the only one. The larger a box, the fewer
// elements of any tensor it needs per operation. Sets of boxes are halved, least bound first, until
// the bound is `enough`, within `tolerance` of a box that fits, or after some hundred steps. So the
// result may be lower than the least cost. Infinite: no box fits.
double least_cost_of_boxes(const Workload& workload, const PerDim<ExtentDomain>& extents,
                           const std::vector<SharedTiles>& capacities,
                           const std::pair<TensorId, TensorId>& tensors, const CostOfRates& cost,
                           double enough, double tolerance);

}  // namespace mapsim::exact
