// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "mapper/bounds/completion_bound.hpp"
#include "mapper/deadline.hpp"
#include "mapper/label_search/account.hpp"
#include "mapper/label_search/gates.hpp"
#include "mapper/label_search/loop_chains.hpp"
#include "mapper/label_search/tile_counts.hpp"

namespace mapsim::imperfect {

// The least that is still to pay from each node to the end, per component, whatever the chains:
// every loop leads from the bound straight to its tile, every tile has its room for itself. What
// makes it admissible: docs/mapper.md. In a coarse lattice a bin costs what its largest extent
// does and fits if its smallest one does: visits, and the points of windows summed over the tiles,
// never grow with an extent, footprints never shrink.
class Relaxation {
 public:
  Relaxation(const exact::StateGraph& graph, const Tiles& tiles, const Gates& gates,
             const std::vector<Terms>& terms, std::size_t components, const Deadline& deadline);
  // False: deadline was over, and nothing is known.
  bool is_complete() const { return complete_; }
  double at(const exact::Node& node, std::size_t component) const {
    return to_go_[component][row(node.stage, node.residency) + node.tile];
  }
  std::size_t nodes() const { return nodes_; }
  // What crosses at least when a tensor is placed at a tile, after a run or without one, given what
  // is known of how many tiles there were.
  BoundaryFlow least(std::size_t edge, std::size_t tile, Run run, const Counts& counts,
                     const PerDim<Counts::Id>& known) const;
  // Bits that the tile of a edge takes: [tile].
  const std::vector<double>& bits(std::size_t edge);

 private:
  using Row = std::vector<double>;
  std::size_t row(std::size_t stage, std::size_t residency) const {
    return rows_[stage * graph_.residencies() + residency];
  }
  bool fill(std::size_t component, const Deadline& deadline);
  bool fill_row(std::size_t component, std::size_t stage, std::size_t residency,
                const Deadline& deadline);
  void relax_stage_end(std::size_t component, std::size_t stage, std::size_t residency,
                       double* row) const;
  void relax_end(std::size_t component, std::size_t residency, double* row);
  void relax_loops(std::size_t component, std::size_t stage, std::size_t residency,
                   double* row) const;
  void relax_sliding_edge(std::size_t component, const exact::StateGraph::SlidingEdge& sliding_edge,
                          const double* below, double* row);
  std::optional<Allowed> allowed(std::size_t edge, DimId d) const;
  void relax_crossing(std::size_t fanout, double* row) const;
  void relax_loops(DimId d, double* row) const;
  const Row& costs(std::size_t edge, std::size_t run);
  const Row& flow(TensorId t, const exact::Sharing& sharing, std::size_t run);
  std::int64_t visits(DimId d, std::int64_t extent, const exact::Sharing& sharing) const;
  std::int64_t together(DimId d, const exact::Sharing& sharing) const;
  void multiply_visits(TensorId t, const exact::Sharing& sharing, Row& flow) const;
  double window(const Rank& rank, const exact::Sharing& sharing, std::size_t run,
                const std::array<std::size_t, 2>& bins) const;
  template <class Value>
  void multiply(const Rank& rank, Row& row, const Value& value) const;
  void multiply_window(const Rank& rank, const exact::Sharing& sharing, std::size_t run,
                       Row& flow) const;
  double crossing(TensorId t, const exact::Sharing& sharing, std::size_t run, std::size_t tile,
                  const Counts& counts, const PerDim<Counts::Id>& known) const;
  struct Met {
    double parent = 0, child = 0, busy_parent = 0, busy_child = 0;
  };
  Met met(const Terms& terms) const;
  static double least_reduction_energy(const Terms& terms, const Met& met,
                                       const BoundaryFlow& flow);
  static BoundaryFlow bound(const Terms& terms, const Met& met, BoundaryFlow flow);
  double constant(TensorId t, const exact::Sharing& sharing) const;
  double met(TensorId t, const exact::Sharing& sharing) const;

  const exact::StateGraph& graph_;
  const Tiles& tiles_;
  const Gates& gates_;
  const std::vector<Terms>& terms_;
  std::size_t components_;
  Held held_;
  std::vector<std::size_t> rows_;
  std::size_t nodes_ = 0;
  bool complete_ = true;
  std::vector<Row> to_go_;
  std::map<std::tuple<std::size_t, std::size_t>, Row> costs_;
  std::map<std::tuple<TensorId, exact::Sharing, std::size_t>, Row> flows_;
  std::vector<Row> bits_;
};

}  // namespace mapsim::imperfect
