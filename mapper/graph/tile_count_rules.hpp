// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/graph/extent_lattice.hpp"
#include "mapper/graph/state_graph.hpp"

namespace mapsim::imperfect {

// Rules for the number of tiles that a region makes of a dim: ceil(extent where it begins / extent
// where it ends), with imperfect factors.
//
// Labels remember where their region began, so they are checked exactly: region_start(), may_end().
// The completion bound does not remember it. It asks of each extent by itself whether a region
// could begin or end there: close_beginnings(), close_ends(). The beginning of the first region and
// the end of the last one are known, so with one fanout both checks agree.
class TileCountRules {
 public:
  TileCountRules(const exact::StateGraph& graph, const ExtentLattice& tiles);

  bool is_empty() const { return is_empty_; }  // no rule restricts a number of tiles
  // The tile at which the region of a stage begins, reduced to the dims that its rules restrict.
  // Labels carry it until the region ends.
  std::size_t region_start(std::size_t stage, std::size_t tile) const;
  // May the region of a stage end at `tile` if it began at `region_start`? Not for coarse lattices.
  bool may_end(std::size_t stage, std::size_t region_start, std::size_t tile) const;
  // May it end at `tile` or, after more loops, at a smaller one? Not for coarse lattices.
  bool may_still_end(std::size_t stage, std::size_t region_start, std::size_t tile) const;
  // Set the entries of a row to infinity at tiles at which no region of this stage can begin, or
  // end.
  void close_beginnings(std::size_t stage, double* row) const;
  void close_ends(std::size_t stage, double* row) const;
  // The same question for one tile.
  bool is_beginning(std::size_t stage, std::size_t tile) const {
    return is_open(beginnings_[stage], tile);
  }
  bool is_end(std::size_t stage, std::size_t tile) const { return is_open(ends_[stage], tile); }

 private:
  using Bins = PerDim<std::vector<bool>>;  // of a dim without entries: every bin
  void find_lowest(std::size_t stage);
  Bins bins(std::size_t stage, bool beginning) const;
  bool meets(const Region& region, DimId d, std::int64_t extent, std::size_t index,
             bool beginning) const;
  void close(const Bins& open, double* row) const;
  bool is_open(const Bins& open, std::size_t tile) const;

  const exact::StateGraph& graph_;
  const ExtentLattice& tiles_;
  bool is_empty_ = true;
  std::vector<Bins> beginnings_, ends_;  // per stage, where a region can begin or end
  // Per stage, dim and bin where the region begins: the lowest bin where it may end.
  std::vector<PerDim<std::vector<std::size_t>>> lowest_;
};

}  // namespace mapsim::imperfect
