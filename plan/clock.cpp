// SPDX-License-Identifier: Apache-2.0
#include "plan/clock.hpp"

#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"

namespace mapsim {

namespace {

constexpr int kLeastStep = 20;
static_assert(kLeastStep == kLeastClockShare * kFullClock);
// Power goes with a power of the clock between 0 (DRAM, constant power) and 3 (all else). The guess
// takes that of the last two clocks.
constexpr double kFirstExponent = 2;
constexpr int kMostGuesses = 6;  // then by halves

struct Drawn {
  int step = 0;
  double watts = 0;
};

}  // namespace

double share_of_step(int step) { return static_cast<double>(step) / kFullClock; }

bool has_clock(const Soc& soc) {
  return std::any_of(soc.engines.begin(), soc.engines.end(), [](const Engine& engine) {
    return std::holds_alternative<Gpu>(engine.machine);
  });
}

std::optional<int> highest_step(double full_power, double most,
                                const std::function<double(int)>& power_at) {
  const Drawn full{kFullClock, full_power};
  Drawn low{kLeastStep - 1, 0};  // keeps the limit, or is below all steps
  Drawn high = full;             // does not keep it
  Drawn last = full;
  double exponent = kFirstExponent;
  for (int asked = 0; high.step - low.step > 1; ++asked) {
    const int halfway = (low.step + high.step) / 2;
    const double guess = last.step * std::pow(most / last.watts, 1 / exponent);
    const int next = asked < kMostGuesses && std::isfinite(guess)
                         ? std::clamp(static_cast<int>(guess), low.step + 1, high.step - 1)
                         : halfway;
    const Drawn now{next, power_at(next)};
    exponent = std::log(last.watts / now.watts) / std::log(real(last.step) / now.step);
    last = now;
    (now.watts <= most ? low : high) = now;
  }
  return low.step < kLeastStep ? std::nullopt : std::optional{low.step};
}

}  // namespace mapsim
