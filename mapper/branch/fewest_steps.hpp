// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "arch/arch.hpp"
#include "workloads/workload.hpp"

namespace mapsim::branch {

// Where instances may lie: along an axis of a fanout, for a dim.
struct Place {
  FanoutId fanout{};
  Axis axis = Axis::kX;
  DimId dim{};
  std::int64_t size = 1;  // instances along the axis
};
// So many instances.
struct Interval {
  std::int64_t least = 1;
  std::int64_t most = 1;
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

// Instances per place, and the steps that the compute units then take at least: along a dim with D
// indices and n instances they are ceil(D/n).
struct FewSteps {
  double steps = 1;
  std::vector<std::int64_t> counts;
};

// Some unrollings with few steps, of all with these counts whose product along an axis is at most
// its size: the fewest first, and none has fewer than the first. Empty: there are too many to find
// them. Places of an axis are neighbours.
std::vector<FewSteps> fewest_steps(const Workload& workload, const std::vector<Place>& places,
                                   const std::vector<Interval>& counts);

}  // namespace mapsim::branch
