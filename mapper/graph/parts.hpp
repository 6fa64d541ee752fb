// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstddef>
#include <limits>
#include <optional>

#include "core/index.hpp"
#include "core/roles.hpp"
#include "costmodel/resource_vector.hpp"

namespace mapsim::exact {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Where a tensor can be on its way from the outermost level to the compute units.
struct Residence {
  LevelId level{};
  bool latch = false;       // the register of the compute unit; `level` is meaningless
  bool narrow = false;      // an output whose sums arrive final: stored at its final width
  std::size_t stage = 0;    // stage_ends that lie above the tile
  std::size_t fanouts = 0;  // used fanouts that lie above it
};

// What ends a stage: a used fanout is crossed or, in even mappings, a level is closed: its keeps
// stand here.
struct StageEnd {
  std::optional<std::size_t> fanout;  // index in the list of used fanouts
  LevelId level{};                    // otherwise
};

// A capacity that tiles share: a level, or the partition of a role.
struct CapacityConstraint {
  LevelId level{};
  std::optional<Role> role;
  double bits = kInfinity;
  bool is_shared = false;      // two tensors or more may be kept here: labels carry what is used
  std::size_t last_stage = 0;  // the last stage in which a tile can still be placed here
};

// A tensor is kept at residence `to`, its last keep being at `from`; `crossed` fanouts lie above
// the loops that end in the tile. to = kMac: the accesses of the compute units.
struct BoundaryEdge {
  static constexpr std::size_t kMac = std::numeric_limits<std::size_t>::max();
  TensorId tensor{};
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t crossed = 0;
  friend auto operator<=>(const BoundaryEdge&, const BoundaryEdge&) = default;
};

// Imperfect: a tile that no temporal loop further in may cut along some dims (perfect tiles say so
// themselves).
struct LoopsEnd {
  LevelId level{};
  TensorId tensor{};
  DimSet dims;
};

// Where a tensor may be placed from a stop.
struct NextResidence {
  std::size_t to = 0;
  std::size_t edge = 0;  // index
};

}  // namespace mapsim::exact
