// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>
#include <optional>

#include "arch/arch.hpp"
#include "costmodel/resource_vector.hpp"
#include "workloads/workload.hpp"

namespace mapsim::check {

// A place where a tensor can be kept, on its way inwards.
struct Residence {
  LevelId level{};
  bool latch = false;     // the register of a compute unit, further in than any level
  bool final = false;     // of outputs with two widths: sums arrive final here
  std::size_t stage = 0;  // number of stage ends above the tile
  std::size_t above = 0;  // number of used fanouts above the tile
};

// A boundary: a tensor is kept at `inner`, and next further out at `outer`.
struct BoundaryEdge {
  static constexpr std::size_t kMac = std::numeric_limits<std::size_t>::max();
  TensorId tensor{};
  std::size_t outer = 0;    // index of a residence
  std::size_t inner = 0;    // ... or kMac: the accesses of the compute units
  std::size_t crossed = 0;  // used fanouts that the path has crossed when it takes the edge
  friend bool operator==(const BoundaryEdge&, const BoundaryEdge&) = default;
};

// A capacity constraint: a level's capacity, or its partition for a role.
struct CapacityConstraint {
  LevelId level{};
  std::optional<Role> role;  // a partition
  double bits = 0;
  TensorSet sharers;
};

}  // namespace mapsim::check
