// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "arch/arch.hpp"
#include "core/index.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

// Does traffic from `parent` to `child` (nullopt: the compute units) pass the network of `fanout`,
// and does the fanout state the energy of a hop?
bool asks_for_hops(const Arch& arch, FanoutId fanout, LevelId parent, std::optional<LevelId> child);

// Hops of `words` that enter at the outer end of a network. They are `routed` to groups (a word
// that several groups want counts for each), over `hops` in all. Such a word (the halo of a window)
// enters once, over a route of mean length, and each further group gets it from its neighbour. Sums
// that come back down take the same way.
double word_hops(double words, double routed, double hops, double returns);

// The routes through the network of one fanout (docs/model.md#networks), a mesh of columns along X
// and rows along Y, on which the nest's loops place instances, outer loops further apart. Words
// enter next to the first column, at the middle of the rows, travel to the last column with
// receivers, and up and down each column as far as its receivers. Instances that differ in `shared`
// dims only are one group, which is served together.
class Routes {
 public:
  // `loops`: all of the nest's, or those over the fanout.
  Routes(std::span<const NestLoop> loops, FanoutId fanout, std::int64_t rows, DimSet shared);

  // Does the loop tell groups apart?
  bool separates(const NestLoop& loop) const {
    return loop.fanout == fanout_ && !shared_.contains(loop.dim);
  }
  std::int64_t groups() const { return groups_; }
  std::int64_t group_size() const { return group_size_; }
  // Twice the hops to the group whose first instance is there. Hops are multiples of 1/2, if the
  // number of rows is even.
  std::int64_t half_hops(std::int64_t column, std::int64_t row) const;
  std::int64_t half_hops() const;  // of all groups together

 private:
  std::int64_t reach(std::int64_t row) const;  // up and down one column
  std::int64_t total_reach(std::size_t from, std::int64_t row) const;

  std::span<const NestLoop> loops_;
  FanoutId fanout_;
  std::int64_t rows_;
  DimSet shared_;
  std::int64_t groups_ = 1;
  std::int64_t group_size_ = 1;
  std::int64_t row_groups_ = 1;    // groups one above the other
  std::int64_t last_columns_ = 0;  // of the groups of one row, added up
  std::int64_t columns_ = 1;       // of one group
  std::int64_t column_span_ = 0;   // from the first instance of a group to its last
  std::int64_t row_span_ = 0;
};

}  // namespace mapsim
