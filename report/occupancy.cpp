// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "report/show.hpp"

namespace mapsim {

namespace {

// Walks the nest outside in; loops over equal tiles are taken at once.
class OccupancyWalk {
 public:
  OccupancyWalk(const Problem& problem, const Nest& nest, FanoutId fanout)
      : nest_{nest}, fanout_{fanout}, sizes_{bounds_of(problem.workload())} {}

  void walk(std::size_t i, Occupancy now) {
    if (i == nest_.loops.size()) {
      steps_[{now.columns, now.rows}] += now.steps;
      return;
    }
    const NestLoop& loop = nest_.loops[i];
    const std::int64_t size = sizes_[loop.dim];
    const std::int64_t whole = size / loop.extent;
    const std::int64_t rest = size % loop.extent;
    if (loop.fanout) {
      if (loop.fanout == fanout_) {
        (loop.axis == Axis::kX ? now.columns : now.rows) *= whole + (rest > 0 ? 1 : 0);
      }
      step_in(i, std::min(size, loop.extent), 1, now);
    } else {
      step_in(i, loop.extent, whole, now);
      step_in(i, rest, rest > 0 ? 1 : 0, now);
    }
    sizes_[loop.dim] = size;
  }

  const std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>& steps() const {
    return steps_;
  }

 private:
  void step_in(std::size_t i, std::int64_t size, std::int64_t times, Occupancy now) {
    if (times > 0) {
      sizes_[nest_.loops[i].dim] = size;
      now.steps *= times;
      walk(i + 1, now);
    }
  }

  const Nest& nest_;
  FanoutId fanout_;
  PerDim<std::int64_t> sizes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> steps_;
};

}  // namespace

std::vector<Occupancy> occupancies(const Problem& problem, const Nest& nest, FanoutId fanout) {
  OccupancyWalk walk{problem, nest, fanout};
  walk.walk(0, {1, 1, 1});
  std::vector<Occupancy> found;
  for (const auto& [used, steps] : walk.steps()) {
    found.push_back({used.first, used.second, steps});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Occupancy& a, const Occupancy& b) { return a.steps > b.steps; });
  return found;
}

}  // namespace mapsim
