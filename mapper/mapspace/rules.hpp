// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/arch.hpp"
#include "core/index.hpp"

namespace mapsim {

// Whole numbers that a rule allows: `values` or, if there are none, all from `least` to `most`.
struct Allowed {
  std::vector<std::int64_t> values;  // ascending
  std::int64_t least = 1;
  std::int64_t most = std::int64_t{1} << 53;
  bool contains(std::int64_t n) const {
    return values.empty() ? least <= n && n <= most
                          : std::binary_search(values.begin(), values.end(), n);
  }
  friend bool operator==(const Allowed&, const Allowed&) = default;
};
// The numbers that both allow; nullopt: none.
std::optional<Allowed> both(const Allowed& a, const Allowed& b);

// The extents that tiles of a tensor may have along one of its dims, where they are kept at a
// level. If several rules concern one place, all hold. A rule has no effect where the tensor is not
// kept at the level.
struct ExtentRule {
  LevelId level{};  // not the outermost
  TensorId tensor{};
  DimId dim{};  // relevant to the tensor
  Allowed extents;
  bool done = false;  // also: no temporal loop further in cuts the dim
  friend bool operator==(const ExtentRule&, const ExtentRule&) = default;
};

// The products that the loops over a dim in a region may have; a dim without a loop counts as 1.
struct FactorRule {
  DimId dim{};
  Allowed factors;
  friend bool operator==(const FactorRule&, const FactorRule&) = default;
};

// A rule for a region: the temporal loops right above a node of the architecture, up to the next
// node outwards. Nodes are fanouts, the compute units and, in an even space, levels. A node without
// a place in a mapping (an unused fanout, a level that may keep nothing) does not split a region.
// The loops around it form one region: its order is that of the outer part, then that of the inner
// one, and its factors are products of theirs.
struct LoopRule {
  std::optional<LevelId> level;    // not the outermost
  std::optional<FanoutId> fanout;  // neither `level` nor `fanout`: the compute units
  // Groups of dims, outermost first: loops over dims of one group stand above those over dims of
  // the next. Dims in no group have no loop here. If not `ordered`: any dims in any order.
  bool ordered = false;
  std::vector<DimSet> order;
  std::vector<FactorRule> factors;
  DimSet rest;  // no loop over these dims further in
  friend bool operator==(const LoopRule&, const LoopRule&) = default;
};

// A rule for the dims that are unrolled along an axis of a fanout.
struct AxisRule {
  std::optional<DimSet> dims;  // in addition to the limits of the architecture; nullopt: no rule
  std::vector<FactorRule> factors;  // instances along the axis that the dim takes
  std::optional<std::int64_t> max_dims;
  friend bool operator==(const AxisRule&, const AxisRule&) = default;
};

// A rule for the unrollings of a fanout without a given unrolling.
struct UnrollRule {
  FanoutId fanout{};
  AxisRule x, y;
  double min_utilization = 0;  // share of its instances that must work
  const AxisRule& along(Axis axis) const { return axis == Axis::kX ? x : y; }
  friend bool operator==(const UnrollRule&, const UnrollRule&) = default;
};

}  // namespace mapsim
