// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "check/boxes.hpp"
#include "check/extent_domains.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// Instances of a parallel loop.
struct Interval {
  std::int64_t least = 1;
  std::int64_t most = 1;
  bool is_single() const { return least == most; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// A set of unrollings of an imperfect space: an interval for each place, which is a dim along an
// axis of a fanout.
using Intervals = std::vector<Interval>;

// The unrollings of a space with imperfect factors, as sets that can be halved. Any number of
// instances may work, so wide arrays have more unrollings than can be listed.
class IntervalSpace {
 public:
  IntervalSpace(const Problem& problem, const Rules& rules);

  // All unrollings; nullopt: there are none.
  std::optional<Intervals> whole() const { return narrowed(whole_); }
  // The halves of a set of several unrollings that have any: the interval with the largest ratio is
  // divided at its geometric mean.
  std::vector<Intervals> halves(const Intervals& set) const;
  // The only member of a set of one; nullopt: the space does not have it.
  std::optional<Unrolling> unrolling(const Intervals& single) const;
  bool contains(const Unrolling& unrolling) const;
  // All of them, each once; nullopt: they are more than `most`, or it was stopped.
  std::optional<std::vector<Unrolling>> list(std::size_t most, Stop stop = {}) const;
  ChoiceRanges ranges(const Intervals& set) const;

 private:
  struct Place {
    FanoutId fanout{};
    std::size_t axis = 0;
    DimId dim{};
  };
  std::optional<Intervals> narrowed(Intervals set) const;
  bool narrow_by_axes(Intervals& set) const;
  bool narrow_by_tiles(Intervals& set) const;
  bool narrow_by_rules(Intervals& set) const;
  bool has_work(const Unrolling& unrolling) const;

  const Problem& problem_;
  const Rules& rules_;
  ExtentDomains domains_;
  std::vector<Place> places_;  // fanouts outermost first, X before Y
  Intervals whole_;
};

bool is_single(const Intervals& set);

// The figures of one unrolling, whose axes are known.
ChoiceRanges ranges_of_axes(const Problem& problem, const Unrolling& unrolling);

// Visits the unrollings of imperfect factors that bounds leave open. `is_closed` is called with the
// figures of a set, also of one; if it returns true, nothing in the set is of interest. `threads`
// threads call it. Returns false if it was stopped, or if visit() returned false.
bool visit_open_sets(const IntervalSpace& space, int threads, Stop stop,
                     const std::function<bool(const ChoiceRanges&)>& is_closed,
                     const std::function<bool(const Unrolling&)>& visit);

}  // namespace mapsim::check
