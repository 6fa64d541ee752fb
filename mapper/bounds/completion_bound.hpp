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
#include "mapper/graph/nodes.hpp"
#include "mapper/graph/state_graph.hpp"

namespace mapsim::exact {

class CompletionBound;

// Per row, [stage * residencies + residency]: a list of tiles, ascending.
using RowTiles = std::vector<std::vector<std::uint32_t>>;

// A row of a completion bound: one component at all tiles of a stage and residency.
struct BoundRow {
  std::size_t component = 0;
  std::size_t stage = 0;
  std::size_t residency = 0;
  double* values = nullptr;              // [tile], initially infinite
  std::span<const std::uint32_t> tiles;  // the tiles of interest; empty: all
};

// Sets the values of a row with `tiles` tiles to infinity, except at row.tiles, if it lists any.
void keep_listed(const BoundRow& row, std::size_t tiles);

// The costs of edges for a completion bound. With perfect factors costs are exact (LatticeRows).
// With imperfect factors the cost of an edge depends on the loops further out, so rows hold the
// least cost over all of them (ImperfectRows).
class BoundRows {
 public:
  virtual ~BoundRows() = default;
  virtual std::size_t components() const = 0;
  // How many the lattice of a stage has.
  virtual std::size_t tiles(std::size_t stage) const = 0;
  // Fills a row from the rows that its edges lead to, which are known. Returns false if no edge
  // leads to a node of interest. Threads may fill rows of several components at once.
  virtual bool fill(const BoundRow& row, const CompletionBound& behind) = 0;
};

// The completion bound: for each node and component the least cost of a path from there to the end,
// if every tile only has to fit each capacity alone. It is an exact shortest path of this
// relaxation, computed backwards from the end. So it never overestimates (admissible), and along an
// edge it falls by at most the edge's cost (consistent).
class CompletionBound {
 public:
  // The nodes of interest. Other nodes may get an infinite bound, which saves work. A node is of
  // interest if a nest through it may cost at most `most` [pJ]; its cost so far is bounded by
  // `per_tensor`, or else by StateGraph::least_so_far().
  struct Scope {
    const PerTensorBound* per_tensor = nullptr;
    double most = std::numeric_limits<double>::infinity();
    std::vector<char> reachable{};     // [stage * residencies + residency]; empty: all rows
    const RowTiles* listed = nullptr;  // tiles of interest, if there is no `per_tensor`
  };
  // Idle threads of the caller's team take part. Throws OutOfBudget at the deadline, if one is
  // given.
  CompletionBound(const StateGraph& graph, BoundRows& rows, const Scope& scope,
                  const Deadline* deadline);
  double at(const Node& node, std::size_t component) const {
    return to_go_[component][number_of(node)];
  }
  const NodeIndex& nodes() const { return nodes_; }
  // Numbers the nodes of all live rows: 0 .. node_count() - 1.
  std::size_t number_of(const Node& node) const {
    return offset(node.stage, node.residency) + node.tile;
  }
  std::size_t node_count() const { return filled_; }
  // Does some node of the row lead to an end of interest?
  bool is_live(std::size_t stage, std::size_t residency) const {
    return live_[index(stage, residency)] != 0;
  }
  // At all tiles; infinite for a row that is not live.
  const double* row(std::size_t component, std::size_t stage, std::size_t residency) const {
    return to_go_[component].get() + offset(stage, residency);
  }

 private:
  std::size_t index(std::size_t stage, std::size_t residency) const {
    return stage * nodes_.residencies() + residency;
  }
  std::size_t offset(std::size_t stage, std::size_t residency) const {
    return offsets_[index(stage, residency)];
  }
  BoundRow begin(std::size_t component, const RowId& row);
  void grow(std::size_t component, std::size_t size);
  void fill_together(BoundRows& rows, const Scope& scope, std::span<const RowId> order);
  void fill_energies(BoundRows& rows, const Scope& scope, PerTensorBound::Selection* selection,
                     std::span<const RowId> order);
  void follow(BoundRows& rows, std::size_t component, std::span<const RowId> order);
  bool list(std::size_t index, std::span<const std::uint32_t> tiles);
  bool keep_near(const BoundRow& row, const Scope& scope);
  std::vector<std::span<const RowId>> parts(std::span<const RowId> order) const;

  const StateGraph& graph_;
  HeldMemory held_;
  std::vector<std::size_t> tiles_of_stage_;
  NodeIndex nodes_;
  std::vector<char> live_;  // per stage and residency; determined with the energies
  // Where rows begin; rows that are not live share the first one.
  std::vector<std::size_t> offsets_;
  std::size_t longest_ = 0;  // the most tiles of a lattice
  std::size_t filled_ = 0;   // entries before this one are known
  std::vector<std::unique_ptr<double[]>> to_go_;
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  // Ranges of tiles_, per stage and residency; empty: all tiles are of interest.
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> tiles_;
  std::vector<double> so_far_;  // cost so far at the listed tiles of a row
};

}  // namespace mapsim::exact
