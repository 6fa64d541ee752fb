// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapper/branch/class_record.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/deadline.hpp"

namespace mapsim {

// The inputs of the start of a search with imperfect factors.
struct ImperfectStart {
  const Mapspace& space;
  const SearchOptions& options;
  const Deadline& deadline;
  const exact::UnrollingTasks& classes;
  ClassRecord& record;
  std::vector<std::size_t>& order;  // of the classes; sorted by their bounds afterwards
  std::int64_t charged = 0;         // labels of the budget that are spent already
};

// Before any class is searched: finds incumbents from padded problems (padded.hpp), if asked to,
// and bounds all classes on coarse lattices. Idle threads of the caller's team take part. Returns
// the labels of the budget that are spent afterwards.
std::int64_t prepare_imperfect(const ImperfectStart& start, bool find_incumbents);

}  // namespace mapsim
