// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <vector>

#include "mapper/exact/outlook.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/objective.hpp"

namespace mapsim::exact {

// What is minimised, primary figure first.
struct Key {
  double first = kInfinity;
  double second = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// Worse than the limit by more than rounding noise.
inline bool beyond(const Key& key, const Key& limit) {
  return key.first > limit.first * (1 + kRounding);
}
// The same of both figures: what bounds by `key` is no better than what has `limit`.
inline bool worse(const Key& key, const Key& limit) {
  return beyond(key, limit) ||
         (key.first >= limit.first && key.second > limit.second * (1 + kRounding));
}

// What labels carry beside energy.
Tracked tracked(const Problem& problem, const Objective& objective);

// Objective of a whole or partial mapping from the components of its cost (resource_vector.hpp).
class Valuation {
 public:
  Valuation(const Skeleton& skeleton, const Objective& objective, double compute_cycles);
  // Infinite where a limit is broken.
  Key key(const double* components) const { return key(components, compute_cycles_); }
  // With another time for the compute units.
  Key key(const double* components, double compute_cycles) const {
    return key(outlook(components, compute_cycles));
  }
  // The least that the bounds allow within the limits, and where it is (nowhere: infinite energy).
  Key key(const Outlook& outlook) const;
  Corner corner(const Outlook& outlook) const;
  // No lines. Energy includes leakage; latency is 1 where time is not tracked.
  Outlook outlook(const double* components) const { return outlook(components, compute_cycles_); }
  Outlook outlook(const double* components, double compute_cycles) const;

  const Objective& objective() const { return objective_; }
  const Tracked& what_is_tracked() const { return tracked_; }
  double compute_cycles() const { return compute_cycles_; }
  double leakage_per_cycle() const { return leakage_per_cycle_; }  // pJ
  // Latency is the sum over groups of the busiest port of each. Group 0 includes the compute units
  // with the edges: steady, there is no other; ramped, each storey with what it does not hide.
  std::size_t group(std::size_t port) const { return groups_[port]; }

 private:
  struct Cycles {
    double steady = 0;
    double ramped = 0;
  };
  Cycles cycles(const double* components, double compute_cycles) const;
  struct Least {
    Key key;
    Corner corner;
  };
  Least least(const Outlook& outlook) const;

  const std::vector<Port>& ports_;
  std::vector<bool> hides_;           // per port: does what passes it hide behind compute?
  std::vector<std::size_t> storeys_;  // per port
  std::vector<std::size_t> groups_;   // per port
  Objective objective_;
  Tracked tracked_;
  double compute_cycles_;
  double leakage_per_cycle_;  // pJ
};

}  // namespace mapsim::exact
