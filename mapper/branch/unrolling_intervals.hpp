// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "mapper/bounds/boxes.hpp"
#include "mapper/bounds/class_bounds.hpp"
#include "mapper/branch/bound_queue.hpp"
#include "mapper/branch/fewest_steps.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::branch {

// Generates the unrollings of a space with imperfect factors, best bound first, by branch and
// bound. Any number of instances may work, so an array of 64 x 64 has more unrollings than can be
// listed: a node has an interval of instance counts for each fanout, axis and dim. It stands for
// all unrollings within, and its bound is at most that of each of them. The interval with the
// largest ratio is split at its geometric mean, until all have one count. As in lists
// (imperfect_classes()), each unrolling is a class of its own, and some tile must give all of its
// instances work. docs/decisions/0088-unrollings-by-intervals.md.
class UnrollingIntervals {
 public:
  // All arguments outlive the object.
  UnrollingIntervals(const Mapspace& space, exact::ClassBounds& bounds);

  // If latency alone counts: some classes with the fewest steps, which next() then leaves out. It
  // is not known what else they need, but they may have a mapping that rules out most sets of
  // others.
  std::vector<UnrollingClass> of_fewest_steps();

  // As of BestFirst.
  std::optional<UnrollingClass> next(const exact::Incumbent& known,
                                     const std::function<bool()>& over, bool in_haste = false);
  bool is_stopped() const { return queue_.is_stopped(); }
  exact::ObjectiveKey bound() const { return queue_.bound(); }
  std::size_t bytes() const {  // of the queue
    return queue_.size() * (sizeof(Entry) + places_.size() * sizeof(Interval));
  }

 private:
  struct Entry {
    exact::ObjectiveKey key;
    double cycles = 0;             // of a class
    bool is_class = false;         // every interval is one count
    PerFanout<bool> busy;          // does the fanout have several instances at work?
    std::vector<Interval> counts;  // by place
  };
  friend BoundQueue<Entry>;
  bool comes_later(const Entry& a, const Entry& b) const;
  std::vector<Entry> split(const Entry& entry);

  void add_places(FanoutId fanout);
  bool narrow(Entry& entry) const;
  bool narrow_by_axes(std::vector<Interval>& counts) const;
  bool narrow_by_dims(std::vector<Interval>& counts) const;
  bool is_busy_where_it_must_be(const Entry& entry) const;
  bool narrow_by_rules(std::vector<Interval>& counts) const;
  bool narrow_by_rule(const UnrollRule& rule, Axis axis, std::vector<Interval>& counts) const;
  std::optional<Entry> bounded(Entry entry);
  PerFanout<FactorBox> boxes_of(const Entry& entry) const;
  FactorBox box_of(FanoutId fanout, const std::vector<Interval>& counts) const;
  double most_along(FanoutId fanout, const std::vector<Interval>& counts, DimSet dims) const;
  std::optional<UnrollingClass> class_of(const std::vector<Interval>& counts) const;
  bool has_work(DimId dim, const std::vector<std::int64_t>& instances) const;

  const Mapspace& space_;
  exact::ClassBounds& bounds_;
  PerTensor<exact::TensorUse> uses_;
  std::vector<FewSteps> fewest_;               // empty: not known, or time does not count
  std::size_t tried_ = 0;                      // of them
  std::set<std::vector<std::int64_t>> early_;  // counts of classes that came before their turn
  std::vector<Place> places_;                  // fanouts outermost first, X before Y, dims in order
  DimSet all_dims_;
  std::vector<UnrollRule> rules_;  // of fanouts without a given unrolling
  BoundQueue<Entry> queue_;
};

}  // namespace mapsim::branch
