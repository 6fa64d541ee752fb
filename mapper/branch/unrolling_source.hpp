// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mapper/bounds/class_bounds.hpp"
#include "mapper/bounds/incumbent.hpp"
#include "mapper/branch/best_first.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/deadline.hpp"
#include "mapper/mapspace/symmetry.hpp"

namespace mapsim::branch {

// The number of classes of unrollings of a space; nullopt if counting takes more than a few
// milliseconds.
std::optional<std::int64_t> count_soon(const Mapspace& space);

// The classes of unrollings of a space, best bound first, one of each set that symmetry makes
// equal. With perfect factors they are generated one by one, with imperfect factors listed.
class UnrollingSource {
 public:
  // All arguments outlive the source.
  UnrollingSource(const Mapspace& space, const Objective& objective, const Deadline& deadline);

  const exact::UnrollingTasks& classes() const { return *classes_; }
  // Imperfect factors: all classes. A search may reorder them.
  std::vector<std::size_t>& listed() { return listed_; }
  const std::vector<std::size_t>& listed() const { return listed_; }
  // Perfect factors: the next class. nullopt: the incumbent rules out all classes that are left, or
  // there is no time to find the next one. The incumbent must not get worse from one call to the
  // next. The first call finds a class whatever the time.
  std::optional<std::size_t> next(const exact::Incumbent& known);
  // Did time run out before the next class was found?
  bool is_stopped() const { return generator_ && generator_->is_stopped(); }
  // Perfect factors: a lower bound of all classes that have not been generated, except those equal
  // to a generated one by symmetry.
  exact::ObjectiveKey bound_of_others() const { return generator_->bound(); }
  // The classes that equal a generated one by symmetry.
  std::vector<UnrollingClass> others(std::size_t unrolling_class) const;

 private:
  const Mapspace& space_;
  const Deadline& deadline_;
  std::optional<exact::ClassBounds> bounds_;
  std::optional<exact::UnrollingTasks> classes_;
  std::optional<Symmetry> symmetry_;  // perfect factors, like the next two
  std::optional<BestFirst> generator_;
  std::vector<UnrollingClasses::Tuple> generated_;  // by class
  std::vector<std::size_t> listed_;                 // imperfect factors
};

}  // namespace mapsim::branch
