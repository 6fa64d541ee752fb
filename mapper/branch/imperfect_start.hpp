// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapper/branch/class_record.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/deadline.hpp"

namespace mapsim {

// What a search with imperfect factors begins with. `charged`: labels of its budget that are spent.
struct ImperfectStart {
  const Mapspace& space;
  const SearchOptions& options;
  const Deadline& deadline;
  const exact::UnrollingTasks& classes;
  ClassRecord& record;
  std::vector<std::size_t>& order;  // of the classes; in the order of their bounds afterwards
  std::int64_t charged = 0;
};

// Good mappings, of padded problems, and bounds on coarse lattices, both before any class is
// searched. Idle threads of the caller's team take part. Labels of the budget that are then spent.
std::int64_t prepare_imperfect(const ImperfectStart& start, bool find_incumbents);

}  // namespace mapsim
