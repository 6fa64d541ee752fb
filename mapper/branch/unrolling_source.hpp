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

// How many classes of unrollings a space has, if that is soon counted.
std::optional<std::int64_t> count_soon(const Mapspace& space);

// The classes of unrollings of a space, best bound first, each class of alike ones once. Perfect
// factors: generated one by one. Imperfect ones: listed.
class UnrollingSource {
 public:
  // All arguments outlive the source.
  UnrollingSource(const Mapspace& space, const Objective& objective, const Deadline& deadline);

  const exact::UnrollingTasks& classes() const { return *classes_; }
  // Of the space, alike ones included; 0: not soon counted.
  std::int64_t count() const;
  // Imperfect factors: all of them, which a search may put into another order.
  std::vector<std::size_t>& listed() { return listed_; }
  const std::vector<std::size_t>& listed() const { return listed_; }
  // The next class; nothing: none is left that is not ruled out, or there is no time to look for
  // it. What is known does not shrink from one call to the next. The first call finds a class
  // whatever the time.
  std::optional<std::size_t> next(const exact::Incumbent& known);
  // Was there no time to look for the next class?
  bool is_stopped() const { return generator_ && generator_->is_stopped(); }
  // Perfect factors: no class that has not been generated is better, but for those that are like
  // one that has been.
  exact::Key bound_of_others() const { return generator_->bound(); }
  // The classes that are like one that has been generated.
  std::vector<UnrollingClass> others(std::size_t unrolling_class) const;

 private:
  bool is_imperfect() const { return space_.constraints().factors.imperfect; }

  const Mapspace& space_;
  const Deadline& deadline_;
  std::optional<exact::ClassBounds> bounds_;
  std::optional<exact::UnrollingTasks> classes_;
  std::optional<Symmetry> symmetry_;  // perfect factors, as the next two
  std::optional<BestFirst> generator_;
  std::vector<UnrollingClasses::Tuple> generated_;  // by class
  std::vector<std::size_t> listed_;                 // imperfect factors, as the next one
  std::size_t taken_ = 0;
};

}  // namespace mapsim::branch
