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

// A place where a tensor can be kept: a level, or the register of a compute unit.
struct Residence {
  LevelId level{};
  bool latch = false;   // the register of a compute unit; `level` is then meaningless
  bool narrow = false;  // of an output: its sums arrive final, and are stored at their final width
  std::size_t stage = 0;    // number of stage ends above the tile
  std::size_t fanouts = 0;  // number of used fanouts above the tile
};

// The end of a stage. Either a used fanout is crossed; or, in even mappings, a level is closed, and
// all its keeps stand at that point of the nest.
struct StageEnd {
  std::optional<std::size_t> fanout;  // index in the list of used fanouts; nullopt: a level
  LevelId level{};
};

// A capacity constraint: a level's capacity, or the partition that a level has for a role.
struct CapacityConstraint {
  LevelId level{};
  std::optional<Role> role;
  double bits = kInfinity;
  bool is_shared = false;      // two or more tensors may be kept here: labels carry its use
  std::size_t last_stage = 0;  // the last stage in which a tensor can be kept here
};

// A boundary: a tensor is kept at residence `to`, and the next keep outwards is at `from` (both are
// indices into StateGraph::residences()). `crossed`: used fanouts that the path has crossed when it
// takes the edge; fewer than lie above `to` if and only if the keep is deferred. to = kMac: the
// accesses of the compute units.
struct BoundaryEdge {
  static constexpr std::size_t kMac = std::numeric_limits<std::size_t>::max();
  TensorId tensor{};
  std::size_t from = 0;
  std::size_t to = 0;
  std::size_t crossed = 0;
  friend auto operator<=>(const BoundaryEdge&, const BoundaryEdge&) = default;
};

// Imperfect factors: a keep below which no temporal loop may cut `dims`, because of a rule. (With
// perfect factors the rule follows from the tile.)
struct LoopsEnd {
  LevelId level{};
  TensorId tensor{};
  DimSet dims;
};

// A residence to which a tensor can go next, and the edge to it.
struct NextResidence {
  std::size_t to = 0;
  std::size_t edge = 0;
};

}  // namespace mapsim::exact
