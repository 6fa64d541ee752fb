// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "core/reader.hpp"
#include "costmodel/problem.hpp"

namespace mapsim::check {

// The mapspace that a certificate speaks of, read by the checker's own reader. The architecture's
// rules hold beside these, and win.
struct Rules {
  bool even = false;  // the keeps of one level stand together, levels in order
  // Instances per dim along X and Y, where the unrolling of a fanout is given; nullopt: it is free.
  using AxisFactors = std::array<PerDim<std::int64_t>, 2>;
  PerFanout<std::optional<AxisFactors>> spatial;
  PerLevel<TensorSet> keep;
  PerLevel<TensorSet> bypass;
};

bool must_keep(const Problem& problem, const Rules& rules, LevelId level, TensorId tensor);
bool may_keep(const Problem& problem, const Rules& rules, LevelId level, TensorId tensor);

// May `dim` be unrolled along this axis of the fanout?
bool may_unroll(const Problem& problem, FanoutId fanout, Axis axis, DimId dim);

// Reads the rules of `map`, a map of the keys below. A rule that it does not know is refused by
// name: a proof is worth nothing to a reader who skips half of what is claimed.
Rules read_rules(Reader& reader, const Node& map, const Problem& problem);

}  // namespace mapsim::check
