// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/reader.hpp"
#include "costmodel/problem.hpp"

namespace mapsim::check {

// Whole numbers that a rule allows: those listed or, without a list, all from `least` to `most`.
struct Allowed {
  std::vector<std::int64_t> values;
  std::int64_t least = 1;
  std::int64_t most = kMaxInteger;
  bool contains(std::int64_t n) const {
    return values.empty() ? least <= n && n <= most
                          : std::find(values.begin(), values.end(), n) != values.end();
  }
};

// What may be unrolled along an axis, beyond what the architecture allows.
struct AxisRules {
  std::optional<DimSet> dims;
  std::vector<std::pair<DimId, Allowed>> factors;  // instances that the dim takes
  std::optional<std::int64_t> max_dims;
  bool allow(DimId dim, std::int64_t factor) const;
};

// What a tile kept at a level may measure.
struct ExtentRule {
  LevelId level{};
  TensorId tensor{};
  DimId dim{};
  Allowed extents;
  bool done = false;  // no temporal loop further in cuts it
};

// The temporal loops right above a node of the architecture: a level, a fanout or (neither) the
// compute units; regions.hpp has what it means.
struct LoopRule {
  std::optional<LevelId> level;
  std::optional<FanoutId> fanout;
  std::optional<std::vector<DimSet>> order;        // groups of dims, outermost first
  std::vector<std::pair<DimId, Allowed>> factors;  // what the loops over a dim multiply to
  DimSet rest;                                     // no loop over these further in
};

// The mapspace that a certificate speaks of, read by the checker's own reader. The architecture's
// rules hold beside these, and win.
struct Rules {
  bool schedules = false;  // not of nests, but of an engine's schedules (engine.hpp): no other rule
  bool batches = false;    // ... and of several frames computed together
  bool even = false;       // the keeps of one level stand together, levels in order
  bool once = false;       // at most one loop over a dim between two keeps or fanouts
  // Extents need not divide each other: those of extent_domains.hpp.
  bool imperfect = false;
  std::int64_t pieces = 0;                    // of ceil(D/n) only n <= pieces; 0: all n
  PerDim<std::vector<std::int64_t>> tiles{};  // further ones
  // Instances per dim along X and Y, where the unrolling of a fanout is given; nullopt: it is free.
  using AxisFactors = std::array<PerDim<std::int64_t>, 2>;
  PerFanout<std::optional<AxisFactors>> spatial;
  // Where it is free.
  PerFanout<std::array<AxisRules, 2>> unroll;
  PerFanout<double> min_utilization;  // share of the instances that work
  std::vector<ExtentRule> extents;
  std::vector<LoopRule> loops;
  PerLevel<TensorSet> keep;
  PerLevel<TensorSet> bypass;

  bool has_tiles() const {
    return std::any_of(tiles.begin(), tiles.end(), [](const auto& list) { return !list.empty(); });
  }
};

bool must_keep(const Problem& problem, const Rules& rules, LevelId level, TensorId tensor);
bool may_keep(const Problem& problem, const Rules& rules, LevelId level, TensorId tensor);

// May `dim` be unrolled along this axis of the fanout?
bool may_unroll(const Problem& problem, FanoutId fanout, Axis axis, DimId dim);

// May a tile with these extents of its dims be kept at the level, `left` of each to temporal loops
// further in?
bool allows_extents(const Rules& rules, LevelId level, TensorId tensor,
                    const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& left);

// Reads the rules of `map`, a map of the keys below. A rule that it does not know is refused by
// name: a proof is worth nothing to a reader who skips half of what is claimed.
Rules read_rules(Reader& reader, const Node& map, const Problem& problem);

}  // namespace mapsim::check
