// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/bounds/least_costs.hpp"
#include "mapper/graph/tile_count_rules.hpp"

namespace mapsim::imperfect {

// Rows of the completion bound with imperfect factors, from the least costs of edges. The lattice
// may be coarse.
class ImperfectRows : public exact::BoundRows {
 public:
  ImperfectRows(const exact::StateGraph& graph, const ExtentLattice& tiles,
                const TileCountRules& tile_count_rules, LeastCosts& costs, const Deadline& deadline)
      : graph_{graph},
        tiles_{tiles},
        tile_count_rules_{tile_count_rules},
        costs_{costs},
        deadline_{deadline} {}
  std::size_t components() const override { return costs_.components(); }
  std::size_t tiles(std::size_t) const override { return tiles_.size(); }
  bool fill(const exact::BoundRow& row, const exact::CompletionBound& behind) override;

 private:
  bool fill_all(const exact::BoundRow& row, const exact::CompletionBound& behind);
  bool fill_listed(const exact::BoundRow& row, const exact::CompletionBound& behind);
  bool end_stage_of_listed(const exact::BoundRow& row, const exact::CompletionBound& behind) const;
  void slide_listed(const exact::BoundRow& row, const exact::StateGraph::SlidingEdge& sliding_edge,
                    const double* below);
  bool loop_over_listed(const exact::BoundRow& row, const exact::CompletionBound& behind) const;
  void list_behind(std::size_t fanout, std::size_t tile, std::vector<std::size_t>& behind) const;
  bool relax_stage_end(const exact::BoundRow& row, const exact::CompletionBound& behind) const;
  bool relax_end(const exact::BoundRow& row);
  bool relax_loops(const exact::BoundRow& row, const exact::CompletionBound& behind) const;
  void relax_sliding_edge(const exact::BoundRow& row,
                          const exact::StateGraph::SlidingEdge& sliding_edge, const double* below);
  void relax_crossing(std::size_t fanout, double* row) const;
  void relax_loops(DimId d, double* row) const;

  const exact::StateGraph& graph_;
  const ExtentLattice& tiles_;
  const TileCountRules& tile_count_rules_;
  LeastCosts& costs_;
  const Deadline& deadline_;
};

}  // namespace mapsim::imperfect
