// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interop/timeloop.hpp"
#include "interop/timeloop_rules.hpp"

namespace mapsim {

// A boundary of one tensor: from storage `parent` to the tiles of storage `child`, whose extents
// are those of the blocks from `child` on. If `child` is the number of storages, they are those of
// MACs.
struct TimeloopBoundary {
  TensorId tensor{};
  std::size_t parent = 0;
  std::size_t child = 1;
};

// Transfers that serve `multicast` children each, `scatter` transfers in a step.
struct TimeloopTransfers {
  std::int64_t multicast = 1;
  std::int64_t scatter = 1;
  double words = 0;      // of the first parent instance
  double word_hops = 0;  // words times the hops of their multicast trees, a mean over the scatter
  friend bool operator==(const TimeloopTransfers&, const TimeloopTransfers&) = default;
};

// The traffic of a boundary below the first parent instance.
struct TimeloopCrossing {
  std::vector<TimeloopTransfers> transfers;  // by multicast, then scatter
  double link_words = 0;                     // words from neighbour to neighbour
  double first_child = 0;                    // words that the first child receives
  std::int64_t fanout = 1;                   // children if no loop is partial
  double sent = 0;                           // words received, summed over children
  double words() const;                      // words read for all transfers
};

// Counts the traffic by walking the loops above the child. Only rules about that have an effect.
TimeloopCrossing cross(const TimeloopDesign& design, const TimeloopBoundary& boundary,
                       TimeloopRules rules);

// Number of points of a tensor's tile at `block`, as a hull or exactly.
std::int64_t timeloop_tile(const TimeloopDesign& design, TensorId tensor, std::size_t block,
                           bool hull);
// The same for all children below one instance of `block` together, as a hull.
std::int64_t timeloop_group_tile(const TimeloopDesign& design, TensorId tensor, std::size_t block);

}  // namespace mapsim
