// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "mapper/bounds/boxes.hpp"
#include "mapper/bounds/class_bounds.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/symmetry.hpp"

namespace mapsim::branch {

// Generates the classes of unrollings of a space of perfect factors, best bound first, by branch
// and bound: a box per fanout stands for all classes that choose from them. The one with the best
// bound is split until it is a class, whose own bound then counts. So no class is made whose boxes
// are ruled out by what the search has found, and whatever is left is no better than the front of
// the queue. The order is that of all classes by (bound, time of the compute units, order of
// lists), whatever is known. docs/decisions/0052-unrollings-lazily.md.
class BestFirst {
 public:
  // All outlive it.
  BestFirst(const Mapspace& space, const Symmetry& symmetry, exact::ClassBounds& bounds);

  using Tuple = UnrollingClasses::Tuple;
  // The next class, of alike ones the first; nullopt: all that are left are ruled out by what is
  // known, which does not shrink from one call to the next, or `over` says that time is up. Then
  // the first call still finds a class, if not the best, by splitting the better half on and on.
  std::optional<Tuple> next(const exact::Incumbent& known, const std::function<bool()>& over);
  // Was there no time to look for the next class?
  bool is_stopped() const { return is_stopped_; }
  // No class that has not been generated is better, but for those that are like one that has been.
  exact::Key bound() const;

 private:
  struct Entry {
    exact::Key key;
    double cycles = 0;      // of a class
    bool is_class = false;  // `tuple` has choices, else boxes
    Tuple tuple{};
  };
  bool comes_later(const Entry& a, const Entry& b) const;
  void begin();
  using Halves = std::array<std::optional<Entry>, 2>;
  Halves split(const Entry& entry);
  bool is_exhausted(const exact::Incumbent& known) const;
  std::optional<Tuple> first_class(const exact::Incumbent& known);
  std::optional<Entry> entry_of(const Tuple& boxes);
  void push(const std::optional<Entry>& entry, const exact::Incumbent& known);
  Entry pop();

  const UnrollingClasses& classes_;
  const Symmetry& symmetry_;
  exact::ClassBounds& bounds_;
  std::vector<BoxTree> trees_;  // by fanout
  std::vector<Entry> queue_;    // a heap
  exact::Key left_out_;         // the best of what was ruled out
  bool has_begun_ = false;      // a class has been found
  bool is_stopped_ = false;
};

}  // namespace mapsim::branch
