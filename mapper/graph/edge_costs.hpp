// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/boundary_cost.hpp"
#include "mapper/deadline.hpp"
#include "mapper/graph/divisor_lattice.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/graph/sparse_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// The costs of boundary edges with perfect factors, as tables over tiles: every component of
// costmodel/resource_vector.hpp. The tables of an edge are over the lattice behind the fanouts that
// were crossed before it (BoundaryEdge::crossed).
class EdgeCosts {
 public:
  // `deadline` limits the time and memory for tables, if given. Beyond it OutOfBudget is thrown.
  EdgeCosts(const StateGraph& graph, const Unrolled& unrolled, Tracked tracked,
            const Deadline* deadline = nullptr);

  const Deadline* deadline() const { return deadline_; }
  // Memory that the tables of all edges take that are not left out, without those of sliding-window
  // edges [B].
  double bytes() const;

  std::size_t components() const { return components_; }
  // These edges are infinitely expensive, and nothing is computed for them. Call it before anything
  // else.
  void leave_out(std::vector<bool> edges);
  bool is_left_out(std::size_t edge) const { return !left_out_.empty() && left_out_[edge]; }
  // Makes all tables of the edges in moves of a tensor, as one task per table: idle threads of the
  // caller's team take part. Afterwards threads may read these tables at once, and may call mac()
  // with edges for which it has been called before. Threads may prepare several tensors at once.
  void prepare(TensorId t);
  void prepare();  // of all tensors
  // The cost of an edge at every tile: [component * tiles + tile]. Infinite where the tile alone
  // exceeds its capacity, or where the width of its sums contradicts the residence further out.
  const std::vector<double>& plain(std::size_t edge);
  // The cost of an edge right below a loop over `dim` along which its tile slides:
  // [(component * loops + loop) * rests + rest]. `loop` is an index into DivisorLattice::loops, and
  // `rest` is DivisorLattice::rest of the tile.
  const std::vector<double>& sliding(std::size_t edge, DimId dim);
  // Bits of capacity that a tile takes: [tile]. Infinite where a rule forbids the tile.
  const std::vector<double>& bits(std::size_t edge);
  // Elements of the tile in one instance of the residence further in: [tile].
  const std::vector<double>& elements(std::size_t edge);
  // The operations of the compute units and their accesses through these edges, at a tile of the
  // last lattice whose extents are all 1. Infinite where a width contradicts.
  std::vector<double> mac(const std::vector<std::size_t>& edges, std::size_t tile);

 private:
  // The elements that cross at one end of a boundary.
  struct End {
    Volume crossing;
    Volume met;  // outputs: distinct sums of the whole run; their first crossing reads nothing back
  };
  // The network of a fanout between the two ends of a boundary.
  struct Network {
    bool merges = false;
    NetworkEnergy energy;
    double route = 0;       // mean hops to a group of instances that is served together
    double group_size = 1;  // instances of a group
    End outer;  // the elements at its outer end: crossing, if it merges; sums met, if hops cost
  };
  // The part of a boundary's cost that depends on the graph only, not on the tile.
  struct Coefficients {
    BoundaryCost cost;
    bool output = false;
    bool has_child = false;
    bool slides = false;
    End parent, child;                          // all instances
    End busy_parent, busy_child;                // the first instance
    std::vector<Network> networks;              // of the fanouts between the ends, innermost first
    const std::vector<double>* tile = nullptr;  // elements of the child's tile, per tile
    // Visits of the tile by loops over dims d not in t, prod of E_d/T_d: per tile.
    const std::vector<double>* visits = nullptr;
    FlowsByTile nonzeros;  // of a machine that exploits zeros
  };

  Coefficients make_coefficients(const BoundaryEdge& edge);
  Volume volume(TensorId t, const Sharing& sharing) {
    return volumes_[index_of(t)].make(t, sharing);
  }
  double made_by_entry() const;
  BoundaryCost boundary_cost(const BoundaryEdge& edge, bool has_child) const;
  void add_networks(const BoundaryEdge& edge, Sharing sharing, bool together,
                    Coefficients& coefficients);
  double networks_pj(const Coefficients& coefficients, double entering, double visits,
                     std::size_t tile, SlidingLoop slide) const;
  const Coefficients& coefficients(std::size_t edge);
  void evaluate(const Coefficients& coefficients, double visits, std::size_t tile,
                SlidingLoop slide, double* out, std::size_t step) const;
  // The inputs of the rows of an edge's table.
  struct Table {
    const Coefficients& coefficients;
    const std::vector<double>& visits;
    const std::vector<double>& bits;
    double most = 0;  // bits that a tile may take
  };
  const Table& table(std::size_t edge);
  void evaluate_row(const Table& table, std::size_t first, std::size_t size, SlidingLoop slide,
                    double* out, std::size_t step) const;
  std::size_t row_size(const DivisorLattice& lattice) const;
  const std::vector<double>& footprints(TensorId t, std::size_t crossed, std::size_t fanouts_above);
  void multiply_rank(const DivisorLattice& lattice, const Rank& rank, std::size_t fanouts_above,
                     std::vector<double>& points) const;
  const std::vector<double>& visits(TensorId t, std::size_t crossed);
  const DivisorLattice& lattice_of(std::size_t edge) const;
  // Bits that a tile may take: all of a capacity, or one element of a register.
  double limit(std::size_t edge) const;
  void forbid(const BoundaryEdge& edge, std::vector<double>& bits) const;
  std::int64_t real_extent(const DivisorLattice& lattice, DimId d, std::size_t digit,
                           std::size_t fanouts_above) const;

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  const Deadline* deadline_;
  HeldMemory held_;
  std::vector<VolumeFactory> volumes_;  // per tensor, so that threads can fill them at once
  Tracked tracked_;
  std::size_t components_;
  std::vector<bool> left_out_;    // per edge; empty: none is left out
  std::vector<double> infinite_;  // the table of the edges that are left out
  std::vector<std::optional<Coefficients>> coefficients_;
  std::vector<std::optional<Table>> tables_;
  std::vector<std::vector<double>> plain_;
  std::vector<PerDim<std::vector<double>>> sliding_;
  std::vector<std::vector<double>> bits_;
  PerTensor<std::map<std::pair<std::size_t, std::size_t>, std::vector<double>>> footprints_;
  PerTensor<std::map<std::size_t, std::vector<double>>> visits_;
};

}  // namespace mapsim::exact
