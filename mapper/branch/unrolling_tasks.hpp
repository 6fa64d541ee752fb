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
#include "mapper/label_search/instance.hpp"
#include "mapper/label_search/label_store.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::exact {

// Throws UnsupportedSearch.
void refuse_what_is_not_proven(const Mapspace& space, const Objective& objective);

// Classes of spatial unrollings, as tasks of a search: all of a space in the order of lists, or
// those that are added one by one. What is known of one does not move, so that threads may ask
// while others are added.
class UnrollingTasks {
 public:
  // All of them. Idle threads of the caller's team take part. Without deadline, bounds are that of
  // the whole space. All arguments outlive the classes.
  UnrollingTasks(const Mapspace& space, const Objective& objective,
                 const Deadline* deadline = nullptr);
  // None yet.
  UnrollingTasks(ClassBounds& bounds, const Mapspace& space, const Objective& objective,
                 const Deadline* deadline = nullptr);
  std::size_t add(UnrollingClass unrolling);

  std::size_t size() const;
  const UnrollingClass& unrolling(std::size_t unrolling_class) const {
    return *at(unrolling_class).unrolling;
  }
  // By class, of all: the first one that is like it (mapper/mapspace/symmetric_classes.hpp), whose
  // bound it has.
  const std::vector<std::size_t>& first_alike() const { return first_alike_; }
  // Nothing of a class is better, whatever the tiles.
  const Key& bound(std::size_t unrolling_class) const { return at(unrolling_class).bound.key; }
  const StateGraph& graph(std::size_t unrolling_class) const {
    return *at(unrolling_class).bound.kind->graph;
  }
  // Has the class only nests that a systolic array cannot run?
  bool is_idle(std::size_t unrolling_class) const {
    const Member& member = at(unrolling_class);
    return member.bound.may_stay && member.bound.may_stay->empty();
  }
  // Perfect factors. As Instance has it.
  std::unique_ptr<Instance> build(std::size_t unrolling_class, const Incumbent& known = {},
                                  bool may_beam_search = false,
                                  const Pattern* pattern = nullptr) const;
  // Of a part of its tiles, so many at most, whatever there is of time and memory.
  std::unique_ptr<Instance> build_part(std::size_t unrolling_class, const Incumbent& known,
                                       std::size_t most_tiles) const;
  // The residency patterns of a class that are not ruled out, best first, or the best of them alone
  // (of a front: some one). Objectives with latency, without a timing model.
  std::vector<Pattern> patterns(std::size_t unrolling_class, const Incumbent& known,
                                bool first_only) const;
  // Of a front of which something is known: can the class, or a pattern of it, be left out?
  bool is_ruled_out(std::size_t unrolling_class, const Incumbent& known,
                    const Pattern* pattern = nullptr) const;
  Mapping mapping(const Instance& instance, std::size_t unrolling_class,
                  const std::vector<Step>& steps) const;

  // All of them, those that leave little time first.
  std::vector<std::size_t> by_steps() const;
  // The best bound first; of equal ones, those that leave little time.
  std::vector<std::size_t> by_bound() const;
  // The batch of these that begins there, of a fixed size. Tasks of a batch share what is known
  // when it begins, so that no result or statistic depends on which thread is first.
  static std::span<const std::size_t> batch(std::span<const std::size_t> order, std::size_t first);
  // Calls visit(batch) with the classes in this order until it returns false.
  static void for_batches(const std::vector<std::size_t>& order,
                          const std::function<bool(std::span<const std::size_t>)>& visit);

 private:
  struct Member {
    const UnrollingClass* unrolling = nullptr;
    ClassBounds::Bound bound;
  };
  const Member& at(std::size_t unrolling_class) const;
  // Of a pattern, or of the whole class: edges that no nest of it has, and the least of the
  // second figure.
  std::vector<bool> left_out(std::size_t unrolling_class, const Pattern* pattern) const;
  double least_second(std::size_t unrolling_class, const Pattern* pattern) const;

  const Mapspace& space_;
  const Objective& objective_;
  const Deadline* deadline_ = nullptr;
  std::optional<ClassBounds> own_;  // of all classes
  ClassBounds* bounds_ = nullptr;
  std::vector<std::size_t> first_alike_;
  mutable std::mutex mutex_;
  std::deque<UnrollingClass> added_;
  std::deque<Member> members_;
};

}  // namespace mapsim::exact
