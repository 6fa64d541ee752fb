// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <vector>

#include "mapper/graph/parts.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/objective.hpp"

namespace mapsim::exact {

// The value of the objective and the figure that breaks ties, compared in this order. For a front:
// its two figures.
struct ObjectiveKey {
  double first = kInfinity;
  double second = 0;
  friend auto operator<=>(const ObjectiveKey&, const ObjectiveKey&) = default;
};

// Is the first figure above the limit's by more than rounding?
inline bool exceeds(const ObjectiveKey& key, const ObjectiveKey& limit) {
  return key.first > limit.first * (1 + kRounding);
}
// Is `key` worse than `limit`? It is if it exceeds it, or is no less in the first figure and larger
// in the second by more than rounding. If a lower bound is worse than the incumbent, nothing that
// it bounds can improve on the incumbent.
inline bool worse(const ObjectiveKey& key, const ObjectiveKey& limit) {
  return exceeds(key, limit) ||
         (key.first >= limit.first && key.second > limit.second * (1 + kRounding));
}

// The limit to prune by, if a mapping with `limit` is known and the answer may be worse than the
// optimum by a share of `gap`.
inline ObjectiveKey within_gap(const ObjectiveKey& limit, double gap) {
  return gap > 0 && limit.first < kInfinity ? ObjectiveKey{limit.first / (1 + gap), kInfinity}
                                            : limit;
}

// The key without its last 10 bits (relative 2^-42), so that rounding does not order equal keys. An
// optimum is therefore exact to 12 digits.
ObjectiveKey without_noise(const ObjectiveKey& key);

// The components that labels carry besides energy.
Tracked tracked(const Problem& problem, const Objective& objective);

// The objective as a function of a cost's components (costmodel/resource_vector.hpp), for whole
// mappings and for lower bounds. For a branch of a fused mapping, costs are those of its mean
// entry, or of all its entries (BranchEntry::run).
class PathObjective {
 public:
  // `compute_cycles`: time of the compute units [cycles].
  PathObjective(const StateGraph& graph, const Objective& objective, double compute_cycles);
  // The default key, which is infinite, if a limit of the objective is broken.
  ObjectiveKey key(const double* components) const { return key(components, compute_cycles_); }
  // The same with another time of the compute units.
  ObjectiveKey key(const double* components, double compute_cycles) const {
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
  // Rounds up to whole cycles. Exceptions: sums of fractions over a run are rounded up only beyond
  // their rounding error, and the mean entry of a branch keeps its fractions.
  double whole(double cycles) const;
  // Energy with leakage, and latency. The latency is 1 if time is not tracked.
  struct Figures {
    double energy = 0;   // pJ
    double latency = 1;  // cycles
  };
  Figures figures(const double* components, double compute_cycles) const;
  ObjectiveKey key(const Figures& figures) const;

  const std::vector<Port>& ports_;
  std::vector<Overlap> overlaps_;  // per port
  Objective objective_;
  Tracked tracked_;
  double compute_cycles_;
  double leakage_per_cycle_;  // pJ
  // For the run of a branch: its entries, and what has been charged already. Otherwise 1 and zeros.
  double entries_ = 1;
  std::vector<double> charged_;
  double noise_ = 0;       // relative rounding error of cycles
  bool is_entry_ = false;  // costs are those of the mean entry of a branch
};

}  // namespace mapsim::exact
