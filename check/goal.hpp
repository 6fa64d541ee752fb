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

// Relative rounding error within which two sums of the same terms, added in different orders, are
// equal. The checker adds in another order than the search and reads values from a file, so it
// allows ten times what the search does (mapper/objective.hpp): a proof holds up to 1e-10, even if
// the search told two closer mappings apart.
inline constexpr double kTolerance = 1e-10;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Is `claimed` larger than `found` by more than rounding?
inline bool exceeds(double claimed, double found) {
  return claimed < kInfinity ? claimed > found * (1 + kTolerance) : found < kInfinity;
}

// The two figures of a mapping, or lower bounds of them: what is minimised, and what it is weighed
// against.
struct Figures {
  double first = 0;
  double second = 0;
};

// What is claimed about the mappings within the limits.
// - kValue: none has a smaller objective value.
// - kTies: none has less energy, and among those with the least energy none is faster; or with
//   energy and latency exchanged.
// - kFront: none is better than a point in energy and latency.
// - kCurve: none is better than a point in the objective and the bits that it needs of a capacity.
struct Goal {
  enum class Kind : std::uint8_t { kValue, kTies, kFront, kCurve };
  Kind kind = Kind::kValue;
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  bool ramped = false;                // the latency is the ramped one; otherwise the steady one
  std::optional<double> max_energy;   // pJ
  std::optional<double> max_latency;  // cycles
  LevelId level{};                    // kCurve: the level of the capacity
  std::optional<Role> role;           // kCurve: if the capacity is a partition, its role

  double value(double picojoules, double cycles) const {
    return function.value(picojoules, cycles);
  }
  // Infinite beyond the limits. `bits`: use of the curve's capacity.
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
    return !(max_energy && picojoules > *max_energy * (1 + kTolerance)) &&
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

// The claimed points. Claimed: no mapping is better than they are. To be shown: a point dominates
// every mapping (the mapping is no better in either figure). First figures are equal up to
// rounding; second figures are whole numbers.
struct ClaimedFront {
  std::vector<Figures> points;
  bool first_decides = false;  // a larger first figure suffices to be dominated
  double slack = 0;            // relative tolerance of second figures, if they are energies

  bool dominates(const Figures& found) const {
    return !(found.first < kInfinity) ||
           std::any_of(points.begin(), points.end(), [&](const Figures& point) {
             return (found.first >= point.first * (1 - kTolerance) &&
                     found.second >= point.second * (1 - slack)) ||
                    (first_decides && found.first > point.first * (1 + kTolerance));
           });
  }
  // How near figures come to being dominated: the largest share s such that, for some point, both
  // are at least s times the point's figures; 1: they are dominated. The share does not fall as
  // figures grow.
  double share(const Figures& found) const {
    if (dominates(found)) {
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

// What must be shown for all paths, given lower bounds of their figures:
// - by_share = false: the first figure is at least that of the only point;
// - by_share = true: the path's share of the front is at least `enough`.
struct Target {
  ClaimedFront front;
  bool by_share = false;  // by the share of the front; otherwise by the first figure
  double enough = 0;      // the share that suffices; 1: every path must be dominated

  double of(const Figures& found) const { return by_share ? front.share(found) : found.first; }
  double threshold() const { return by_share ? enough : front.points.front().first; }
  bool is_met_by(const Figures& found) const {
    return front.dominates({found.first, by_share ? found.second : 0}) ||
           (by_share && enough < 1 && front.share(found) >= enough);
  }
};

}  // namespace mapsim::check
