// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "mapper/bounds/boxes.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/graph/tensor_use.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::exact {

// The nodes of a tensor's paths: the levels, then the registers (latches) of the compute units.
inline constexpr std::size_t kMostNodes = kMaxLevels + 1;
struct PathBoundary {
  std::size_t from = 0;  // node further out
  std::size_t to = 0;    // node further in
  friend auto operator<=>(const PathBoundary&, const PathBoundary&) = default;
};

// The boundaries that one tensor may have, whatever the unrolling: the edges of its paths.
struct TensorPaths {
  TensorUse use;
  std::vector<PathBoundary> boundaries;   // ascending
  std::array<bool, kMostNodes> serves{};  // by node: may it serve the compute units?
};
using TensorPair = std::pair<TensorId, TensorId>;

// Weights (>= 0) of a sum over traffic: of the bits that each level reads, writes and updates, and
// of the energy of operations and additions. With the energies of an architecture [pJ/b] the sum is
// energy; with 1 for one port and 0 otherwise, the bits of that port.
struct BoundWeights {
  struct Level {
    double read = 0;
    double write = 0;
    double update = 0;
  };
  std::array<Level, kMaxLevels> levels{};
  double operations = 1;  // per pJ of operations and additions
};
BoundWeights energy_weights(const Problem& problem);

// A residency pattern: for each tensor of a mapping the levels that keep it, and the node that
// serves the compute units. Every mapping has exactly one pattern.
struct Pattern {
  PerTensor<std::vector<PathBoundary>> boundaries;  // from level to level, outermost first
  PerTensor<std::size_t> serving;                   // a node per tensor
  ObjectiveKey bound;  // a lower bound of the mappings of the pattern; of a front, in both figures
};
// Makes a key of lower bounds: energy [pJ], then bits of the busiest instance of each port.
using ObjectiveKeyOf = std::function<ObjectiveKey(const std::vector<double>&)>;

// A lower bound of the energy [pJ] of all nests of a class of unrollings, whatever their tiles and
// loops: the traffic that no mapping avoids (unrolling_bound.cpp), the least over all serving nodes
// and orders of refetched tensors. For boxes (box_bound.cpp) each figure is taken where it costs
// least, which bounds all their classes.
class UnrollingBound {
 public:
  // `pairs`: the pairs of tensors that meet_once(). All arguments outlive the bound.
  UnrollingBound(const Mapspace& space, const PerTensor<TensorPaths>& paths,
                 const std::vector<TensorPair>& pairs, const UnrollingClass& unrolling_class);
  using Boxes = PerFanout<const branch::FactorBox*>;
  UnrollingBound(const Mapspace& space, const PerTensor<TensorPaths>& paths,
                 const std::vector<TensorPair>& pairs, const Boxes& boxes);
  double least();  // [pJ]; infinite: no node can serve some tensor
  // The same, higher, in some 0.1 ms (phases.hpp). Bounds of `enough` and more need not be closer.
  double least_by_phases(double enough);
  // The residency patterns that the incumbent does not rule out, best bound first. `first_only`:
  // the best pattern alone; of a front, the first that is found. All `weights` of a pattern are
  // bounded for the same mappings at once (residency_patterns.cpp).
  std::vector<Pattern> patterns(const std::vector<BoundWeights>& weights,
                                const ObjectiveKeyOf& key_of, const Incumbent& known,
                                bool first_only);

 private:
  using PerNode = std::array<double, kMostNodes>;
  struct Choice {
    std::size_t node = 0;  // node that serves the compute units
    double cost = 0;       // of the path to it and the accesses there [pJ]
  };
  // The figures of a path for one class.
  struct Traffic {
    PerFanout<PerNode> served;  // upper bound: instances that one transfer to a node serves
    PerNode copies{};           // upper bound: copies of an element over the instances of a node
    PerNode busy{};             // lower bound of the copies: partial tiles may idle instances
    PerNode shared{};           // upper bound: compute units that one access to a node serves
    PerNode so_far{};           // of the cheapest path to a node [pJ]; infinite: none
  };

  UnrollingBound(const Mapspace& space, const PerTensor<TensorPaths>& paths,
                 const std::vector<TensorPair>& pairs, std::size_t fanouts);
  void find_traffic(TensorId t, const UnrollingClass& unrolling_class);
  void find_traffic(TensorId t, const Boxes& boxes);
  void find_routes(TensorId t);
  void find_choices(TensorId t);
  // The node where the tensor lies before the nest: there it is neither refetched nor takes
  // capacity.
  std::size_t source(TensorId t) const { return index_of(entry_.source(t)); }
  bool is_between(const PathBoundary& boundary, FanoutId fanout) const;
  double accesses(TensorId t, std::size_t node) const;
  double accesses_of_sums(std::size_t node) const;
  double fills_at_least(TensorId t, std::size_t node) const;
  double busy_copies(const TensorUse& use, const UnrollingClass& unrolling_class,
                     std::size_t node) const;
  double busy_copies(const TensorUse& use, const Boxes& boxes, std::size_t node) const;
  double addition(const PathBoundary& boundary, FanoutId fanout) const;
  double boundary_cost(TensorId t, const PathBoundary& boundary, double fills) const;
  double cost_of_sums(TensorId t, const PathBoundary& boundary, double fills) const;
  double route_cost(TensorId t, std::size_t node, double fills) const;
  double width(TensorId t, std::size_t node) const;
  double capacity(TensorId t, std::size_t node) const;
  double held(TensorId t, std::size_t node) const;
  struct Stay;  // the tile of one tensor at a node, while another tensor moves
  double operations(TensorId moves, std::size_t to, TensorId stays, std::size_t at) const;
  double operations(const Stay& stay, std::size_t dim, double capacity, Extents& extents) const;
  using Fills = PerTensor<double>;  // elements that arrive at all instances of serving nodes
  using VisitOrder = std::function<void(const Fills&, const std::vector<TensorId>&)>;
  void for_each_order(const VisitOrder& visit) const;
  Fills fills_in(const std::vector<TensorId>& order,
                 const PerTensor<PerTensor<double>>& if_moves) const;
  double sum_of(const Fills& fills) const;
  double least_to_come(std::size_t tensor) const;
  double combine(std::size_t tensor, double best);
  class Patterns;  // residency_patterns.cpp
  class Phases;    // phases.cpp

  const Problem& problem_;
  const BranchEntry& entry_;
  const PerDim<ExtentDomain>& domains_;
  const PerTensor<TensorPaths>& paths_;
  const std::vector<TensorPair>& pairs_;
  // Instances along each dim; for boxes, a common divisor of theirs.
  PerFanout<Extents> factors_;
  bool counts_additions_ = true;
  BoundWeights weights_;
  bool imperfect_;
  TensorId output_;
  std::size_t latch_;
  double macs_;
  PerTensor<Traffic> traffic_;
  PerTensor<std::vector<Choice>> choices_;
  PerTensor<Choice> chosen_;
  Phases* phases_ = nullptr;
};

}  // namespace mapsim::exact
