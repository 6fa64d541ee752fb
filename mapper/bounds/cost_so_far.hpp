// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/bounds/least_costs.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/tile_count_rules.hpp"

namespace mapsim::imperfect {

// The mirror image of the completion bound, for one component: at each node a lower bound of what
// any nest has cost on its way there. Rows in which the completion bound found no node of interest
// are left out.
class CostSoFar {
 public:
  // Throws OutOfBudget at the deadline.
  CostSoFar(const exact::StateGraph& graph, const ExtentLattice& tiles,
            const TileCountRules& tile_count_rules, LeastCosts& costs,
            const exact::CompletionBound& to_go, std::size_t component, const Deadline& deadline);
  // At all tiles; null: no nest of interest reaches the row.
  const double* at(std::size_t stage, std::size_t residency) const {
    const Row& row = rows_[stage * graph_.residencies() + residency];
    return row.empty() ? nullptr : row.data();
  }

 private:
  using Row = std::vector<double>;

  const double* costs(std::size_t edge, std::size_t slide);
  double* row(std::size_t stage, std::size_t residency);
  void spread(std::size_t stage, std::size_t residency);
  void spread_loops(DimId d, double* row) const;
  void shift(DimId d, const double* here, double* there) const;
  void slide(const exact::StateGraph::SlidingEdge& sliding_edge, const double* here, double* there);
  void end_stage(std::size_t stage, std::size_t residency, const double* here);
  void cross(std::size_t fanout, Row& values) const;

  const exact::StateGraph& graph_;
  const ExtentLattice& tiles_;
  const TileCountRules& tile_count_rules_;
  LeastCosts& costs_;
  const exact::CompletionBound& to_go_;
  std::size_t component_;
  std::vector<Row> rows_;
  HeldMemory held_;
};

}  // namespace mapsim::imperfect
