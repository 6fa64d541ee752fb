// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mapper/label_search/instance.hpp"

namespace mapsim::exact {

// Adds to the values of a label that starts what the outermost level holds: every tensor, whole.
// `slots`: where the values have what is used of a room, if they do. False: it does not fit.
bool occupy_start(const StateGraph& graph, std::size_t residency,
                  std::span<const std::optional<std::size_t>> slots, double* values);

// What is used of each room that a search carries in its labels: the contended ones, and the
// measured one, which has no limit. Their values follow a label's `first` values.
class CapacityUse {
 public:
  CapacityUse(Instance& instance, std::optional<std::size_t> measured, std::size_t first);

  std::size_t width() const { return width_; }  // of all values of a label
  // Where a label's values have what is used of a room.
  const std::optional<std::size_t>& slot(std::size_t room) const { return slots_[room]; }
  std::span<const std::optional<std::size_t>> slots() const { return slots_; }
  // Where all that can still enter a room fits in, what is used of it is of no interest any more
  // and becomes 0.
  void forget(const Node& node, double* values);

 private:
  // Per tensor that can still enter: the bits of its tiles, by tile. Tiles only shrink.
  struct Entrants {
    bool known = false;      // are they listed?
    bool unbounded = false;  // one has no table
    std::vector<const double*> bits;
  };
  const Entrants& entrants(std::size_t room, const Node& node);
  double most(std::size_t room, const Node& node);

  Instance& instance_;
  std::vector<std::optional<std::size_t>> slots_;  // per room
  std::vector<std::size_t> filling_;               // contended rooms that fill up on the way
  std::size_t width_;
  std::vector<Entrants> entrants_;  // per room, stage, residency
};

}  // namespace mapsim::exact
