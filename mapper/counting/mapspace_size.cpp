// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/mapspace_size.hpp"

#include "mapper/counting/imperfect_count.hpp"
#include "mapper/counting/ruled.hpp"
#include "mapper/counting/ruled_extents.hpp"
#include "mapper/counting/whole_count.hpp"
#include "mapper/mapper.hpp"

namespace mapsim {

std::optional<std::string> mapspace_size_unless(const Mapspace& space,
                                                const std::function<bool()>& stop) {
  if (stop()) {
    return std::nullopt;
  }
  if (space.constraints().factors.imperfect) {
    const auto number = space.is_ruled() ? nests::count_ruled_extents(space, stop)
                                         : nests::count_extent_nests(space, stop);
    return number ? std::optional(number->get_str()) : std::nullopt;
  }
  if (!space.is_ruled()) {
    nests::WholeCount whole(space);
    while (whole.step(stop)) {
      if (stop()) {
        return std::nullopt;
      }
    }
    return whole.is_done() ? std::optional(whole.result().get_str()) : std::nullopt;
  }
  if (!space.is_listable()) {
    return std::nullopt;
  }
  mpz_class size;
  nests::RuledTables tables{space};
  for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
    if (stop()) {
      return std::nullopt;
    }
    const auto nests =
        tables.of(unrolling_class)
            ->count(temporal_bounds(space.problem().workload(), unrolling_class), stop);
    if (!nests) {
      return std::nullopt;
    }
    size += *nests * mpz_class{static_cast<long>(unrolling_class.assignments)};
  }
  return size.get_str();
}

std::string mapspace_size(const Mapspace& space) {
  if (const auto size = mapspace_size_unless(space, [] { return false; })) {
    return *size;
  }
  throw UnsupportedSearch(
      "the mappings under these rules are too many to count; limit their pieces");
}

}  // namespace mapsim
