// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mapper/bounds/per_tensor_bound.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/nodes.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// The least that is still to pay from each node to the end, per component, when every tile has its
// room for itself: the exact shortest path of that relaxed problem, found from the inside out. So
// it never overestimates, and along an edge it falls by at most the edge's cost (admissible,
// consistent).
class CompletionBound {
 public:
  // The nodes that are of interest: others may be left at infinity, and what leads to them need not
  // be looked at. Those through which a nest needs no more than `most` [pJ], as far as `alone` can
  // tell, or else what every nest has paid when it gets to a row.
  struct Scope {
    const Alone* alone = nullptr;
    double most = std::numeric_limits<double>::infinity();
    std::vector<char> reachable{};  // by stage and residency; none: all rows
  };
  // All tables of the costs are made. Idle threads of the team take part.
  CompletionBound(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                  const Scope& scope);
  double at(const Node& node, std::size_t component) const {
    return to_go_[component][place(node)];
  }
  const NodeIndex& nodes() const { return nodes_; }
  // Where a node that leads on stands among those of all live rows: 0 .. places() - 1.
  std::size_t place(const Node& node) const {
    return offset(node.stage, node.residency) + node.tile;
  }
  std::size_t places() const { return filled_; }
  // Does anything of interest lead on from there?
  bool is_live(std::size_t stage, std::size_t residency) const {
    return live_[stage * nodes_.residencies() + residency] != 0;
  }
  // The energies at all tiles.
  const double* row(std::size_t stage, std::size_t residency) const {
    return to_go_[0].get() + offset(stage, residency);
  }

 private:
  struct Row {
    std::size_t component = 0;
    std::size_t stage = 0;
    std::size_t residency = 0;
    const Lattice& lattice;
    std::span<const std::uint32_t> tiles;  // of interest; none listed: all
  };
  struct Digits {  // of a lattice's tiles; Lattice::rest
    PerDim<std::vector<std::uint16_t>> digits;
    PerDim<std::vector<std::uint32_t>> rests;
  };

  std::size_t index(std::size_t stage, std::size_t residency) const {
    return stage * nodes_.residencies() + residency;
  }
  std::size_t offset(std::size_t stage, std::size_t residency) const {
    return offsets_[index(stage, residency)];
  }
  double* begin(const Row& row) {
    return to_go_[row.component].get() + offset(row.stage, row.residency);
  }
  const double* begin(std::size_t component, std::size_t stage, std::size_t residency) const {
    return to_go_[component].get() + offset(stage, residency);
  }
  std::span<const std::uint32_t> listed(std::size_t index) const {
    const Lattice::Range range = ranges_.empty() ? Lattice::Range{} : ranges_[index];
    return std::span(tiles_.data() + range.first, range.last - range.first);
  }
  void make_room(std::size_t component, std::size_t size);
  void fill_together(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                     const Scope& scope, std::span<const RowId> rows);
  void settle(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
              const Scope& scope, Alone::Selection* selection, std::span<const RowId> rows);
  void follow(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
              std::size_t component, std::span<const RowId> rows);
  bool fill(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs, const Row& row);
  bool list(std::size_t index, std::span<const std::uint32_t> tiles);
  bool keep_near(const StateGraph& graph, const Row& row, const Scope& scope);
  bool fill_row(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                const Row& row);
  void keep_listed(const Row& row);
  bool relax_sliding_edge(const StateGraph& graph, EdgeCosts& costs, const Row& row,
                          const StateGraph::SlidingEdge& sliding_edge);
  bool copy_behind(const StateGraph& graph, const Unrolled& unrolled, const Row& row);
  bool relax_loops(const StateGraph& graph, const Row& row, DimSet& neutral);
  std::vector<const double*> rows_behind(const StateGraph& graph, const Row& row, DimId dim,
                                         std::size_t residency,
                                         const std::vector<Lattice::Run>& runs) const;
  // The same of listed tiles (bound_tiles.cpp).
  void make_digits(const Unrolled& unrolled);
  bool fill_tiles(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                  const Row& row);
  bool relax_sliding_edge_of_tiles(const StateGraph& graph, EdgeCosts& costs, const Row& row,
                                   const Digits& digits,
                                   const StateGraph::SlidingEdge& sliding_edge);
  bool relax_loops_of_tiles(const StateGraph& graph, const Row& row, const Digits& digits);

  Held held_;
  NodeIndex nodes_;
  std::vector<char> live_;            // per stage and residency; found with the energies
  std::vector<std::size_t> offsets_;  // of the rows; those that are not live share the first one
  std::size_t longest_ = 0;           // tiles of a lattice
  std::size_t filled_ = 0;            // rows before this are known
  std::vector<std::unique_ptr<double[]>> to_go_;
  std::vector<Lattice::Range> ranges_;  // of tiles_, by stage and residency; none: all tiles
  std::vector<std::uint32_t> tiles_;
  std::vector<double> paid_;    // at those of a row
  std::vector<Digits> digits_;  // per lattice, if tiles are listed
};

}  // namespace mapsim::exact
