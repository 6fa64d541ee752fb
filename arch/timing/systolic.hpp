// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "core/index.hpp"

namespace mapsim {

struct Arch;
struct TimingText;

// Operands and sums that move one instance a cycle through a fanout, rows along Y and columns along
// X, past a tensor that stays: docs/systolic.md.
struct SystolicTiming {
  FanoutId array{};          // the fanout that is the array
  bool full_folds = true;    // waves cross the whole array, also where a fold uses a part of it
  bool hides_load = false;   // the next tile that stays is shifted in during the fold before
  bool hides_drain = false;  // the next fold follows at once, while the wave before leaves
  // Operands that must stay in the array reach it, through every port above, in tiles of the whole
  // array, whatever a fold uses of it. Only with full folds.
  bool whole_tiles = false;
  bool scalesim = false;  // `compat: scalesim`: the number of the last cycle, as that tool has it
  friend bool operator==(const SystolicTiming&, const SystolicTiming&) = default;
};

TimingText text_of(const SystolicTiming&);
std::string print(const SystolicTiming& timing, const Arch& arch);

}  // namespace mapsim
