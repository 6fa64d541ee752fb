// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/lanes.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"

namespace mapsim {

// Mappings of one structure side by side.
struct BulkNest {
  const Problem& problem;
  const Nest& nest;            // the structure: any of the mappings
  std::vector<Lanes> bounds;   // per loop of the nest, > 1
  std::vector<Lanes> extents;  // per loop: of the tiles that it makes

  Lanes extent_at(DimId dim, std::size_t position) const {
    const std::size_t i = nest.last_before(dim, position);
    return i == kNoLoop ? Lanes(static_cast<double>(problem.workload().dims[dim].bound))
                        : extents[i];
  }
};

// AccessCounts of one tensor at one level.
struct BulkAccess {
  Lanes reads, fills, updates, readbacks, drains;
};
struct BulkTensorCounts {
  BulkAccess total;
  BulkAccess busiest;  // where asked for
  Lanes footprint;
};

// Distinct points of a tensor's tile below the first `position` loops.
Lanes bulk_footprint(const BulkNest& bulk, TensorId tensor, std::size_t position);

// What count_perfect() counts of one tensor. `levels`, per level, gets it; `reductions`, per
// fanout, what it adds; `misses` becomes 1 where a mapping has no product form. False: none has.
// The busiest instance is counted at levels in `busiest` only.
bool bulk_count(const BulkNest& bulk, TensorId tensor, LevelSet busiest,
                std::vector<BulkTensorCounts>& levels, std::vector<Lanes>& reductions,
                Lanes& misses);

}  // namespace mapsim
