// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <vector>

#include "mapper/graph/parts.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/objective.hpp"

namespace mapsim::exact {

// What is minimised, primary figure first.
struct Key {
  double first = kInfinity;
  double second = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// Worse than the limit by more than rounding noise.
inline bool exceeds(const Key& key, const Key& limit) {
  return key.first > limit.first * (1 + kRounding);
}
// The same of both figures: what bounds by `key` is no better than what has `limit`.
inline bool worse(const Key& key, const Key& limit) {
  return exceeds(key, limit) ||
         (key.first >= limit.first && key.second > limit.second * (1 + kRounding));
}

// What is looked for where a mapping with `limit` is known and the best may be better by a share of
// `gap`: as good as the limit, or better by more than that.
inline Key within_gap(const Key& limit, double gap) {
  return gap > 0 && limit.first < kInfinity ? Key{limit.first / (1 + gap), kInfinity} : limit;
}

// Without the last bits of the mantissas, so that rounding noise does not order what is equal.
// Relative 2^-42: an optimum is one to 12 digits.
Key without_noise(const Key& key);

// What labels carry beside energy.
Tracked tracked(const Problem& problem, const Objective& objective);

// Objective of a whole or partial mapping from the components of its cost (resource_vector.hpp). Of
// a branch that is of its mean entry, or of the run (BranchEntry::run).
class Valuation {
 public:
  Valuation(const StateGraph& graph, const Objective& objective, double compute_cycles);
  // Infinite where a limit is broken.
  Key key(const double* components) const { return key(components, compute_cycles_); }
  // With another time for the compute units.
  Key key(const double* components, double compute_cycles) const {
    return key(figures(components, compute_cycles));
  }

  const Objective& objective() const { return objective_; }
  double compute_cycles() const { return compute_cycles_; }

 private:
  struct Cycles {
    double steady = 0;
    double ramped = 0;
  };
  Cycles cycles(const double* components, double compute_cycles) const;
  double component(const double* components, std::size_t k) const {
    return components[k] * entries_ + charged_[k];
  }
  // Fractions of cycles take a whole one, but for noise where the figures of a run are sums of
  // fractions, and for the mean entry of a branch.
  double whole(double cycles) const;
  // Energy with leakage, and latency, which is 1 where time is not tracked.
  struct Figures {
    double energy = 0;   // pJ
    double latency = 1;  // cycles
  };
  Figures figures(const double* components, double compute_cycles) const;
  Key key(const Figures& figures) const;

  const std::vector<Port>& ports_;
  std::vector<bool> hides_;           // per port: does what passes it hide behind compute?
  std::vector<std::size_t> storeys_;  // per port
  Objective objective_;
  Tracked tracked_;
  double compute_cycles_;
  double leakage_per_cycle_;  // pJ
  // Of a branch's run; else 1, and nothing.
  double entries_ = 1;
  std::vector<double> charged_;
  double noise_ = 0;       // of cycles, relatively
  bool is_entry_ = false;  // costs are those of the mean entry of a branch
};

}  // namespace mapsim::exact
