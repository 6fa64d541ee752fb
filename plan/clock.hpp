// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>

#include "plan/soc.hpp"

namespace mapsim {

// The clock of a chip's GPUs at a limit on power: one share of the full clock for a whole plan
// (docs/decisions/0105). Shares are whole percents, the steps.
inline constexpr int kFullClock = 100;
double share_of_step(int step);

// Whether a limit on power can lower a clock.
bool has_clock(const Soc& soc);

// The highest step below the full clock at which at most `most` is drawn, while more is drawn at
// the next higher step. nullopt: more is drawn at the lowest step, kLeastClockShare. `power_at`:
// what is drawn at a step, infinite where that is not known; asked about a step at most once.
// Precondition: `full_power`, at the full clock, is more than `most`. Where power never falls as
// the clock rises, no higher step keeps the limit.
std::optional<int> highest_step(double full_power, double most,
                                const std::function<double(int)>& power_at);

}  // namespace mapsim
