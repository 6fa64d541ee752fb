// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/arch.hpp"
#include "core/index.hpp"

namespace mapsim {

// Whole numbers that a rule allows: those listed or, without a list, all from `least` to `most`.
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
// Numbers that both allow; nullopt: none.
std::optional<Allowed> both(const Allowed& a, const Allowed& b);

// What the tiles of a tensor kept at a level may measure along one of its dims. Several rules for
// one place all hold. Says nothing where the tensor is not kept at the level.
struct ExtentRule {
  LevelId level{};  // not the outermost
  TensorId tensor{};
  DimId dim{};  // relevant to the tensor
  Allowed extents;
  bool done = false;  // no temporal loop further in cuts the dim
  friend bool operator==(const ExtentRule&, const ExtentRule&) = default;
};

// What the loops over a dim in a region multiply to; 1 where there is none.
struct FactorRule {
  DimId dim{};
  Allowed factors;
  friend bool operator==(const FactorRule&, const FactorRule&) = default;
};

// Rules for a region: the temporal loops right above a node of the architecture, up to the next
// node out. Nodes are fanouts, the compute units and, in an even space, levels. A node that has no
// place in a mapping (a fanout that is not used, a level that may keep nothing) parts nothing: the
// loops around it are one region, which has the order of the outer one, then that of the inner one,
// and whose factors are the products of theirs.
struct LoopRule {
  std::optional<LevelId> level;    // not the outermost
  std::optional<FanoutId> fanout;  // neither: the compute units
  // Groups of dims, outermost first: loops over dims of one group stand above those over dims of
  // the next, and dims in no group have no loop here. Unless `ordered`: any dims in any order.
  bool ordered = false;
  std::vector<DimSet> order;
  std::vector<FactorRule> factors;
  DimSet rest;  // no loop over these dims further in
  friend bool operator==(const LoopRule&, const LoopRule&) = default;
};

// Rules for what is unrolled along an axis of a fanout.
struct AxisRule {
  std::optional<DimSet> dims;       // beyond what the architecture allows; nullopt: no rule
  std::vector<FactorRule> factors;  // instances along the axis that the dim takes
  std::optional<std::int64_t> max_dims;
  friend bool operator==(const AxisRule&, const AxisRule&) = default;
};

// Rules for the unrollings of a fanout that no complete unrolling is given for.
struct UnrollRule {
  FanoutId fanout{};
  AxisRule x, y;
  double min_utilization = 0;  // share of its instances that work
  const AxisRule& along(Axis axis) const { return axis == Axis::kX ? x : y; }
  friend bool operator==(const UnrollRule&, const UnrollRule&) = default;
};

}  // namespace mapsim
