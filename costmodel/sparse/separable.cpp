// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/separable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "costmodel/crossing.hpp"
#include "costmodel/sparse/count_sparse.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

namespace {

// Each transfer of a tensor waits for one leader, at every level further in for the same, and the
// compute units leave out whatever the levels do.
std::string why_not(const Problem& problem, TensorId t) {
  const SparseModel& model = *problem.sparse();
  const Workload& workload = problem.workload();
  const ZeroAct unit = model.machine().when_zero;
  std::optional<BoundCondition> outer;
  for (const LevelId l : problem.arch().levels.ids()) {
    if (!problem.may_keep(l, t)) {
      continue;
    }
    const std::vector<BoundCondition>& here = model.conditions(l, t);
    const std::string where =
        fmt::format("{} at {}", workload.tensors[t].name, problem.arch().levels[l].name);
    if (here.size() > 1) {
      return where + " waits for several tensors";
    }
    if (outer &&
        (here.empty() || here.front().act != outer->act || here.front().leader != outer->leader)) {
      return where + " does not state the condition of the levels further out";
    }
    if (here.empty()) {
      continue;
    }
    outer = here.front();
    const Tensor& leader = workload.tensors[outer->leader];
    if (!is_stated(model, l, outer->leader)) {
      return where + " waits for " + leader.name + ", of which no format says where its zeros are";
    }
    if (!model.looks_at(leader)) {
      return "the compute units do not look at zeros of " + leader.name + " (when_zero)";
    }
    if (unit != ZeroAct::kSkip && !(unit == ZeroAct::kGate && outer->act == ZeroAct::kGate)) {
      return fmt::format("the compute units do not {}, too (when_zero)", to_string(outer->act));
    }
    if (!model.occupancy(outer->leader).is_uniform() || has_window(leader)) {
      return fmt::format("{} waits for {}, which has a window or is not of uniform density", where,
                         leader.name);
    }
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
