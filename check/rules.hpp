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

// Whole numbers that a rule allows: `values` or, if there are none, all from `least` to `most`.
struct Allowed {
  std::vector<std::int64_t> values;
  std::int64_t least = 1;
  std::int64_t most = kMaxInteger;
  bool contains(std::int64_t n) const {
    return values.empty() ? least <= n && n <= most
                          : std::find(values.begin(), values.end(), n) != values.end();
  }
};

// Rules for unrolling along an axis, in addition to the limits of the architecture.
struct AxisRules {
  std::optional<DimSet> dims;
  std::vector<std::pair<DimId, Allowed>> factors;  // instances that the dim takes
  std::optional<std::int64_t> max_dims;
  bool allow(DimId dim, std::int64_t factor) const;
};

// Extents that a tile kept at a level may have.
struct ExtentRule {
  LevelId level{};
  TensorId tensor{};
  DimId dim{};
  Allowed extents;
  bool done = false;  // no temporal loop further in cuts it
};

// A rule for the temporal loops right above a node of the architecture: a level, a fanout or, if
// neither is set, the compute units. regions.hpp explains it.
struct LoopRule {
  std::optional<LevelId> level;
  std::optional<FanoutId> fanout;
  std::optional<std::vector<DimSet>> order;        // groups of dims, outermost first
  std::vector<std::pair<DimId, Allowed>> factors;  // product of the loops over a dim
  DimSet rest;                                     // no loop over these further in
};

// The mapspace of a certificate, read by the checker's own reader. The rules of the architecture
// hold, too, and take precedence.
struct Rules {
  // The space is that of an engine's schedules (engine.hpp); there are no other rules
  bool schedules = false;
  bool batches = false;  // ... including several frames computed together
  bool even = false;     // the keeps of one level stand together, levels in order
  // At most one loop over a dim between two keeps or fanouts, and over a free fanout.
  bool once = false;
  // Imperfect factors: extents are those of extent_domains.hpp and need not divide each other.
  bool imperfect = false;
  std::int64_t pieces = 0;                    // of ceil(D/n) only n <= pieces; 0: all n
  PerDim<std::vector<std::int64_t>> tiles{};  // further extents
  // Instances per dim along X and Y of a fanout with a given unrolling; nullopt: it is free.
  using AxisFactors = std::array<PerDim<std::int64_t>, 2>;
  PerFanout<std::optional<AxisFactors>> spatial;
  // For fanouts that are free.
  PerFanout<std::array<AxisRules, 2>> unroll;
  PerFanout<double> min_utilization;  // share of the instances that must work
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

// May `dim` be unrolled along this axis, by the architecture?
bool may_unroll(const Problem& problem, FanoutId fanout, Axis axis, DimId dim);

// Do the instances of a free fanout obey the rules for unrolling it?
bool allows_unrolling(const Problem& problem, const Rules& rules, FanoutId fanout,
                      const Rules::AxisFactors& instances);

// May a tile with these extents be kept at the level, if `left` of each dim remains for temporal
// loops further in?
bool allows_extents(const Rules& rules, LevelId level, TensorId tensor,
                    const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& left);

// Reads the rules of a map. It refuses rules that it does not know, by name, because a proof that
// ignored part of a claim would be worth nothing.
Rules read_rules(Reader& reader, const Node& map, const Problem& problem);

}  // namespace mapsim::check
