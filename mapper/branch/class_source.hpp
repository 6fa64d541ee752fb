// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "mapper/branch/class_record.hpp"
#include "mapper/branch/unrolling_source.hpp"
#include "mapper/deadline.hpp"
#include "mapper/mapper.hpp"

namespace mapsim::branch {

// The classes of unrollings of a space, in the order in which they are searched. With perfect
// factors they are generated best bound first (BestFirst), with imperfect factors all are listed.
// Each class is added to the record.
class ClassSource {
 public:
  // `ruled_out`: first unrollings of classes that have no mapping of interest. All arguments
  // outlive the source.
  ClassSource(const Mapspace& space, const Objective& objective, const Deadline& deadline,
              const std::vector<Unrolling>& ruled_out, ClassRecord& record);

  const exact::UnrollingTasks& classes() const { return source_.classes(); }
  // An upper limit of their number.
  std::size_t count() const;
  // Imperfect factors: all classes except those equal to an earlier one by symmetry. Perfect
  // factors: the classes generated so far.
  std::vector<std::size_t>& order() { return is_imperfect() ? source_.listed() : order_; }
  // The class at a place of the order. nullopt: the incumbent rules out all classes that are left,
  // or there is no time to find the next one. The incumbent must not get worse from one place to
  // the next.
  std::optional<std::size_t> find(std::size_t place, const exact::Incumbent& known);
  std::size_t operator[](std::size_t place) { return order()[place]; }
  // The record's result for these classes and for those equal to them by symmetry.
  SearchResult result() const;

 private:
  bool is_imperfect() const { return space_.constraints().factors.imperfect; }
  void add_to_record(std::size_t unrolling_class);

  const Mapspace& space_;
  const Deadline& deadline_;
  const std::vector<Unrolling>& ruled_out_;
  ClassRecord& record_;
  UnrollingSource source_;
  std::vector<std::size_t> order_;  // perfect factors: those that have been generated
};

}  // namespace mapsim::branch
