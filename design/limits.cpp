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

WithinLimits::WithinLimits(const DesignLimits& limits, const DesignObjective& minimised,
                           double clock)
    : objective{minimised},
      unit{minimised.is_joint ? 1 / clock : minimised.function.scaled(1, 1, clock)} {
  const double slack = 1 + kRounding;  // as of is_beyond()
  energy = limits.energy ? limits.energy->count() * slack : energy;
  cycles = limits.latency ? limits.latency->count() * clock * slack : cycles;
  power = limits.power ? limits.power->count() / kMilliwatts / clock * slack : power;
}

bool WithinLimits::allows(double total_energy, double total_cycles) const {
  return total_energy <= energy && total_cycles <= cycles &&
         (std::isinf(power) || total_energy <= power * total_cycles);
}

bool WithinLimits::is_of_totals() const {
  const ObjectiveFunction& function = objective.function;
  const bool is_sum = function.uses_energy() && function.uses_latency() && function.value(1, 0) > 0;
  return objective.is_joint || is_sum || function.is_energy() || function.is_latency();
}

double WithinLimits::of_totals(double total_energy, double total_cycles) const {
  return objective.is_joint ? total_energy * total_cycles
                            : objective.function.value(total_energy, total_cycles);
}

// The least energy of a latency is convex in it, and each limit leaves an interval of latencies.
// Objectives of totals grow with both figures, and a product of both is least at an end of each
// piece of a line; so the least value is at an end of the interval or where two lines meet.
LeastWithin least_within(const WithinLimits& within, std::vector<SupportLine> lines) {
  double low = 0;
  lines.push_back({0, 0});
  for (SupportLine& line : lines) {
    line.value *= 1 - kRounding;  // a small difference of two of them is no rounding
    if (std::isinf(line.weight)) {
      low = std::max(low, line.value);
      continue;
    }
    if (!std::isinf(within.energy) && line.value > within.energy) {
      low = std::max(low, (line.value - within.energy) / line.weight);  // infinite of weight 0
    }
    if (!std::isinf(within.power)) {
      low = std::max(low, line.value / (line.weight + within.power));
    }
  }
  if (low > within.cycles * (1 + kRounding) || std::isinf(low)) {
    return {};
  }
  if (!within.is_of_totals()) {
    return {0, low};
  }
  std::erase_if(lines, [](const SupportLine& line) { return std::isinf(line.weight); });
  LeastWithin least;
  const auto look_at = [&](double cycles) {
    double energy = 0;
    for (const SupportLine& line : lines) {
      energy = std::max(energy, line.value - line.weight * cycles);
    }
    const double value = within.of_totals(energy, cycles);
    least = value < least.value ? LeastWithin{value, cycles} : least;
  };
  const double high = std::max(low, within.cycles);
  look_at(low);
  if (!std::isinf(high)) {
    look_at(high);
  }
  for (std::size_t a = 0; a < lines.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double meet = (lines[a].value - lines[b].value) / (lines[a].weight - lines[b].weight);
      if (meet > low && meet < high) {
        look_at(meet);
      }
    }
  }
  return least;
}

}  // namespace mapsim
