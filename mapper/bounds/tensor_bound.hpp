// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/sweeps.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// The least energy [pJ] of one tensor's boundaries if the tensor were alone: from the start to each
// (residence, tile), and from there to the end. Every loop may serve this tensor alone, and every
// tile has its capacity to itself. Energy of operations is not part of it.
// docs/decisions/0038-per-tensor-bound.md.
class TensorBound {
 public:
  // `operations`: energy of all operations [pJ]. Throws OutOfBudget at the deadline, if one is
  // given.
  TensorBound(const StateGraph& graph, const Unrolled& unrolled, TensorId t, double operations,
              const Deadline* deadline);
  // Both functions make the tables of the tensor that they need.
  void find_to_go(EdgeCosts& costs);
  void find_cost_so_far(EdgeCosts& costs);  // call it after find_to_go()

  // At all tiles of the stage's lattice. The cost to go is infinite before find_to_go(); the cost
  // so far must not be read before find_cost_so_far().
  const double* so_far(std::size_t stage, std::size_t residence) const {
    return &so_far_[row(stage, residence)];
  }
  const double* to_go(std::size_t stage, std::size_t residence) const {
    return &to_go_[row(stage, residence)];
  }
  // Per residence: the least sum of cost so far and cost to go, over all tiles.
  const std::vector<double>& least(std::size_t stage) const { return least_[stage]; }

 private:
  // Values halfway along a sliding-window edge (extend_loops); not to be read unless `known`.
  struct Halfway {
    std::vector<double> values;
    bool known = false;
  };

  std::size_t row(std::size_t stage, std::size_t residence) const {
    return first_[stage] + residence * lattice(stage).size();
  }
  const DivisorLattice& lattice(std::size_t stage) const {
    return unrolled_.lattices[graph_.crossed(stage)];
  }
  const std::vector<Residence>& residences() const { return graph_.residences(tensor_); }
  DimSet locked(std::size_t stage, std::size_t residence) const;
  void make_halfway(std::size_t stage);
  void extend(const DivisorLattice& tiles, DimId dim, LoopEnd end, const double* row,
              const Halfway& in, const std::vector<double>& cost, Halfway& out) const;
  void copy_behind(std::size_t stage, EdgeCosts& costs);
  void find_to_go(std::size_t stage, EdgeCosts& costs);
  void copy_before(std::size_t stage);
  void find_cost_so_far(std::size_t stage, EdgeCosts& costs);

  HeldMemory held_;
  const StateGraph& graph_;
  const Unrolled& unrolled_;
  TensorId tensor_;
  const TensorMoves& moves_;
  double operations_;
  std::vector<std::size_t> first_;  // per stage: entries of the stages before it
  std::vector<double> so_far_;
  std::vector<double> to_go_;
  std::vector<std::vector<double>> least_;  // per stage and residence
  std::vector<double> nowhere_;             // infinite rows and loops
  std::vector<PerDim<Halfway>> halfway_;    // per residence and dim
};

}  // namespace mapsim::exact
