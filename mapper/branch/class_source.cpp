// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/class_source.hpp"

#include <algorithm>

namespace mapsim::branch {

ClassSource::ClassSource(const Mapspace& space, const Objective& objective,
                         const Deadline& deadline, const std::vector<Unrolling>& ruled_out,
                         ClassRecord& record)
    : space_{space}, deadline_{deadline}, ruled_out_{ruled_out}, record_{record} {
  if (!is_balanced()) {
    bounds_.emplace(space, objective);
    classes_.emplace(*bounds_, space, objective);
    symmetry_.emplace(space);
    generator_.emplace(space, *symmetry_, *bounds_);
    record_.bound_others(generator_->bound());
    return;
  }
  classes_.emplace(space, objective, &deadline);
  for (std::size_t g = 0; g < classes_->size(); ++g) {
    add_to_record(g);
  }
  record_.skip_twins(classes_->first_alike());
  order_ = classes_->by_bound();
  std::erase_if(order_, [this](std::size_t g) { return classes_->first_alike()[g] != g; });
}

std::size_t ClassSource::count() const {
  return is_balanced() ? order_.size() : static_cast<std::size_t>(space_.class_count());
}

void ClassSource::add_to_record(std::size_t unrolling_class) {
  record_.add(classes_->bound(unrolling_class));
  const Unrolling& first = classes_->unrolling(unrolling_class).first;
  if (std::find(ruled_out_.begin(), ruled_out_.end(), first) != ruled_out_.end()) {
    record_.rule_out(unrolling_class);
  }
}

std::optional<std::size_t> ClassSource::find(std::size_t place, const exact::Key& limit) {
  if (is_balanced()) {
    return order_[place];
  }
  const auto tuple = generator_->next(limit, [this] { return deadline_.over(); });
  record_.bound_others(generator_->bound());
  if (!tuple) {
    if (generator_->is_stopped()) {
      record_.leave_open();
    } else {
      record_.finish_others(deadline_);
    }
    return std::nullopt;
  }
  generated_.push_back(*tuple);
  order_.push_back(classes_->add(space_.classes().unrolling_class(*tuple)));
  add_to_record(order_.back());
  return order_.back();
}

SearchResult ClassSource::result() const {
  if (is_balanced()) {
    record_.repeat_for_twins(classes_->first_alike());
  }
  SearchResult result = record_.result();
  for (std::size_t g = 0; g < result.classes.size(); ++g) {
    result.classes[g].unrollings = classes_->unrolling(g);
    result.classes[g].is_twin = is_balanced() && classes_->first_alike()[g] != g;
  }
  for (std::size_t g = 0; g < generated_.size(); ++g) {
    for (const UnrollingClasses::Tuple& twin : symmetry_->others(generated_[g])) {
      result.classes.push_back({result.classes[g].bound, result.classes[g].by,
                                space_.classes().unrolling_class(twin), true});
    }
  }
  return result;
}

}  // namespace mapsim::branch
