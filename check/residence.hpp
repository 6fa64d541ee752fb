// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>
#include <optional>

#include "arch/arch.hpp"
#include "costmodel/resource_vector.hpp"
#include "workloads/workload.hpp"

namespace mapsim::check {

// Where a tensor can have got to on its way inwards.
struct Residence {
  LevelId level{};
  bool latch = false;     // the register of the compute units, further in than any level
  bool final = false;     // sums arrive here finished; only where these are narrower
  std::size_t stage = 0;  // from which on loops may cut what is kept here
  std::size_t above = 0;  // used fanouts further out
};

// A tensor between a residence and one further in, or the compute units.
struct BoundaryEdge {
  static constexpr std::size_t kMac = std::numeric_limits<std::size_t>::max();
  TensorId tensor{};
  std::size_t outer = 0;    // index of a residence
  std::size_t inner = 0;    // ... or kMac
  std::size_t crossed = 0;  // used fanouts crossed when it is made
  friend bool operator==(const BoundaryEdge&, const BoundaryEdge&) = default;
};

// A level, or the partition of a role, that tiles share.
struct CapacityConstraint {
  LevelId level{};
  std::optional<Role> role;  // a partition
  double bits = 0;
  TensorSet sharers;
};

}  // namespace mapsim::check
