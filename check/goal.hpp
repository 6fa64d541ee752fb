// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <optional>

namespace mapsim::check {

// Two values of one thing, summed up in different orders, are the same up to this.
inline constexpr double kRounding = 1e-10;

// What was minimised: energy^a * latency^b, in pJ and cycles, of the mappings within the limits.
struct Goal {
  double energy_power = 1;
  double latency_power = 0;
  bool ramped = false;                // the latency that counts; else the steady one
  std::optional<double> max_energy;   // pJ
  std::optional<double> max_latency;  // cycles

  double value(double picojoules, double cycles) const {
    return std::pow(picojoules, energy_power) * std::pow(cycles, latency_power);
  }
  bool is_within_limits(double picojoules, double cycles) const {
    return !(max_energy && picojoules > *max_energy * (1 + kRounding)) &&
           !(max_latency && cycles > *max_latency);
  }
  bool needs_time() const { return latency_power != 0 || max_latency; }
};

}  // namespace mapsim::check
