// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "core/index.hpp"

namespace mapsim {

struct Arch;
struct TimingText;

// A systolic array: operands and sums move by one instance per cycle through a fanout (rows along
// Y, columns along X), past a stationary tensor: docs/systolic.md.
struct SystolicTiming {
  FanoutId array{};          // the fanout that is the array
  bool full_folds = true;    // waves cross the whole array, also if a fold uses a part of it
  bool hides_load = false;   // the next stationary tile is shifted in during the fold before
  bool hides_drain = false;  // the next fold starts at once, while the wave before leaves
  // Stationary operands pass every port above in tiles of the whole array, even if a fold uses a
  // part of it. Only with full folds.
  bool whole_tiles = false;
  bool scalesim = false;  // `compat: scalesim`: that tool's cycles, the number of the last one
  friend bool operator==(const SystolicTiming&, const SystolicTiming&) = default;
};

TimingText text_of(const SystolicTiming&);                          // its keys in files
std::string print(const SystolicTiming& timing, const Arch& arch);  // as YAML

}  // namespace mapsim
