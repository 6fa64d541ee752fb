// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mapper/exact/alone.hpp"
#include "mapper/exact/costs.hpp"
#include "mapper/exact/nodes.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

// The least that is still to pay from each node to the end, per component, when every tile has its
// room for itself: the exact shortest path of that relaxed problem, found from the inside out. So
// it never overestimates, and along an edge it falls by at most the edge's cost (admissible,
// consistent).
class Bound {
 public:
  // The nodes that are of interest: others may be left at infinity, and what leads to them need not
  // be looked at. Those through which a nest needs no more than `most` [pJ], as far as `alone` can
  // tell, or else what every nest has paid when it gets to a row.
  struct Scope {
    const Alone* alone = nullptr;
    double most = std::numeric_limits<double>::infinity();
    std::vector<char> reachable{};  // by phase and pointers; none: all rows
  };
  // All tables of the costs are made. Idle threads of the team take part.
  Bound(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs, const Scope& scope);
  double at(const Node& node, std::size_t component) const {
    return to_go_[component][place(node)];
  }
  const NodeIndex& nodes() const { return nodes_; }
  // Where a node that leads on stands among those of all live rows: 0 .. places() - 1.
  std::size_t place(const Node& node) const {
    return offset(node.phase, node.pointers) + node.tile;
  }
  std::size_t places() const { return filled_; }
  // Does anything of interest lead on from there?
  bool is_live(std::size_t phase, std::size_t pointers) const {
    return live_[phase * nodes_.pointers() + pointers] != 0;
  }
  // The energies at all tiles.
  const double* row(std::size_t phase, std::size_t pointers) const {
    return to_go_[0].get() + offset(phase, pointers);
  }

 private:
  struct Row {
    std::size_t component = 0;
    std::size_t phase = 0;
    std::size_t pointers = 0;
    const Lattice& lattice;
    std::span<const std::uint32_t> tiles;  // of interest; none listed: all
  };
  struct Digits {  // of a lattice's tiles; Lattice::rest
    PerDim<std::vector<std::uint16_t>> digits;
    PerDim<std::vector<std::uint32_t>> rests;
  };

  std::size_t index(std::size_t phase, std::size_t pointers) const {
    return phase * nodes_.pointers() + pointers;
  }
  std::size_t offset(std::size_t phase, std::size_t pointers) const {
    return offsets_[index(phase, pointers)];
  }
  double* begin(const Row& row) {
    return to_go_[row.component].get() + offset(row.phase, row.pointers);
  }
  const double* begin(std::size_t component, std::size_t phase, std::size_t pointers) const {
    return to_go_[component].get() + offset(phase, pointers);
  }
  std::span<const std::uint32_t> listed(std::size_t index) const {
    const Lattice::Range range = ranges_.empty() ? Lattice::Range{} : ranges_[index];
    return std::span(tiles_.data() + range.first, range.last - range.first);
  }
  void make_room(std::size_t component, std::size_t size);
  void fill_together(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                     const Scope& scope, std::span<const RowId> rows);
  void settle(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs, const Scope& scope,
              Alone::Selection* selection, std::span<const RowId> rows);
  void follow(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
              std::size_t component, std::span<const RowId> rows);
  bool fill(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs, const Row& row);
  bool list(std::size_t index, std::span<const std::uint32_t> tiles);
  bool keep_near(const Skeleton& skeleton, const Row& row, const Scope& scope);
  bool fill_row(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs, const Row& row);
  void keep_listed(const Row& row);
  bool relax_jump(const Skeleton& skeleton, Costs& costs, const Row& row,
                  const Skeleton::Jump& jump);
  bool copy_behind(const Skeleton& skeleton, const Unrolled& unrolled, const Row& row);
  bool relax_loops(const Skeleton& skeleton, const Row& row, DimSet& neutral);
  std::vector<const double*> rows_behind(const Skeleton& skeleton, const Row& row, DimId dim,
                                         std::size_t pointers,
                                         const std::vector<Lattice::Run>& runs) const;
  // The same of listed tiles (bound_tiles.cpp).
  void make_digits(const Unrolled& unrolled);
  bool fill_tiles(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs, const Row& row);
  bool relax_jump_of_tiles(const Skeleton& skeleton, Costs& costs, const Row& row,
                           const Digits& digits, const Skeleton::Jump& jump);
  bool relax_loops_of_tiles(const Skeleton& skeleton, const Row& row, const Digits& digits);

  NodeIndex nodes_;
  std::vector<char> live_;            // per phase and pointers; found with the energies
  std::vector<std::size_t> offsets_;  // of the rows; those that are not live share the first one
  std::size_t longest_ = 0;           // tiles of a lattice
  std::size_t filled_ = 0;            // rows before this are known
  std::vector<std::unique_ptr<double[]>> to_go_;
  std::vector<Lattice::Range> ranges_;  // of tiles_, by phase and pointers; none: all tiles
  std::vector<std::uint32_t> tiles_;
  std::vector<double> paid_;    // at those of a row
  std::vector<Digits> digits_;  // per lattice, if tiles are listed
};

}  // namespace mapsim::exact
