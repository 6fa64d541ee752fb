// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/graph/imperfect_tiles.hpp"
#include "mapper/graph/state_graph.hpp"

namespace mapsim::imperfect {

// Rules for how many tiles a region makes of a dim, ceil(extent above / extent below). Labels
// remember where their region began and ask exactly; the completion bound does not, and asks of
// each extent alone whether a region may begin or end there: of the first region the beginning is
// known, of the last one the end, so that with one fanout it is as exact.
class Gates {
 public:
  Gates(const exact::StateGraph& graph, const Tiles& tiles);

  bool are_open() const { return open_; }  // there are no such rules
  // The digits of a tile that the region of a stage asks about when it ends.
  std::size_t begun(std::size_t stage, std::size_t tile) const;
  // May the region of a stage that has begun so end at this tile? Not of a coarse lattice.
  bool may_end(std::size_t stage, std::size_t begun, std::size_t tile) const;
  // May it end at this tile or, after more loops, at one below it? Not of a coarse lattice.
  bool may_still_end(std::size_t stage, std::size_t begun, std::size_t tile) const;
  // Makes infinite what lies at tiles at which no region of this stage can begin, or end.
  void close_beginnings(std::size_t stage, double* row) const;
  void close_ends(std::size_t stage, double* row) const;
  // The same of one tile.
  bool is_beginning(std::size_t stage, std::size_t tile) const {
    return is_open(beginnings_[stage], tile);
  }
  bool is_end(std::size_t stage, std::size_t tile) const { return is_open(ends_[stage], tile); }

 private:
  using Bins = PerDim<std::vector<bool>>;  // of a dim none: every bin
  void find_lowest(std::size_t stage);
  Bins bins(std::size_t stage, bool beginning) const;
  bool meets(const Region& region, DimId d, std::int64_t extent, std::size_t index,
             bool beginning) const;
  void close(const Bins& open, double* row) const;
  bool is_open(const Bins& open, std::size_t tile) const;

  const exact::StateGraph& graph_;
  const Tiles& tiles_;
  bool open_ = true;
  std::vector<Bins> beginnings_, ends_;  // per stage, where a region can begin or end
  // Per stage, dim and bin where the region begins: the lowest bin where it may end.
  std::vector<PerDim<std::vector<std::size_t>>> lowest_;
};

}  // namespace mapsim::imperfect
