// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/group_source.hpp"

#include <algorithm>

namespace mapsim::branch {

GroupSource::GroupSource(const Mapspace& space, const Objective& objective,
                         const Patience& patience, const std::vector<Unrolling>& ruled_out,
                         GroupRecord& record)
    : space_{space}, patience_{patience}, ruled_out_{ruled_out}, record_{record} {
  if (!is_balanced()) {
    floors_.emplace(space, objective);
    groups_.emplace(*floors_, space, objective);
    symmetry_.emplace(space);
    generator_.emplace(space, *symmetry_, *floors_);
    record_.bound_others(generator_->bound());
    return;
  }
  groups_.emplace(space, objective, &patience);
  for (std::size_t g = 0; g < groups_->size(); ++g) {
    add_to_record(g);
  }
  record_.skip_twins(groups_->first_alike());
  order_ = groups_->by_floor();
  std::erase_if(order_, [this](std::size_t g) { return groups_->first_alike()[g] != g; });
}

std::size_t GroupSource::count() const {
  return is_balanced() ? order_.size() : static_cast<std::size_t>(space_.class_count());
}

void GroupSource::add_to_record(std::size_t group) {
  record_.add(groups_->floor(group));
  const Unrolling& first = groups_->unrolling(group).first;
  if (std::find(ruled_out_.begin(), ruled_out_.end(), first) != ruled_out_.end()) {
    record_.rule_out(group);
  }
}

std::optional<std::size_t> GroupSource::find(std::size_t place, const exact::Key& limit) {
  if (is_balanced()) {
    return order_[place];
  }
  const auto tuple = generator_->next(limit, [this] { return patience_.over(); });
  record_.bound_others(generator_->bound());
  if (!tuple) {
    if (generator_->is_stopped()) {
      record_.leave_open();
    } else {
      record_.finish_others(patience_);
    }
    return std::nullopt;
  }
  generated_.push_back(*tuple);
  order_.push_back(groups_->add(space_.classes().group(*tuple)));
  add_to_record(order_.back());
  return order_.back();
}

SearchResult GroupSource::result() const {
  if (is_balanced()) {
    record_.repeat_for_twins(groups_->first_alike());
  }
  SearchResult result = record_.result();
  for (std::size_t g = 0; g < result.groups.size(); ++g) {
    result.groups[g].unrollings = groups_->unrolling(g);
    result.groups[g].is_twin = is_balanced() && groups_->first_alike()[g] != g;
  }
  for (std::size_t g = 0; g < generated_.size(); ++g) {
    for (const UnrollingClasses::Tuple& twin : symmetry_->others(generated_[g])) {
      result.groups.push_back(
          {result.groups[g].bound, result.groups[g].by, space_.classes().group(twin), true});
    }
  }
  return result;
}

}  // namespace mapsim::branch
