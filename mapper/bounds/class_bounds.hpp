// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/bounds/energy_bound.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::exact {

// Classes of unrollings that share a state graph: those that use the same fanouts and let the same
// tensors stay in a systolic array.
struct SharedGraph {
  std::unique_ptr<StateGraph> graph;
  std::optional<EnergyBound> bound;
  std::vector<double> port_bits;  // a lower bound per port [b]
  std::optional<PathObjective> path_objective;
};

// The tensors that may stay in the systolic array; nullopt: the machine has none.
std::optional<TensorSet> may_stay_with(const Problem& problem,
                                       const UnrollingClass& unrolling_class);

// Unrolling bounds: a lower bound of the objective over all mappings of a class, or of all classes
// in boxes. Each component is minimised by itself: energy (EnergyBound), bits per port, cycles of
// the compute units. The objective is monotone in each, so the key of the minima is a bound.
// Threads may use an object at once.
class ClassBounds {
 public:
  ClassBounds(const Mapspace& space, const Objective& objective);  // both outlive the bounds

  struct Bound {
    const SharedGraph* shared_graph = nullptr;
    std::optional<TensorSet> may_stay;  // nullopt: no systolic array
    double cycles = 0;                  // at least, of the compute units
    ObjectiveKey key;
  };
  // `closely` is false: instead of EnergyBound uses energy_bound(), which is the same for all
  // classes and faster.
  Bound of(const UnrollingClass& unrolling_class, bool closely = true);
  // A closer bound of a class with imperfect factors: EnergyBound::by_phases(). Energies of
  // `enough` [pJ] and more need not be closer.
  ObjectiveKey by_phases(const UnrollingClass& unrolling_class, double enough);
  // For all classes that choose from these boxes, one per fanout, if none of them has fewer than
  // `fewest_steps`.
  ObjectiveKey of(const UnrollingBound::Boxes& boxes, double fewest_steps = 0);
  const Objective& objective() const { return objective_; }
  // `shared_graph` and `may_stay` of a class, without the bound.
  Bound shared_graph_of(const UnrollingClass& unrolling_class);

 private:
  const SharedGraph& shared_graph(const std::vector<FanoutId>& used,
                                  const std::optional<TensorSet>& may_stay);
  ObjectiveKey key(const SharedGraph& shared_graph, double energy, double cycles) const;
  double least_cycles(const UnrollingBound::Boxes& boxes, double fewest_steps) const;
  double least_cycles(const UnrollingClass& unrolling_class,
                      const std::optional<TensorSet>& may_stay) const;

  const Mapspace& space_;
  const Objective& objective_;
  double least_energy_;  // energy_bound() [pJ]
  double steps_;         // cycles of one compute unit that does all operations
  std::mutex mutex_;     // of `shared_graphs_`
  std::map<std::pair<std::vector<FanoutId>, std::optional<std::uint32_t>>, SharedGraph>
      shared_graphs_;
};

}  // namespace mapsim::exact
