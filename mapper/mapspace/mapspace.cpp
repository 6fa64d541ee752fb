// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/mapspace.hpp"

#include <fmt/format.h>

#include <utility>

#include "mapper/mapper.hpp"

namespace mapsim {

namespace {

// Listing so many classes takes a second and 200 MB, and bounding them several times that.
constexpr std::size_t kMostImperfectClasses = 50'000;
// With perfect factors, listing so many classes takes some seconds and 2 GB. Counting takes a step
// per product of factors, a microsecond at most.
constexpr std::int64_t kMostPerfectClasses = 2'000'000;
constexpr std::int64_t kMostSteps = 4'000'000;

}  // namespace

Mapspace::Mapspace(const Problem& problem, Constraints constraints, BranchEntry entry)
    : problem_{&problem},
      constraints_{std::move(constraints)},
      entry_{std::move(entry)},
      domains_{mapsim::domains(problem.workload(), constraints_.factors)} {
  if (!constraints_.factors.imperfect) {
    classes_.emplace(problem, unrolling_limits());
  }
}

KeepRule Mapspace::keep_rule(LevelId level, TensorId tensor) const {
  const LevelId source = entry_.source(tensor);
  if (level < source) {
    return KeepRule::kBypass;
  }
  if (level == source || problem_->must_keep(level, tensor)) {
    return KeepRule::kKeep;
  }
  if (!problem_->may_keep(level, tensor)) {
    return KeepRule::kBypass;
  }
  const bool is_given = index_of(level) < constraints_.keeps.size() &&
                        index_of(tensor) < constraints_.keeps[level].size();
  return is_given ? constraints_.keeps[level][tensor] : KeepRule::kFree;
}

std::vector<Unrolling> Mapspace::assignments(const UnrollingClass& unrolling_class) const {
  if (unrolling_class.assignments == 1) {
    return {unrolling_class.first};
  }
  return axis_assignments(*problem_, unrolling_limits(), unrolling_class);
}

std::vector<Unrolling> Mapspace::unrollings() const {
  std::vector<Unrolling> all;
  for (const UnrollingClass& unrolling_class : unrolling_classes()) {
    for (Unrolling& unrolling : assignments(unrolling_class)) {
      all.push_back(std::move(unrolling));
    }
  }
  return all;
}

const std::vector<UnrollingClass>& Mapspace::unrolling_classes() const {
  if (!is_listable() && classes_) {
    throw UnsupportedSearch(
        fmt::format("the space has more than {} spatial unrollings, too many to list; give an "
                    "unrolling or rules for it, or use the strategy exact without rules",
                    kMostPerfectClasses));
  }
  if (!is_listable()) {
    throw UnsupportedSearch(fmt::format(
        "the space has more than {} spatial unrollings, too many to list with imperfect factors; "
        "give an unrolling or rules for it, or leave out --imperfect (factors: imperfect)",
        kMostImperfectClasses));
  }
  return *found_->list;
}

bool Mapspace::is_listable() const {
  std::call_once(found_->listed, [this] {
    if (classes_) {
      const bool is_counted = count_unless([](std::int64_t steps) { return steps > kMostSteps; });
      if (is_counted && found_->classes <= kMostPerfectClasses) {
        found_->list = classes_->list();
      }
      return;
    }
    found_->list = imperfect_classes(
        *problem_, domains_, {constraints_.spatial, constraints_.unroll}, kMostImperfectClasses);
  });
  return found_->list.has_value();
}

bool Mapspace::count_unless(const std::function<bool(std::int64_t steps)>& stop) const {
  const std::lock_guard lock(found_->counting);
  if (found_->counted) {
    return true;
  }
  if (!classes_) {
    if (!is_listable()) {
      return false;
    }
    found_->classes = std::ssize(unrolling_classes());
    for (const UnrollingClass& unrolling_class : unrolling_classes()) {
      found_->unrollings += unrolling_class.assignments;
    }
  } else if (auto products = classes_->products(stop)) {
    found_->products = std::move(*products);
    for (const UnrollingClasses::Product& product : found_->products) {
      found_->classes += product.classes;
      found_->unrollings += product.unrollings;
    }
  } else {
    return false;
  }
  found_->counted = true;
  return true;
}

const Mapspace::Found& Mapspace::counts() const {
  if (!count_unless([](std::int64_t) { return false; })) {
    unrolling_classes();  // says why they cannot be counted
  }
  return *found_;
}

}  // namespace mapsim
