// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/class_source.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::branch {

std::optional<std::int64_t> count_soon(const Mapspace& space, const Deadline& deadline) {
  constexpr std::int64_t kSteps = 2'000'000;  // up to a tenth of a second
  return space.count_unless(
             [&deadline](std::int64_t steps) { return steps > kSteps || deadline.over(); })
             ? std::optional(space.class_count())
             : std::nullopt;
}

namespace {

// Of listed classes and their bounds.
std::size_t bytes_of(const std::vector<UnrollingClass>& classes) {
  constexpr std::size_t kBound = 128;
  std::size_t bytes = classes.size() * (sizeof(UnrollingClass) + kBound);
  for (const UnrollingClass& one : classes) {
    bytes += one.first.capacity() * sizeof(Unroll);
  }
  return bytes;
}

}  // namespace

ClassSource::ClassSource(const Mapspace& space, const Objective& objective,
                         const Deadline& deadline, const std::vector<Unrolling>& ruled_out,
                         ClassRecord& record)
    : space_{space}, deadline_{deadline}, held_{&deadline}, ruled_out_{ruled_out}, record_{record} {
  exact::refuse_what_is_not_proven(space, objective);
  if (!space.constraints().factors.imperfect) {
    bounds_.emplace(space, objective);
    classes_.emplace(*bounds_, space, objective, &deadline);
    symmetry_.emplace(space);
    generator_.emplace(space, *symmetry_, *bounds_);
    record_.bound_others(generator_->bound());
    return;
  }
  if (!space.is_listable()) {
    bounds_.emplace(space, objective);
    classes_.emplace(*bounds_, space, objective, &deadline);
    intervals_.emplace(space, *bounds_);
    for (UnrollingClass& unrolling_class : intervals_->of_fewest_steps()) {
      order_.push_back(classes_->add(std::move(unrolling_class)));
      add_to_record(order_.back());
    }
    record_.bound_others(intervals_->bound());
    return;
  }
  // The list is there already: it leaves less for tables, or nothing.
  is_within_budget(
      [&] { held_.take(std::min(bytes_of(space.unrolling_classes()), deadline.most_bytes())); });
  classes_.emplace(space, objective, &deadline);
  order_ = classes_->by_bound();
  std::erase_if(order_, [this](std::size_t g) { return classes_->representative()[g] != g; });
  for (std::size_t g = 0; g < classes_->size(); ++g) {
    add_to_record(g);
  }
  record_.skip_symmetric(classes_->representative());
}

void ClassSource::add_to_record(std::size_t unrolling_class) {
  record_.add(classes_->bound(unrolling_class));
  const Unrolling& first = classes_->unrolling(unrolling_class).first;
  if (std::find(ruled_out_.begin(), ruled_out_.end(), first) != ruled_out_.end()) {
    record_.rule_out(unrolling_class);
  }
}

std::optional<std::size_t> ClassSource::find(std::size_t place, const exact::Incumbent& known,
                                             bool in_haste) {
  if (is_listed() || place < order_.size()) {
    return order_[place];
  }
  if (!generate(known, in_haste)) {
    if (is_stopped()) {
      record_.leave_open();
      record_.count_out_of_memory(deadline_);
    } else {
      record_.finish_others(deadline_);
    }
    return std::nullopt;
  }
  add_to_record(order_.back());
  return order_.back();
}

// Is time over, or memory for twice as many sets of classes as now? Vectors double when they grow.
bool ClassSource::is_over() {
  const std::size_t bytes = intervals_ ? intervals_->bytes() : generator_->bytes();
  return deadline_.over() || !is_within_budget([&] { held_.grow_to(2 * bytes); });
}

// Adds the next class to the order; false: there is none of interest, or no time to find it.
bool ClassSource::generate(const exact::Incumbent& known, bool in_haste) {
  const auto over = [this] { return is_over(); };
  if (intervals_) {
    std::optional<UnrollingClass> next = intervals_->next(known, over, in_haste);
    record_.bound_others(intervals_->bound());
    if (next) {
      order_.push_back(classes_->add(std::move(*next)));
    }
    return next.has_value();
  }
  const auto tuple = generator_->next(known, over, in_haste);
  record_.bound_others(generator_->bound());
  if (tuple) {
    generated_.push_back(*tuple);
    order_.push_back(classes_->add(space_.classes().unrolling_class(*tuple)));
  }
  return tuple.has_value();
}

SearchResult ClassSource::result() const {
  if (is_listed()) {
    record_.repeat_for_symmetric(classes_->representative());
  }
  SearchResult result = record_.result();
  for (std::size_t g = 0; g < result.classes.size(); ++g) {
    result.classes[g].unrollings = classes_->unrolling(g);
    result.classes[g].is_symmetric = is_listed() && classes_->representative()[g] != g;
  }
  for (std::size_t g = 0; g < generated_.size(); ++g) {
    for (const UnrollingClasses::Tuple& alike : symmetry_->others(generated_[g])) {
      result.classes.push_back({result.classes[g].bound, result.classes[g].by,
                                space_.classes().unrolling_class(alike), true});
    }
  }
  return result;
}

}  // namespace mapsim::branch
