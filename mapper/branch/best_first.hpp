// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "mapper/bounds/boxes.hpp"
#include "mapper/bounds/class_bounds.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/branch/bound_queue.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/symmetry.hpp"

namespace mapsim::branch {

// Generates the classes of unrollings of a space with perfect factors, best bound first, by branch
// and bound.
//
// A node of the branch and bound is a tuple with one box per fanout. It stands for all classes that
// take one choice from each box, and its bound is at most that of each of them (BoundQueue). The
// first tuple is split in two, until it has single choices; if costs depend on which axis takes
// which factor, then into the ways to give a fanout's factors to its axes. At last it is a single
// class, which gets its own bound.
//
// A class in no queue entry has been generated, or the incumbent has ruled out its tuple, or
// another class stands for it by symmetry (Symmetry). So once the incumbent rules out the first
// entry, the search may stop without ever listing the other classes. The order of classes is that
// of the list sorted by (bound, cycles of the compute units, order of lists); it does not depend on
// the incumbent. docs/decisions/0052-unrollings-lazily.md.
class BestFirst {
 public:
  // All arguments outlive it.
  BestFirst(const Mapspace& space, const Symmetry& symmetry, exact::ClassBounds& bounds);

  using Tuple = UnrollingClasses::Tuple;
  // The next class; of classes that symmetry makes equal, only the first. nullopt: the incumbent
  // rules out all that are left, or `over` says that time is up. The incumbent must not get worse
  // between calls. `in_haste`: if time is up, find a class even so, though perhaps not the best,
  // by splitting the better half, unless 2,000 splits find none.
  std::optional<Tuple> next(const exact::Incumbent& known, const std::function<bool()>& over,
                            bool in_haste = false);
  // Did time run out before the next class was found?
  bool is_stopped() const { return queue_.is_stopped(); }
  // A lower bound of all classes that have not been generated, except those equal to a generated
  // one by symmetry.
  exact::ObjectiveKey bound() const { return queue_.bound(); }
  std::size_t bytes() const { return queue_.size() * sizeof(Entry); }  // of the queue

 private:
  struct Entry {
    exact::ObjectiveKey key;
    double cycles = 0;      // of a class
    bool is_class = false;  // `tuple` holds choices; otherwise boxes, and ways may be open
    Tuple tuple{};
  };
  friend BoundQueue<Entry>;
  bool comes_later(const Entry& a, const Entry& b) const;
  void begin();
  std::vector<Entry> split(const Entry& entry);
  std::optional<Entry> entry_of(const Tuple& boxes);

  const UnrollingClasses& classes_;
  const Symmetry& symmetry_;
  exact::ClassBounds& bounds_;
  std::vector<BoxTree> trees_;  // by fanout
  PerFanout<UnrollingClasses::RecentWays> recent_;
  BoundQueue<Entry> queue_;
};

}  // namespace mapsim::branch
