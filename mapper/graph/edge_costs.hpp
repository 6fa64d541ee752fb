// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/boundary_cost.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/lattice.hpp"
#include "mapper/graph/sparse_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/valuation.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// What boundaries cost on the lattices of one unrolling: the components of resource_vector.hpp. A
// edge's tables are over the tiles of the lattice behind the fanouts that it has crossed.
class EdgeCosts {
 public:
  // Tables are counted, and made, within `deadline`, if there is one: else OutOfBudget.
  EdgeCosts(const StateGraph& graph, const Unrolled& unrolled, Tracked tracked,
            const Deadline* deadline = nullptr);

  const Deadline* deadline() const { return deadline_; }
  // What the tables of all edges of interest take, without those of windows that slide [B].
  double bytes() const;

  std::size_t components() const { return components_; }
  // No nest of interest has these edges: they cost infinitely much, and nothing is computed.
  // Before anything is asked of them.
  void leave_out(std::vector<bool> edges);
  bool is_left_out(std::size_t edge) const { return !left_out_.empty() && left_out_[edge]; }
  // Makes all tables of edges that moves of a tensor use, one to a task: whatever threads the
  // caller's team has to spare take part. From then on threads may ask for them at once, and for
  // mac() of what has been asked before. Several tensors may be prepared at once.
  void prepare(TensorId t);
  void prepare();  // all of them
  // Of an edge at every tile: [component * tiles + tile]. Infinite where the tile does not fit by
  // itself, or the width of its sums contradicts that at the residence above.
  const std::vector<double>& plain(std::size_t edge);
  // The same right below a loop that slides along one of the lattice's runs over `dim`:
  // [(component * runs + run) * rests + rest], where `rest` is Lattice::rest of the tile.
  const std::vector<double>& sliding(std::size_t edge, DimId dim);
  // Bits that a tile takes of its capacity: [tile]; infinite for one that a rule forbids.
  const std::vector<double>& bits(std::size_t edge);
  // Elements of a tile in one instance of where it is placed: [tile].
  const std::vector<double>& elements(std::size_t edge);
  // Of the compute units: their operations and accesses, at a tile of the last lattice with all
  // extents 1. Infinite where a width contradicts.
  std::vector<double> mac(const std::vector<std::size_t>& edges, std::size_t tile);

 private:
  // The flow at an end of a boundary, as volumes.
  struct End {
    Volume crossing;
    Volume met;  // outputs: distinct sums of the whole run, which cross without coming down first
  };
  // The network of a fanout between child and parent.
  struct Network {
    bool merges = false;
    NetworkEnergy energy;
    double route = 0;       // mean hops of a group of instances that it serves together
    double group_size = 1;  // instances of a group
    End outer;              // what leaves it at its outer end, if it merges; what was met there
  };
  // Everything about a boundary that does not depend on the tile.
  struct Terms {
    BoundaryCost cost;
    bool output = false;
    bool has_child = false;
    bool slides = false;
    End parent, child;                           // totals over instances
    End busy_parent, busy_child;                 // of the first instance
    std::vector<Network> networks;               // of fanouts between, innermost first
    const std::vector<double>* tile = nullptr;   // elements of the child's tile, per tile
    const std::vector<double>* trips = nullptr;  // per tile
    FlowsByTile nonzeros;                        // of a machine that knows of zeros
  };

  Terms make_terms(const BoundaryEdge& edge);
  Volume volume(TensorId t, const Sharing& sharing) {
    return volumes_[index_of(t)].make(t, sharing);
  }
  double made_by_entry() const;
  BoundaryCost boundary_cost(const BoundaryEdge& edge, bool has_child) const;
  void set_met(const BoundaryEdge& edge, std::size_t parent_fanouts, std::size_t child_fanouts,
               std::size_t crossed, Terms& terms);
  void add_networks(const BoundaryEdge& edge, Sharing sharing, bool together, Terms& terms);
  double networks_pj(const Terms& terms, double entering, double trips, std::size_t tile,
                     Slide slide) const;
  const Terms& terms(std::size_t edge);
  void evaluate(const Terms& terms, double trips, std::size_t tile, Slide slide, double* out,
                std::size_t step) const;
  // What the rows of an edge's table are made of.
  struct Table {
    const Terms& terms;
    const std::vector<double>& trips;
    const std::vector<double>& bits;
    double most = 0;  // bits
  };
  const Table& table(std::size_t edge);
  void evaluate_row(const Table& table, std::size_t first, std::size_t size, Slide slide,
                    double* out, std::size_t step) const;
  std::size_t row_size(const Lattice& lattice) const;
  const std::vector<double>& footprints(TensorId t, std::size_t crossed, std::size_t fanouts_above);
  void multiply_rank(const Lattice& lattice, const Rank& rank, std::size_t fanouts_above,
                     std::vector<double>& points) const;
  const std::vector<double>& trips(TensorId t, std::size_t crossed);
  const Lattice& lattice_of(std::size_t edge) const;
  // Bits that a tile may take by itself: of a capacity all, of a latch those of one element.
  double limit(std::size_t edge) const;
  void forbid(const BoundaryEdge& edge, std::vector<double>& bits) const;
  std::int64_t real_extent(const Lattice& lattice, DimId d, std::size_t digit,
                           std::size_t fanouts_above) const;

  // Grows a table to so many numbers.
  void grow(std::vector<double>& table, std::size_t size);

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  const Deadline* deadline_;
  Held held_;
  std::vector<VolumeFactory> volumes_;  // per tensor, as all that threads fill in
  Tracked tracked_;
  std::size_t components_;
  std::vector<bool> left_out_;    // per edge; none: all of them count
  std::vector<double> infinite_;  // the tables of those
  std::vector<std::optional<Terms>> terms_;
  std::vector<std::optional<Table>> tables_;
  std::vector<std::vector<double>> plain_;
  std::vector<PerDim<std::vector<double>>> sliding_;
  std::vector<std::vector<double>> bits_;
  PerTensor<std::map<std::pair<std::size_t, std::size_t>, std::vector<double>>> footprints_;
  PerTensor<std::map<std::size_t, std::vector<double>>> trips_;
};

}  // namespace mapsim::exact
