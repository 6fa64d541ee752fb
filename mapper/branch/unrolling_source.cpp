// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/unrolling_source.hpp"

#include <algorithm>

namespace mapsim::branch {

std::optional<std::int64_t> count_soon(const Mapspace& space) {
  constexpr std::int64_t kSteps = 2'000'000;  // some milliseconds
  return space.count_unless([](std::int64_t steps) { return steps > kSteps; })
             ? std::optional(space.class_count())
             : std::nullopt;
}

UnrollingSource::UnrollingSource(const Mapspace& space, const Objective& objective,
                                 const Deadline& deadline)
    : space_{space}, deadline_{deadline} {
  exact::refuse_what_is_not_proven(space, objective);
  if (space.constraints().factors.imperfect) {
    classes_.emplace(space, objective, &deadline);
    listed_ = classes_->by_bound();
    std::erase_if(listed_, [this](std::size_t g) { return classes_->representative()[g] != g; });
    return;
  }
  bounds_.emplace(space, objective);
  classes_.emplace(*bounds_, space, objective, &deadline);
  symmetry_.emplace(space);
  generator_.emplace(space, *symmetry_, *bounds_);
}

std::optional<std::size_t> UnrollingSource::next(const exact::Incumbent& known) {
  const auto tuple = generator_->next(known, [this] { return deadline_.over(); });
  if (!tuple) {
    return std::nullopt;
  }
  generated_.push_back(*tuple);
  return classes_->add(space_.classes().unrolling_class(*tuple));
}

std::vector<UnrollingClass> UnrollingSource::others(std::size_t unrolling_class) const {
  std::vector<UnrollingClass> alike;
  for (const UnrollingClasses::Tuple& tuple : symmetry_->others(generated_[unrolling_class])) {
    alike.push_back(space_.classes().unrolling_class(tuple));
  }
  return alike;
}

}  // namespace mapsim::branch
