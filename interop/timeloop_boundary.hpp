// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interop/timeloop.hpp"
#include "interop/timeloop_rules.hpp"

namespace mapsim {

// A boundary of one tensor: from storage `parent` to the tile that the blocks from `child` on make;
// child = number of storages: the MACs.
struct TimeloopBoundary {
  TensorId tensor{};
  std::size_t parent = 0;
  std::size_t child = 1;
};

// Transfers that serve `multicast` children each, `scatter` of them in a step.
struct TimeloopTransfers {
  std::int64_t multicast = 1;
  std::int64_t scatter = 1;
  double words = 0;      // of the first parent instance
  double word_hops = 0;  // words times the hops of their trees, on average over the scatter
  friend bool operator==(const TimeloopTransfers&, const TimeloopTransfers&) = default;
};

// What crosses a boundary below the first parent instance.
struct TimeloopCrossing {
  std::vector<TimeloopTransfers> transfers;  // by multicast, then scatter
  double link_words = 0;                     // from neighbour to neighbour
  double first_child = 0;                    // words that the first child takes in
  std::int64_t fanout = 1;                   // children, nominally
  double sent = 0;                           // words that transfers bring, child by child
  double words() const;                      // read for all transfers
};

// Walks the loops above the child, under these rules. Rules about anything else do not matter.
TimeloopCrossing cross(const TimeloopDesign& design, const TimeloopBoundary& boundary,
                       TimeloopRules rules);

// Loops of the blocks from `block` on: points of one tile of a tensor, as a hull or exactly.
std::int64_t timeloop_tile(const TimeloopDesign& design, TensorId tensor, std::size_t block,
                           bool hull);
// The same for all children below one instance of `block` together, as a hull.
std::int64_t timeloop_group_tile(const TimeloopDesign& design, TensorId tensor, std::size_t block);

}  // namespace mapsim
