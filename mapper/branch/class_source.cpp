// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/class_source.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::branch {

ClassSource::ClassSource(const Mapspace& space, const Objective& objective,
                         const Deadline& deadline, const std::vector<Unrolling>& ruled_out,
                         ClassRecord& record)
    : space_{space},
      deadline_{deadline},
      ruled_out_{ruled_out},
      record_{record},
      source_{space, objective, deadline} {
  if (!is_imperfect()) {
    record_.bound_others(source_.bound_of_others());
    return;
  }
  for (std::size_t g = 0; g < classes().size(); ++g) {
    add_to_record(g);
  }
  record_.skip_symmetric(classes().representative());
}

std::size_t ClassSource::count() const {
  return is_imperfect() ? source_.listed().size() : record_.most();
}

void ClassSource::add_to_record(std::size_t unrolling_class) {
  record_.add(classes().bound(unrolling_class));
  const Unrolling& first = classes().unrolling(unrolling_class).first;
  if (std::find(ruled_out_.begin(), ruled_out_.end(), first) != ruled_out_.end()) {
    record_.rule_out(unrolling_class);
  }
}

std::optional<std::size_t> ClassSource::find(std::size_t place, const exact::Incumbent& known) {
  if (is_imperfect()) {
    return source_.listed()[place];
  }
  const std::optional<std::size_t> found = source_.next(known);
  record_.bound_others(source_.bound_of_others());
  if (!found) {
    if (source_.is_stopped()) {
      record_.leave_open();
    } else {
      record_.finish_others(deadline_);
    }
    return std::nullopt;
  }
  order_.push_back(*found);
  add_to_record(*found);
  return found;
}

SearchResult ClassSource::result() const {
  if (is_imperfect()) {
    record_.repeat_for_symmetric(classes().representative());
  }
  SearchResult result = record_.result();
  for (std::size_t g = 0; g < result.classes.size(); ++g) {
    result.classes[g].unrollings = classes().unrolling(g);
    result.classes[g].is_symmetric = is_imperfect() && classes().representative()[g] != g;
  }
  for (std::size_t g = 0; g < order_.size(); ++g) {
    for (UnrollingClass& alike : source_.others(g)) {
      result.classes.push_back(
          {result.classes[g].bound, result.classes[g].by, std::move(alike), true});
    }
  }
  return result;
}

}  // namespace mapsim::branch
