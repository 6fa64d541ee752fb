// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/bounds/class_bounds.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/branch/best_first.hpp"
#include "mapper/branch/class_record.hpp"
#include "mapper/branch/unrolling_intervals.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/deadline.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/symmetry.hpp"

namespace mapsim::branch {

// The number of classes of unrollings of a space; nullopt if counting takes more than a tenth of a
// second, or longer than there is time.
std::optional<std::int64_t> count_soon(const Mapspace& space, const Deadline& deadline);

// The classes of unrollings of a space, in the order in which they are searched: best bound first,
// one of each set that symmetry makes equal. With perfect factors they are generated one by one
// (BestFirst). With imperfect factors they are listed, or generated (UnrollingIntervals) where they
// are too many for a list. Each class is added to the record.
class ClassSource {
 public:
  // `ruled_out`: first unrollings of classes that have no mapping of interest. All arguments
  // outlive the source.
  ClassSource(const Mapspace& space, const Objective& objective, const Deadline& deadline,
              const std::vector<Unrolling>& ruled_out, ClassRecord& record);

  const exact::UnrollingTasks& classes() const { return *classes_; }
  // An upper limit of their number.
  std::size_t count() const { return is_listed() ? order_.size() : record_.most(); }
  bool is_listed() const { return !generator_ && !intervals_; }
  // The listed classes, which a search may reorder, or those that were generated so far.
  std::vector<std::size_t>& order() { return order_; }
  // The class at a place of the order. nullopt: the incumbent rules out all classes that are left,
  // or there is no time to find the next one. The incumbent must not get worse from one place to
  // the next. `in_haste`: a class is sought even if time is over, for 2,000 splits.
  std::optional<std::size_t> find(std::size_t place, const exact::Incumbent& known, bool in_haste);
  std::size_t operator[](std::size_t place) const { return order_[place]; }
  // The record's result for these classes and for those equal to them by symmetry.
  SearchResult result() const;

 private:
  void add_to_record(std::size_t unrolling_class);
  bool generate(const exact::Incumbent& known, bool in_haste);
  bool is_over();
  bool is_stopped() const {
    return generator_ ? generator_->is_stopped() : intervals_->is_stopped();
  }

  const Mapspace& space_;
  const Deadline& deadline_;
  HeldMemory held_;  // by what generates classes
  const std::vector<Unrolling>& ruled_out_;
  ClassRecord& record_;
  std::optional<exact::ClassBounds> bounds_;  // of classes that are not listed
  std::optional<Symmetry> symmetry_;          // perfect factors, like the next two
  std::optional<BestFirst> generator_;
  std::vector<UnrollingClasses::Tuple> generated_;  // by class
  std::optional<UnrollingIntervals> intervals_;     // imperfect factors
  std::optional<exact::UnrollingTasks> classes_;
  std::vector<std::size_t> order_;
};

}  // namespace mapsim::branch
