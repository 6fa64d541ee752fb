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

// Tiles, ascending, by [stage * residencies + residency].
using RowTiles = std::vector<std::vector<std::uint32_t>>;

// One row of a completion bound: one component at all tiles of a stage and residency.
struct BoundRow {
  std::size_t component = 0;
  std::size_t stage = 0;
  std::size_t residency = 0;
  double* values = nullptr;              // [tile], infinite so far
  std::span<const std::uint32_t> tiles;  // of interest; none listed: all
};

// Makes values infinite at tiles that are not listed, of so many.
void keep_listed(const BoundRow& row, std::size_t tiles);

// What edges cost, as far as a completion bound asks: exactly (perfect factors, LatticeRows), or at
// least (imperfect factors, whose cost depends on the loops outside the edge: ImperfectRows).
class BoundRows {
 public:
  virtual ~BoundRows() = default;
  virtual std::size_t components() const = 0;
  // Of the lattice of a stage.
  virtual std::size_t tiles(std::size_t stage) const = 0;
  // From the rows that the edges of this one lead to, which are known. False: none of them leads to
  // a node of interest. Threads may fill rows of several components at once.
  virtual bool fill(const BoundRow& row, const CompletionBound& behind) = 0;
};

// The least that is still to pay from each node to the end, per component, when every tile has its
// capacity for itself: the exact shortest path of that relaxed problem, found from the inside out.
// So it never overestimates, and along an edge it falls by at most the edge's cost (admissible,
// consistent).
class CompletionBound {
 public:
  // The nodes that are of interest: others may be left at infinity, and what leads to them need not
  // be looked at. Those through which a nest needs no more than `most` [pJ], as far as `per_tensor`
  // can tell, or else what every nest has cost when it gets to a row.
  struct Scope {
    const PerTensorBound* per_tensor = nullptr;
    double most = std::numeric_limits<double>::infinity();
    std::vector<char> reachable{};     // by stage and residency; none: all rows
    const RowTiles* listed = nullptr;  // the tiles of interest, where there is no `per_tensor`
  };
  // Idle threads of the team take part. Within `deadline`, if there is one: else OutOfBudget.
  CompletionBound(const StateGraph& graph, BoundRows& rows, const Scope& scope,
                  const Deadline* deadline);
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
    return live_[index(stage, residency)] != 0;
  }
  // At all tiles; of a row that is not live infinite.
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
  void settle(BoundRows& rows, const Scope& scope, PerTensorBound::Selection* selection,
              std::span<const RowId> order);
  void follow(BoundRows& rows, std::size_t component, std::span<const RowId> order);
  bool list(std::size_t index, std::span<const std::uint32_t> tiles);
  bool keep_near(const BoundRow& row, const Scope& scope);
  std::vector<std::span<const RowId>> parts(std::span<const RowId> order) const;

  const StateGraph& graph_;
  Held held_;
  std::vector<std::size_t> tiles_of_stage_;
  NodeIndex nodes_;
  std::vector<char> live_;            // per stage and residency; found with the energies
  std::vector<std::size_t> offsets_;  // of the rows; those that are not live share the first one
  std::size_t longest_ = 0;           // tiles of a lattice
  std::size_t filled_ = 0;            // rows before this are known
  std::vector<std::unique_ptr<double[]>> to_go_;
  struct Range {
    std::size_t first = 0;
    std::size_t last = 0;
  };
  std::vector<Range> ranges_;  // of tiles_, by stage and residency; none: all tiles
  std::vector<std::uint32_t> tiles_;
  std::vector<double> so_far_;  // at those of a row
};

}  // namespace mapsim::exact
