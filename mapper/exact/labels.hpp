// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/exact/bound.hpp"
#include "mapper/mapper.hpp"

namespace mapsim::exact {

// What is minimised, primary figure first.
struct Key {
  double first = kInfinity;
  double second = 0;
  friend auto operator<=>(const Key&, const Key&) = default;
};

// Worse than the limit by more than rounding noise.
inline bool beyond(const Key& key, const Key& limit) {
  return key.first > limit.first * (1 + 1e-11);
}

// Does the objective depend on time, so that labels carry the bits of every port? Energy does where
// the machine leaks.
bool needs_time(const Problem& problem, Objective objective);

// Objective of a whole or partial mapping: energy [pJ] and, if it needs time, the bits through each
// port.
class Valuation {
 public:
  Valuation(const Problem& problem, const std::vector<Port>& ports, Objective objective,
            double compute_cycles)
      : ports_{ports},
        objective_{objective},
        compute_cycles_{compute_cycles},
        leakage_per_cycle_{problem.leakage(Cycles{1}).count()},
        timed_{needs_time(problem, objective)} {}
  Key key(const double* components) const;

 private:
  const std::vector<Port>& ports_;
  Objective objective_;
  double compute_cycles_;
  double leakage_per_cycle_;  // pJ
  bool timed_;
};

// One step of a nest, outside in.
struct Step {
  enum class Kind : std::uint8_t { kStart, kLoop, kCross, kPlace, kJump, kEnd };
  Kind kind = Kind::kStart;
  Node node;             // where the step leads
  std::size_t move = 0;  // kPlace, kJump: index in the skeleton's lists at the node before
};

struct LabelResult {
  std::vector<Step> steps;  // from the start to the end; empty: nothing as good as the limit
  Key key;                  // of the best
  Key bound;                // nothing of this unrolling is better than this
  std::int64_t expanded = 0;
  bool stopped = false;
};

// Best-first search over labels (a node, what has been paid, what is used of each contended room),
// pruned by dominance and by the bound: the first label that ends is an optimum of the unrolling.
// Keys beyond `limit` are of no interest.
LabelResult search_labels(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                          const Bound& bound, const Valuation& valuation, Key limit,
                          const std::atomic<bool>* stop);

// The best key that the bound allows from the start; infinite: nothing fits.
Key root_key(const Skeleton& skeleton, const Unrolled& unrolled, const Bound& bound,
             const Valuation& valuation, std::size_t components);

}  // namespace mapsim::exact
