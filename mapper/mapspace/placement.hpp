// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/index.hpp"
#include "mapper/mapspace/loop_order_automaton.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::nests {

// A level in a chain: the sets of tensors that it may keep, and whether it must keep one of them.
struct ChainLevel {
  std::vector<TensorSet> choices;
  bool required = false;
};

// The order in which levels are placed: each strictly further in than the one before. Uneven
// mappings have a chain per tensor, whose levels keep that tensor or nothing. Even mappings have a
// single chain, whose levels choose among sets of tensors.
using Chain =
    PerLevel<ChainLevel>;  // the outermost level is not part of it: its entry has no choices

// How much of a nest is placed, from the outside in.
struct Cursor {
  std::size_t fanouts = 0;                       // used fanouts placed
  std::array<std::uint8_t, kMaxTensors> last{};  // per chain: the last level placed
  std::uint64_t key() const;                     // distinct for distinct cursors
};

// A point of a nest, which lies between two loops: the keeps there, and the used fanouts
// [first_fanout, end_fanout).
struct Point {
  PerLevel<TensorSet> keeps;
  std::size_t first_fanout = 0;
  std::size_t end_fanout = 0;
};

// Where keeps and fanouts may stand, for one set of used fanouts. Stages lie between used fanouts.
// A level is placed behind the fanouts above it and before those below it; it may share a point
// with them. An unused fanout has no nodes, so the levels around it belong to one stage.
class Placements {
 public:
  Placements(const Mapspace& space, std::vector<FanoutId> used);
  Placements(const Mapspace& space, const UnrollingClass& unrolling_class);

  const std::vector<Chain>& chains() const { return chains_; }
  const std::vector<FanoutId>& used_fanouts() const { return used_; }
  // Levels [first_level(p), end_level(p)) belong to stage p = 0..used_fanouts().size().
  std::size_t first_level(std::size_t stage) const { return bounds_[stage]; }
  std::size_t end_level(std::size_t stage) const { return bounds_[stage + 1]; }
  const Regions& regions() const { return regions_; }
  // The region of the loops right below a point.
  std::size_t region(const Cursor& cursor) const {
    return regions_.below(cursor.fanouts, cursor.last[0]);
  }

  // Calls `visit` with every way to fill the next point that is not empty, and with the cursor
  // behind it, in a fixed order. No way skips a required level.
  using Visit = std::function<void(const Point&, const Cursor&)>;
  void for_each_point(const Cursor& from, const Visit& visit) const;
  // May the nest end here?
  bool is_complete(const Cursor& cursor) const;

 private:
  struct Step;
  void choose(Step& step, std::size_t chain, std::size_t level) const;
  bool requires_any(std::size_t chain, std::size_t begin, std::size_t end) const;

  std::vector<FanoutId> used_;
  Regions regions_;
  std::vector<Chain> chains_;
  std::vector<std::size_t> bounds_;  // first level of each stage, then the number of levels
};

// The used fanouts of a class.
std::vector<FanoutId> used_fanouts(const UnrollingClass& unrolling_class);

}  // namespace mapsim::nests
