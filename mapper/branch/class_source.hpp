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

// The classes of unrollings of a space in the order in which a search takes them. Perfect factors:
// generated best bound first. Imperfect ones: all listed. A record hears of each.
class ClassSource {
 public:
  // `ruled_out`: the first unrollings of classes that hold nothing of interest. All arguments
  // outlive the source.
  ClassSource(const Mapspace& space, const Objective& objective, const Deadline& deadline,
              const std::vector<Unrolling>& ruled_out, ClassRecord& record);

  const exact::UnrollingTasks& classes() const { return source_.classes(); }
  // How many there are at most.
  std::size_t count() const;
  // Imperfect factors: all but those that are like one before them. Else what has been found.
  std::vector<std::size_t>& order() { return is_imperfect() ? source_.listed() : order_; }
  // The class of that place; nothing: none is left that is not ruled out by what is known, which
  // does not shrink from one place to the next, or there is no time to look for it.
  std::optional<std::size_t> find(std::size_t place, const exact::Incumbent& known);
  std::size_t operator[](std::size_t place) { return order()[place]; }
  // What the record says of them, and of those that are like them.
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
