// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <variant>

#include "core/index.hpp"
#include "core/units.hpp"

namespace mapsim {

// Cycles between two MACs of operands of these widths and narrower ones, in either order.
struct WidthInterval {
  Bits wide{0};
  Bits narrow{0};
  std::int64_t cycles = 1;
  friend bool operator==(const WidthInterval&, const WidthInterval&) = default;
};

// Operands and sums that move one instance a cycle through a fanout, rows along Y and columns along
// X, past a tensor that stays: docs/systolic.md.
struct SystolicTiming {
  FanoutId array{};          // the fanout that is the array
  bool full_folds = true;    // waves cross the whole array, also where a fold uses a part of it
  bool hides_load = false;   // the next tile that stays is shifted in during the fold before
  bool hides_drain = false;  // the next fold follows at once, while the wave before leaves
  friend bool operator==(const SystolicTiming&, const SystolicTiming&) = default;
};

// How steps become cycles. Without a model: at the issue interval, one after the other.
using Timing = std::variant<std::monostate, SystolicTiming>;

}  // namespace mapsim
