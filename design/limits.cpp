// SPDX-License-Identifier: Apache-2.0
#include "design/limits.hpp"

#include <algorithm>
#include <cmath>

namespace mapsim {

namespace {

constexpr double kMilliwatts = 1e-9;  // of a pJ per second

}  // namespace

bool is_beyond(const DesignLimits& limits, const Assessment& design) {
  const auto exceeds = [](double value, const auto& limit) {
    return limit && value > limit->count() * (1 + kRounding);
  };
  return exceeds(design.energy, limits.energy) || exceeds(design.seconds, limits.latency) ||
         exceeds(design.energy / design.seconds * kMilliwatts, limits.power);
}

double most_energy(const DesignLimits& limits, const DesignObjective& objective, double worth) {
  double most = limits.energy ? limits.energy->count() : kNoMapping;
  if (limits.power) {
    const double power = limits.power->count() / kMilliwatts;
    if (limits.latency) {
      most = std::min(most, power * limits.latency->count());
    }
    // Energy is power * latency: of less latency than `worth` it is less than that times the power.
    if (objective.function.is_latency()) {
      most = std::min(most, power * worth);
    } else if (objective.is_joint) {
      most = std::min(most, std::sqrt(power * worth));
    }
  }
  return most;
}

}  // namespace mapsim
