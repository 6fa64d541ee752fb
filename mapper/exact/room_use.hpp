// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "mapper/exact/instance.hpp"

namespace mapsim::exact {

// What is used of each room that a search carries in its labels: the contended ones, and the
// measured one, which has no limit. Their values follow a label's `first` values.
class RoomUse {
 public:
  RoomUse(Instance& instance, std::optional<std::size_t> measured, std::size_t first);

  std::size_t width() const { return width_; }  // of all values of a label
  // Where a label's values have what is used of a room.
  const std::optional<std::size_t>& slot(std::size_t room) const { return slots_[room]; }
  // The contended rooms that fill up on the way.
  const std::vector<std::size_t>& filling() const { return filling_; }

  // Where all that can still enter a room fits in, what is used of it is of no interest any more
  // and becomes 0.
  void forget(const Node& node, double* values);
  // Bits that may still enter a filling room: no more than are left.
  double to_come(std::size_t room, const Node& node, const double* values);

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
  std::vector<std::size_t> filling_;
  std::size_t width_;
  std::vector<Entrants> entrants_;  // per room, phase, pointers
};

}  // namespace mapsim::exact
