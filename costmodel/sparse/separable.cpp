// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/separable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "core/factor.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/sparse/conditions.hpp"
#include "costmodel/sparse/count_sparse.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

namespace {

// A tile that is fetched anew while loops move none of its elements serves a part of the operations
// each time, and n parts wait for their leaders no less often than all of them together. That holds
// of a product of leaders, too, if each of these loops moves one of them at most.
std::string why_not_together(const Workload& workload, TensorId t,
                             const std::vector<BoundCondition>& conditions) {
  const DimSet own = workload.tensors[t].dims();
  for (const DimId d : workload.dims.ids()) {
    std::vector<std::string> moved;
    for (const BoundCondition& each : conditions) {
      const Tensor& leader = workload.tensors[each.leader];
      if (workload.dims[d].bound > 1 && !own.contains(d) && leader.dims().contains(d)) {
        moved.push_back(leader.name);
      }
    }
    if (moved.size() > 1) {
      return fmt::format("waits for {}, which {} indexes all, but not {} itself",
                         fmt::join(moved, " and "), workload.dims[d].name,
                         workload.tensors[t].name);
    }
  }
  return "";
}

// The chance of a leader's part has to be that of the tile's extents. Of known zeros it is that of
// one place and not of another; parts of a nest that are scattered have more blocks of n:m.
std::string why_not_alone(const Problem& problem, TensorId t, TensorId leader) {
  const Workload& workload = problem.workload();
  const DensityModel& occupancy = problem.sparse()->occupancy(leader);
  if (has_window(workload.tensors[leader])) {
    return "which has a window";
  }
  if (occupancy.is_data()) {
    return "whose zeros are data";
  }
  if (occupancy.is_uniform()) {
    return "";
  }
  const DimId along = occupancy.pattern().dim;
  const auto divisors = divisors_of(workload.dims[along].bound);
  if (std::ranges::any_of(divisors, [&](auto length) { return cuts_blocks(occupancy, length); })) {
    return fmt::format("whose blocks of {} along {} may be cut by tiles", occupancy.pattern().block,
                       workload.dims[along].name);
  }
  for (const Fanout& fanout : problem.arch().fanouts) {
    if (fanout.x * fanout.y > 1 && !dims_apart(workload.tensors[t]).contains(along)) {
      return fmt::format("whose blocks lie along {}, which instances of {} may scatter",
                         workload.dims[along].name, fanout.name);
    }
  }
  return "";
}

// At every level further in a transfer of a tensor waits for the same leaders at least, and the
// compute units leave out whatever the levels do.
std::string why_not(const Problem& problem, TensorId t) {
  const SparseModel& model = *problem.sparse();
  const Workload& workload = problem.workload();
  const ZeroAct unit = model.machine().when_zero;
  std::vector<BoundCondition> outer;
  for (const LevelId l : problem.arch().levels.ids()) {
    if (!problem.may_keep(l, t)) {
      continue;
    }
    const std::vector<BoundCondition>& here = model.conditions(l, t);
    const std::string where =
        fmt::format("{} at {}", workload.tensors[t].name, problem.arch().levels[l].name);
    for (const BoundCondition& each : outer) {
      if (std::none_of(here.begin(), here.end(), [&](const BoundCondition& inner) {
            return inner.act == each.act && inner.leader == each.leader;
          })) {
        return where + " does not state the conditions of the levels further out";
      }
    }
    for (const BoundCondition& each : here) {
      const Tensor& leader = workload.tensors[each.leader];
      if (!is_stated(model, l, each.leader)) {
        return where + " waits for " + leader.name +
               ", of which no format says where its zeros are";
      }
      if (!model.looks_at(each.leader)) {
        return "the compute units do not look at zeros of " + leader.name + " (when_zero)";
      }
      if (unit != ZeroAct::kSkip && !(unit == ZeroAct::kGate && each.act == ZeroAct::kGate)) {
        return fmt::format("the compute units do not {}, too (when_zero)", to_string(each.act));
      }
      if (const std::string why = why_not_alone(problem, t, each.leader); !why.empty()) {
        return fmt::format("{} waits for {}, {}", where, leader.name, why);
      }
    }
    if (const std::string why = why_not_together(workload, t, here); !why.empty()) {
      return fmt::format("{} {}", where, why);
    }
    outer = here;
  }
  return "";
}

}  // namespace

std::string why_not_separable(const Problem& problem) {
  if (problem.sparse() == nullptr || !problem.sparse()->has_conditions()) {
    return "";
  }
  for (const Fanout& fanout : problem.arch().fanouts) {
    if (fanout.balance == Balance::kPacked) {
      return fanout.name +
             " packs nonzeros into lanes, which decides about transfers of whole nests";
    }
  }
  std::string why;
  for (const TensorId t : problem.workload().tensors.ids()) {
    why = why.empty() ? why_not(problem, t) : why;
  }
  return why;
}

}  // namespace mapsim
