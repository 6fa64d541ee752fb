// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/sweeps.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// What one tensor would have to pay [pJ] if it were alone: for its least way from the start to
// where it was placed last (a stop of the graph) and a tile, and for the least way on from
// there, when every loop is the tensor's to choose and every tile has its capacity to itself.
// Without operations. docs/decisions/0038-per-tensor-bound.md.
class TensorBound {
 public:
  // `operations`: energy of all of them [pJ]. Within `deadline`, if there is one: else OutOfBudget.
  TensorBound(const StateGraph& graph, const Unrolled& unrolled, TensorId t, double operations,
              const Deadline* deadline);
  // Both make what tables of the tensor they need.
  void find_to_go(EdgeCosts& costs);
  void find_cost_so_far(EdgeCosts& costs);  // after that

  // At all tiles of the stage's lattice. Until found: infinite (to go) or not to be asked for.
  const double* so_far(std::size_t stage, std::size_t residence) const {
    return &so_far_[row(stage, residence)];
  }
  const double* to_go(std::size_t stage, std::size_t residence) const {
    return &to_go_[row(stage, residence)];
  }
  // The least sum of both over the tiles, per stop.
  const std::vector<double>& least(std::size_t stage) const { return least_[stage]; }

 private:
  // Values on the way of a sliding_edge; as long as nothing leads there, not to be read.
  struct Runs {
    std::vector<double> values;
    bool known = false;
  };

  std::size_t row(std::size_t stage, std::size_t residence) const {
    return first_[stage] + residence * lattice(stage).size();
  }
  const Lattice& lattice(std::size_t stage) const {
    return unrolled_.lattices[graph_.crossed(stage)];
  }
  const std::vector<Residence>& residences() const { return graph_.residences(tensor_); }
  DimSet locked(std::size_t stage, std::size_t residence) const;
  void make_runs(std::size_t stage);
  void extend(const Lattice& tiles, DimId dim, End end, const double* row, const Runs& in,
              const std::vector<double>& cost, Runs& out) const;
  void copy_behind(std::size_t stage, EdgeCosts& costs);
  void find_to_go(std::size_t stage, EdgeCosts& costs);
  void copy_before(std::size_t stage);
  void find_cost_so_far(std::size_t stage, EdgeCosts& costs);

  Held held_;
  const StateGraph& graph_;
  const Unrolled& unrolled_;
  TensorId tensor_;
  const TensorMoves& moves_;
  double operations_;
  std::vector<std::size_t> first_;  // per stage: entries of the stages before it
  std::vector<double> so_far_;
  std::vector<double> to_go_;
  std::vector<std::vector<double>> least_;  // per stage and stop
  std::vector<double> nowhere_;             // infinite rows and runs
  std::vector<PerDim<Runs>> runs_;          // per stop and dim
};

}  // namespace mapsim::exact
