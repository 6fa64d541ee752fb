// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "mapper/fusion/chain_front.hpp"
#include "mapper/fusion/chain_search.hpp"

// Energy^a * latency^b is not a sum over einsums, but it is quasi-concave: on a segment between two
// points it is nowhere less than at the better end. So the best of all points (energy, latency) of
// a space is a vertex of their convex hull. A vertex has the least energy + w * latency for some w,
// which is a sum over einsums. The same holds of a network whose chains each have one of their
// trees: its energy and latency are sums over chains.

namespace mapsim::fusion {

// The best tree by an additive objective, if it is better than `cutoff`. If it is proven that none
// is, the result's lower bound is the cutoff.
ChainResult search_additive(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                            const SearchOptions& options, double cutoff);

// The front of energy and latency of all trees whose energy + w * latency is below the cutoff.
struct AllTrees {
  std::vector<MappingTree> trees;  // none if the search was stopped
  bool complete = false;           // else it was stopped ...
  bool out_of_memory = false;      // ... because memory was short
  double seconds = 0;
  std::size_t peak_bytes = 0;
};
AllTrees search_all(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                    const SearchOptions& options, double cutoff);

// A point (energy, latency) of a space of trees, or of choices of trees.
struct HullPoint {
  double energy = 0;  // [pJ]
  double cycles = 0;
  // energy + weight * latency [pJ]; for an infinite weight the latency [cycles].
  double along(double weight) const;
};
// Knowledge about the least energy + weight * latency of a space, for one weight.
struct LeastSum {
  std::optional<HullPoint> best;  // nullopt: none was found
  double bound = 0;               // no point is below it
  bool proven = false;            // no point is below `best`, or there is none
};

// Points that are asked for: with at most this energy [pJ] and latency [cycles].
struct HullLimits {
  double energy = std::numeric_limits<double>::infinity();
  double cycles = std::numeric_limits<double>::infinity();
  bool any() const { return *this != HullLimits{}; }
  // Up to rounding.
  bool allow(const HullPoint& point) const;
  friend bool operator==(const HullLimits&, const HullLimits&) = default;
};

// The proof of the least value of an objective over a space.
struct Hull {
  std::vector<HullLine> lines;
  std::optional<HullPoint> best;
  double lower_bound = 0;  // by the lines
  bool proven = false;     // `best` is the least up to rounding, or there is no point
};
// Each search, for one weight after another, excludes a half-plane of points. It ends when no point
// outside of these is better than the best one found. `least_cycles`: no point has less latency.
// Within limits the best point need not be a vertex of the hull: then there is a gap between it and
// the bound.
Hull search_hull(const ObjectiveFunction& function, const HullLimits& limits, double least_cycles,
                 const std::function<LeastSum(double weight)>& least_sum);

// The least sums of the trees of a chain: searched for a weight, unless the results for other
// weights imply them. It refers to the machine and the chain.
class ChainSums {
 public:
  ChainSums(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits);

  // Uses the budget and the stop flag of `options`.
  LeastSum least(double weight, const SearchOptions& options);
  // No tree has less latency: the compute units' alone [cycles].
  double least_cycles() const { return least_cycles_; }
  // The best for a weight among the trees found so far, of which there is at least one.
  const ChainPoint& best(double weight) const;
  // Trees of the space that are known from elsewhere.
  void know(const ChainSums& other);
  // The statistics of all searches; it has no tree.
  const ChainResult& effort() const { return effort_; }

 private:
  void search(double weight, const SearchOptions& options);

  const Arch& arch_;
  const EinsumChain& chain_;
  FusionLimits limits_;
  double least_cycles_;
  std::vector<HullLine> lines_;
  std::map<double, bool> asked_;  // weights, and whether their searches came to an end
  std::vector<ChainPoint> points_;
  ChainResult effort_;
};

// The best tree by a product.
ChainResult search_product(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                           const SearchOptions& options);

// The least value of the function on or above all lines. At least two lines must differ in weight;
// otherwise 0.
double least_value(const ObjectiveFunction& function, const std::vector<HullLine>& lines);

}  // namespace mapsim::fusion
