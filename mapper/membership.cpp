// SPDX-License-Identifier: Apache-2.0
#include "mapper/membership.hpp"

#include <algorithm>

#include "costmodel/timing/model.hpp"
#include "mapper/mapspace/membership.hpp"
#include "mapper/nvdla/schedules.hpp"

namespace mapsim {

std::string why_outside_of(const Mapspace& space, const Mapping& mapping) {
  const Problem& problem = space.problem();
  const Mapping plain = canonical(problem.workload(), mapping);
  if (!timing_model(problem.arch()).is_engine) {
    return first_breach(space, plain);
  }
  const std::vector<NvdlaSchedule> schedules = nvdla_space(problem, LatencyMode::kRamped).schedules;
  const bool is_one = std::any_of(schedules.begin(), schedules.end(), [&](const auto& schedule) {
    return canonical(problem.workload(), mapping_of(problem, schedule)) == plain;
  });
  return is_one ? "" : "it is none of the engine's schedules (docs/nvdla.md)";
}

}  // namespace mapsim
