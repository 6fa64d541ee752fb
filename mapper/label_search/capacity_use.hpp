// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mapper/label_search/instance.hpp"

namespace mapsim::exact {

// Adds to the values of a label that starts what the outermost level holds: every tensor, whole.
// `slots`: where the values have what is used of a capacity, if they do. False: it does not fit.
bool occupy_start(const StateGraph& graph, std::size_t residency,
                  std::span<const std::optional<std::size_t>> slots, double* values);

// What is used of each capacity that a search carries in its labels: the shared ones, and the
// measured one, which has no limit. Their values follow a label's `first` values.
class CapacityUse {
 public:
  CapacityUse(Instance& instance, std::optional<std::size_t> measured, std::size_t first);

  std::size_t width() const { return width_; }  // of all values of a label
  // Where a label's values have what is used of a capacity.
  const std::optional<std::size_t>& slot(std::size_t capacity) const { return slots_[capacity]; }
  std::span<const std::optional<std::size_t>> slots() const { return slots_; }
  // Where all that can still enter a capacity fits in, what is used of it is of no interest any
  // more and becomes 0.
  void drop_non_binding(const Node& node, double* values);

 private:
  // Per tensor that can still enter: the bits of its tiles, by tile. Tiles only shrink.
  struct Entrants {
    bool known = false;      // are they listed?
    bool unbounded = false;  // one has no table
    std::vector<const double*> bits;
  };
  const Entrants& entrants(std::size_t capacity, const Node& node);
  double most(std::size_t capacity, const Node& node);

  Instance& instance_;
  std::vector<std::optional<std::size_t>> slots_;  // per capacity
  std::vector<std::size_t> filling_;               // shared capacities that fill up on the way
  std::size_t width_;
  std::vector<Entrants> entrants_;  // per capacity, stage, residency
};

}  // namespace mapsim::exact
