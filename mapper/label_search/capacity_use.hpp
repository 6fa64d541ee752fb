// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "mapper/label_search/search_tables.hpp"

namespace mapsim::exact {

// The capacities whose use labels carry: those with a limit that several tensors share, and the
// measured one, which has no limit. A use [b] is a value of the label, behind its `first` other
// values.
class CarriedCapacities {
 public:
  CarriedCapacities(const StateGraph& graph, std::optional<std::size_t> measured,
                    std::size_t first);

  std::size_t width() const { return width_; }  // number of values of a label
  // The index of a capacity's use in a label's values; nullopt: not carried.
  const std::optional<std::size_t>& slot(std::size_t capacity) const { return slots_[capacity]; }
  // Is the tile of an edge added to some use?
  bool takes(std::size_t edge) const { return slot_of_edge_[edge].has_value(); }
  // Adds it. Returns false if it does not fit with the others.
  bool add(std::size_t edge, double bits, double* values) const {
    const std::optional<std::size_t>& slot = slot_of_edge_[edge];
    return !slot || (values[*slot] += bits) <= limits_[*slot - first_];
  }
  // Adds what the outermost level holds before the nest, every tensor whole, to the values of a
  // start label. Returns false if it does not fit.
  bool add_start(std::size_t residency, double* values) const;

 private:
  const StateGraph& graph_;
  std::size_t first_;
  std::size_t width_;
  std::vector<std::optional<std::size_t>> slots_;         // per capacity
  std::vector<std::optional<std::size_t>> slot_of_edge_;  // per edge
  std::vector<double> limits_;                            // per use [b]
};

// With perfect factors a capacity is dropped as soon as it cannot bind any more.
class CapacityUse : public CarriedCapacities {
 public:
  CapacityUse(SearchTables& tables, std::optional<std::size_t> measured, std::size_t first);

  // A capacity cannot bind any more once its use plus everything that can still enter it fits. Its
  // use is then set to 0, so that it no longer prevents dominance.
  void drop_non_binding(const Node& node, double* values);

 private:
  // The tensors that can still enter a capacity, and for each the bits of its tiles, by tile.
  // Extents only shrink, so the current tile bounds what enters later.
  struct Entrants {
    bool known = false;      // have they been determined?
    bool unbounded = false;  // some tensor has no such table: it enters behind a fanout
    std::vector<const double*> bits;
  };
  const Entrants& entrants(std::size_t capacity, const Node& node);
  double most(std::size_t capacity, const Node& node);

  SearchTables& tables_;
  // Carried capacities that can become non-binding: shared, with a limit, not at the outermost
  // level
  std::vector<std::size_t> filling_;
  std::vector<Entrants> entrants_;  // [capacity][stage][residency]
};

}  // namespace mapsim::exact
