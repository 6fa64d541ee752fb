// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/index.hpp"
#include "core/roles.hpp"
#include "costmodel/objective_function.hpp"

namespace mapsim::check {

// Two values of one thing, summed up in different orders, are the same up to this.
inline constexpr double kRounding = 1e-10;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Is `claimed` more than `found` by more than rounding?
inline bool exceeds(double claimed, double found) {
  return claimed < kInfinity ? claimed > found * (1 + kRounding) : found < kInfinity;
}

// Of a mapping, or at least of what it will come to: what is minimised, and what it is weighed
// against.
struct Figures {
  double first = 0;
  double second = 0;
};

// What is claimed of the mappings within the limits. kValue: none has a smaller objective. kTies:
// none has less energy, and of those with the least none is faster; or the other way round. kFront:
// none beats a point in energy and latency. kCurve: none beats a point in the objective and the
// bits that it needs of a level's capacity.
struct Goal {
  enum class Kind : std::uint8_t { kValue, kTies, kFront, kCurve };
  Kind kind = Kind::kValue;
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  bool ramped = false;                // the latency that counts; else the steady one
  std::optional<double> max_energy;   // pJ
  std::optional<double> max_latency;  // cycles
  LevelId level{};                    // kCurve: of the capacity,
  std::optional<Role> role;           // ... if it is a partition, of this role

  double value(double picojoules, double cycles) const {
    return function.value(picojoules, cycles);
  }
  // Infinite beyond the limits. `bits`: in the curve's capacity.
  Figures figures(double picojoules, double cycles, double bits) const {
    return is_within_limits(picojoules, cycles) ? unlimited(picojoules, cycles, bits)
                                                : Figures{kInfinity, kInfinity};
  }
  Figures unlimited(double picojoules, double cycles, double bits) const {
    const bool timed = kind == Kind::kTies || kind == Kind::kFront;
    return {value(picojoules, cycles), ties_by_energy()       ? picojoules
                                       : timed                ? cycles
                                       : kind == Kind::kCurve ? bits
                                                              : 0};
  }
  bool is_within_limits(double picojoules, double cycles) const {
    return !(max_energy && picojoules > *max_energy * (1 + kRounding)) &&
           !(max_latency && cycles > *max_latency);
  }
  bool ties_by_energy() const { return kind == Kind::kTies && !function.uses_energy(); }
  bool needs_energy() const {
    return function.uses_energy() || max_energy || kind == Kind::kTies || kind == Kind::kFront;
  }
  bool needs_time() const {
    return function.uses_latency() || max_latency || kind == Kind::kTies || kind == Kind::kFront;
  }
};

// What a proof leaves open: nothing that is no better than one of the points. First figures are
// equal up to rounding, second ones are whole numbers.
struct Frontier {
  std::vector<Figures> points;
  bool first_decides = false;  // who is worse in the first figure is worse
  double slack = 0;            // share by which second figures that are energies may differ

  bool covers(const Figures& found) const {
    return !(found.first < kInfinity) ||
           std::any_of(points.begin(), points.end(), [&](const Figures& point) {
             return (found.first >= point.first * (1 - kRounding) &&
                     found.second >= point.second * (1 - slack)) ||
                    (first_decides && found.first > point.first * (1 + kRounding));
           });
  }
  // How near it comes to being covered: at least so large a share of both figures of some point; 1:
  // it is. No less for what is worse in a figure.
  double share(const Figures& found) const {
    if (covers(found)) {
      return 1;
    }
    double most = 0;
    for (const Figures& point : points) {
      const double second = point.second > 0 ? found.second / point.second : 1;
      most = std::max(most, std::min(found.first / point.first, second));
    }
    return std::min(most, 1.0);
  }
};

// What is to be proven of walks whose figures are at least so much: of a single figure that it is
// no less than a value, or of a frontier that they come near to it.
struct Target {
  Frontier frontier;
  bool by_share = false;  // of the frontier; else by the first figure of its only point
  double enough = 0;      // then: the share; 1: each is to be covered

  double of(const Figures& found) const { return by_share ? frontier.share(found) : found.first; }
  double met() const { return by_share ? enough : frontier.points.front().first; }
  bool is_met_by(const Figures& found) const {
    return frontier.covers({found.first, by_share ? found.second : 0}) ||
           (by_share && enough < 1 && frontier.share(found) >= enough);
  }
};

}  // namespace mapsim::check
