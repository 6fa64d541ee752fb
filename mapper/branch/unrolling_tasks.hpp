// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/bounds/class_bounds.hpp"
#include "mapper/deadline.hpp"
#include "mapper/label_search/label_store.hpp"
#include "mapper/label_search/search_tables.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::exact {

// Throws UnsupportedSearch if the exact strategy cannot prove anything for this space and
// objective.
void refuse_what_is_not_proven(const Mapspace& space, const Objective& objective);

// The classes of spatial unrollings, as tasks of a search: all of a space in the order of lists, or
// those that are added one by one. Entries do not move in memory, so threads may read them while
// others are added.
class UnrollingTasks {
 public:
  // All classes of the space. Idle threads of the caller's team take part. Classes bounded after
  // the deadline get the bound of the whole space. All arguments outlive the object.
  UnrollingTasks(const Mapspace& space, const Objective& objective,
                 const Deadline* deadline = nullptr);
  // No class yet.
  UnrollingTasks(ClassBounds& bounds, const Mapspace& space, const Objective& objective,
                 const Deadline* deadline = nullptr);
  std::size_t add(UnrollingClass unrolling);

  std::size_t size() const;
  const UnrollingClass& unrolling(std::size_t unrolling_class) const {
    return *at(unrolling_class).unrolling;
  }
  // Per class: the first class that equals it by symmetry (mapper/mapspace/symmetry.hpp).
  // Both have the same bound.
  const std::vector<std::size_t>& representative() const { return representative_; }
  // A lower bound of the class's mappings, whatever the tiles.
  const ObjectiveKey& bound(std::size_t unrolling_class) const {
    return at(unrolling_class).bound.key;
  }
  // A closer one, with imperfect factors: ClassBounds::by_phases().
  ObjectiveKey bound_by_phases(std::size_t unrolling_class, double enough) const {
    return bounds_->by_phases(unrolling(unrolling_class), enough);
  }
  const StateGraph& graph(std::size_t unrolling_class) const {
    return *at(unrolling_class).bound.shared_graph->graph;
  }
  // Does the class have only nests that a systolic array cannot run?
  bool is_idle(std::size_t unrolling_class) const {
    const Member& member = at(unrolling_class);
    return member.bound.may_stay && member.bound.may_stay->empty();
  }
  // Perfect factors: the tables of a class, or of one residency pattern of it. Arguments as in
  // SearchTables.
  std::unique_ptr<SearchTables> build(std::size_t unrolling_class, const Incumbent& known = {},
                                      bool may_beam_search = false,
                                      const Pattern* pattern = nullptr) const;
  // Tables for a part of the tiles of the class: at most `most_tiles`, if so few suffice. Only the
  // given deadline limits them.
  std::unique_ptr<SearchTables> build_part(std::size_t unrolling_class, const Incumbent& known,
                                           std::size_t most_tiles, const Deadline* deadline) const;
  // The residency patterns of a class that the incumbent does not rule out, best bound first.
  // `first_only`: the best one alone; of a front, any one. For objectives with latency, without a
  // timing model.
  std::vector<Pattern> patterns(std::size_t unrolling_class, const Incumbent& known,
                                bool first_only) const;
  // For a front with points: can the class, or one of its patterns, be left out?
  bool is_ruled_out(std::size_t unrolling_class, const Incumbent& known,
                    const Pattern* pattern = nullptr) const;
  Mapping mapping(const SearchTables& tables, std::size_t unrolling_class,
                  const std::vector<Step>& steps) const;

  // All classes, those with the fewest cycles of the compute units first.
  std::vector<std::size_t> by_steps() const;
  // The best bound first; of equal bounds, the fewest cycles of the compute units.
  std::vector<std::size_t> by_bound() const;
  // The batch of `order` that begins at `first`; its size is fixed. Tasks of a batch share what is
  // known when it begins, so no result or statistic depends on which thread is first.
  static std::span<const std::size_t> batch(std::span<const std::size_t> order, std::size_t first);
  // Calls visit(batch) in this order until it returns false.
  static void for_batches(const std::vector<std::size_t>& order,
                          const std::function<bool(std::span<const std::size_t>)>& visit);

 private:
  struct Member {
    const UnrollingClass* unrolling = nullptr;
    ClassBounds::Bound bound;
  };
  const Member& at(std::size_t unrolling_class) const;
  // For a pattern, or the whole class: the edges that none of its nests has; a lower bound of the
  // second figure.
  std::vector<bool> left_out(std::size_t unrolling_class, const Pattern* pattern) const;
  double least_second(std::size_t unrolling_class, const Pattern* pattern) const;

  const Mapspace& space_;
  const Objective& objective_;
  const Deadline* deadline_ = nullptr;
  std::optional<ClassBounds> own_;  // of all classes
  ClassBounds* bounds_ = nullptr;
  std::vector<std::size_t> representative_;
  mutable std::mutex mutex_;
  std::deque<UnrollingClass> added_;
  std::deque<Member> members_;
};

}  // namespace mapsim::exact
