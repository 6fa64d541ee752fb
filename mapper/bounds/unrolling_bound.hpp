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

// Where tensors stand on their way in: the levels and, behind them, the latches of the compute
// units.
inline constexpr std::size_t kMostNodes = kMaxLevels + 1;
struct RouteBoundary {
  std::size_t from = 0;  // nodes
  std::size_t to = 0;
  friend auto operator<=>(const RouteBoundary&, const RouteBoundary&) = default;
};

// Where one tensor may go, whatever the unrolling.
struct Route {
  TensorUse use;
  std::vector<RouteBoundary> boundaries;  // ascending
  std::array<bool, kMostNodes> serves{};  // the compute units, by node
};
using TensorPair = std::pair<TensorId, TensorId>;

// What the bound adds up: nonnegative weights of the bits that levels read, write and update, and
// of the energies of operations and additions. The energies of an architecture [pJ/b], or what a
// bit takes of one port.
struct BoundWeights {
  struct Level {
    double read = 0;
    double write = 0;
    double update = 0;
  };
  std::array<Level, kMaxLevels> levels{};
  double operations = 1;  // weight of a pJ of operations and additions
};
BoundWeights energy_weights(const Problem& problem);

// The levels that keep each tensor of a mapping, and the one that serves the compute units: its
// residency pattern. Every mapping has exactly one.
struct Pattern {
  PerTensor<std::vector<RouteBoundary>> boundaries;  // from level to level, outermost first
  PerTensor<std::size_t> serving;                    // node
  Key bound;  // no mapping of this pattern is better; of a front, in either figure
};
// The key of lower bounds: energy [pJ], then the busiest instance's bits of each port.
using KeyOf = std::function<Key(const std::vector<double>&)>;

// Energy [pJ] that no nest of a class of unrollings can do without, whatever its tiles. Each tensor
// comes to the node that serves the compute units over boundaries. On each of them every instance
// gets its own copy of each element at least once, transfers serve no more instances than the
// unrolling has, sums are added up in the networks between, come back to be added to, and are final
// only when each leaves once. Of tensors that one level serves from one capacity, one comes there
// again and again: while its element stays, it meets only what fits of another beside it. Of boxes
// it is a bound of all classes in them: each figure is taken where it costs least (box_bound.cpp).
// Why a tensor comes back so often: docs/decisions/0036-bounds-of-imperfect-classes.md, with
// perfect factors more of it: 0039-copies-capacities-and-symmetry.md.
class UnrollingBound {
 public:
  // `pairs`: two elements of which take part in one operation at most. All outlives the bound.
  UnrollingBound(const Mapspace& space, const PerTensor<Route>& routes,
                 const std::vector<TensorPair>& pairs, const UnrollingClass& unrolling_class);
  using Boxes = PerFanout<const branch::Box*>;
  UnrollingBound(const Mapspace& space, const PerTensor<Route>& routes,
                 const std::vector<TensorPair>& pairs, const Boxes& boxes);
  double least();  // infinite: nothing can serve a tensor
  // The residency patterns that are not ruled out, best first: of a pattern and an order of its
  // innermost loops the least of each of `weights` is known at once, which a bound that takes each
  // port by itself is not. `first_only`: the best of them alone; of a front, the first that is met.
  // (residency_patterns.cpp)
  std::vector<Pattern> patterns(const std::vector<BoundWeights>& weights, const KeyOf& key_of,
                                const Incumbent& known, bool first_only);

 private:
  using PerNode = std::array<double, kMostNodes>;
  struct Choice {
    std::size_t node = 0;  // that serves the compute units
    double cost = 0;       // of the way there, and of the accesses [pJ]
  };
  // What the class makes of a route.
  struct Traffic {
    PerFanout<PerNode> served;  // instances that one transfer to a node serves at most
    PerNode copies{};           // instances that each need all elements of theirs, at most
    PerNode busy{};             // ... at least: partial tiles leave some without work
    PerNode shared{};           // instances that one access of the compute units serves at most
    PerNode so_far{};           // the way there [pJ]; infinite: none
  };

  UnrollingBound(const Mapspace& space, const PerTensor<Route>& routes,
                 const std::vector<TensorPair>& pairs, std::size_t fanouts);
  void find_traffic(TensorId t, const UnrollingClass& unrolling_class);
  void find_traffic(TensorId t, const Boxes& boxes);
  void find_ways(TensorId t);
  void find_choices(TensorId t);
  // Where the tensor lies whole before the nest: there it neither comes again nor takes capacity.
  std::size_t source(TensorId t) const { return index_of(entry_.source(t)); }
  bool is_between(const RouteBoundary& boundary, FanoutId fanout) const;
  double accesses(TensorId t, std::size_t node) const;
  double accesses_of_sums(std::size_t node) const;
  double fills_at_least(TensorId t, std::size_t node) const;
  double busy_copies(const TensorUse& use, const UnrollingClass& unrolling_class,
                     std::size_t node) const;
  double addition(const RouteBoundary& boundary, FanoutId fanout) const;
  double boundary_cost(TensorId t, const RouteBoundary& boundary, double fills) const;
  double cost_of_sums(TensorId t, const RouteBoundary& boundary, double fills) const;
  double way(TensorId t, std::size_t node, double fills) const;
  double width(TensorId t, std::size_t node) const;
  double capacity(TensorId t, std::size_t node) const;
  double held(TensorId t, std::size_t node) const;
  struct Stay;  // of a tensor's tile at a node, while another one moves
  double operations(TensorId moves, std::size_t to, TensorId stays, std::size_t at) const;
  double operations(const Stay& stay, std::size_t dim, double capacity, Extents& extents) const;
  // Elements that come to the node that serves the compute units at least, all instances together.
  using Fills = PerTensor<double>;
  void for_each_order(const std::function<void(const Fills&)>& visit) const;
  Fills fills_in(const std::vector<TensorId>& order,
                 const PerTensor<PerTensor<double>>& if_moves) const;
  double sum_of(const Fills& fills) const;
  double least_to_come(std::size_t tensor) const;
  double combine(std::size_t tensor, double best);
  class Patterns;  // residency_patterns.cpp

  const Problem& problem_;
  const BranchEntry& entry_;
  const PerDim<ExtentDomain>& domains_;
  const PerTensor<Route>& routes_;
  const std::vector<TensorPair>& pairs_;
  // Instances along each dim; of boxes: a common divisor of theirs.
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
};

}  // namespace mapsim::exact
