// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mapper/exact/costs.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

// A node of the search graph.
struct Node {
  std::size_t phase = 0;
  std::size_t pointers = 0;
  std::size_t tile = 0;
};

// The node behind the event that ends a node's phase: the same tile, as the next lattice knows it.
// nullopt: the phase must not end there.
std::optional<Node> cross(const Skeleton& skeleton, const Unrolled& unrolled, const Node& node);

// Where the nodes of each (phase, pointers) begin in a flat array.
class NodeIndex {
 public:
  NodeIndex(const Skeleton& skeleton, const Unrolled& unrolled);
  std::size_t row(std::size_t phase, std::size_t pointers) const {
    return rows_[phase * pointers_ + pointers];
  }
  std::size_t at(const Node& node) const { return row(node.phase, node.pointers) + node.tile; }
  std::size_t size() const { return size_; }
  std::size_t pointers() const { return pointers_; }

 private:
  std::size_t pointers_;
  std::vector<std::size_t> rows_;  // of reachable ones
  std::size_t size_ = 0;
};

// The least that is still to pay from each node to the end, per component, when every tile has its
// room for itself: the exact shortest path of that relaxed problem, found from the inside out. So
// it never overestimates, and along an edge it falls by at most the edge's cost (admissible,
// consistent).
class Bound {
 public:
  // Is nothing of interest left when a whole nest needs at least so much energy [pJ]? Nodes all of
  // whose tiles are hopeless may be left at infinity, and what leads to them need not be looked at.
  using Hopeless = std::function<bool(double)>;
  // `CostTables`: Costs, or PricedCosts. `within`: only nodes that this one has not left out. Idle
  // threads of the caller's team take part.
  template <class CostTables>
  Bound(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs,
        const Hopeless& hopeless = {}, const Bound* within = nullptr);
  double at(const Node& node, std::size_t component) const {
    return to_go_[component][offset(node.phase, node.pointers) + node.tile];
  }
  const NodeIndex& nodes() const { return nodes_; }
  // Does anything of interest lead on from there?
  bool is_live(std::size_t phase, std::size_t pointers) const {
    return live_[phase * nodes_.pointers() + pointers] != 0;
  }
  // The energies at all tiles.
  const double* row(std::size_t phase, std::size_t pointers) const {
    return to_go_[0].get() + offset(phase, pointers);
  }

 private:
  std::size_t offset(std::size_t phase, std::size_t pointers) const {
    return offsets_[phase * nodes_.pointers() + pointers];
  }
  struct Row {
    std::size_t phase = 0;
    std::size_t pointers = 0;
  };
  std::vector<Row> rows(const Skeleton& skeleton) const;
  std::vector<std::span<const Row>> parts(const Skeleton& skeleton, const Unrolled& unrolled,
                                          std::span<const Row> rows) const;
  void make_room(std::size_t component, std::size_t size);
  void fill_together(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                     const Hopeless& hopeless, std::span<const Row> rows);
  void prepare(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
               std::span<const Row> rows) const;
  template <class CostTables>
  void fill(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs,
            std::size_t component, const Hopeless& hopeless, std::span<const Row> rows);
  template <class CostTables>
  bool fill_row(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs,
                std::size_t component, std::size_t phase, std::size_t pointers);
  template <class CostTables>
  bool relax_jump(const Skeleton& skeleton, const Lattice& lattice, CostTables& costs,
                  std::size_t component, std::size_t phase, const Skeleton::Jump& jump,
                  double* row) const;
  bool copy_behind(const Skeleton& skeleton, const Unrolled& unrolled, std::size_t component,
                   std::size_t phase, std::size_t pointers);
  bool relax_loops(const Skeleton& skeleton, const Lattice& lattice, std::size_t phase,
                   std::size_t pointers, DimSet& neutral, double* to_go) const;

  NodeIndex nodes_;
  std::vector<char> live_;            // per phase and pointers; found with the energies
  std::vector<std::size_t> offsets_;  // of the rows; those that are not live share the first one
  std::size_t longest_ = 0;           // tiles of a lattice
  std::size_t filled_ = 0;            // rows before this are known
  std::vector<std::unique_ptr<double[]>> to_go_;
};

}  // namespace mapsim::exact
