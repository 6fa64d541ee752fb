// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <variant>

#include "costmodel/nvdla/engine.hpp"
#include "costmodel/timing/model.hpp"
#include "costmodel/timing/systolic.hpp"

namespace mapsim {

double whole_cycles(double cycles) {
  // Of one quotient or a product of few factors. A looser value could round a time down.
  constexpr double kQuotientError = 1e-12;
  return std::max(1.0, std::ceil(cycles * (1 - kQuotientError)));
}

namespace plain {

std::vector<std::string> facts(const Arch&) { return {}; }

ComputeTime time(const Problem& problem, const Nest&, std::int64_t steps) {
  ComputeTime time;
  time.busy = Cycles{steps * problem.arch().compute.issue_interval};
  return time;
}

double cycles_of_steps(const Problem& problem, double cycles) {
  return problem.sparse() == nullptr ? cycles : whole_cycles(cycles * problem.stepped());
}

PerTensor<TilePadding> paddings(const Problem&, const Nest&, const Counts&) { return {}; }

bool pads(const Arch&, LevelId) { return false; }

void bind(Arch&, const Workload&) {}

Bits need(const Problem& problem, LevelId, const PerTensor<TensorCounts>& counts,
          std::optional<Role> role) {
  Bits bits{0};
  for (const TensorId t : counts.ids()) {
    if (counts[t].kept && (!role || problem.workload().tensors[t].role == *role)) {
      bits += Bits{counts[t].footprint * counts[t].bits.count()};
    }
  }
  return bits;
}

std::vector<Partition> partitions(const Arch&, LevelId) { return {}; }

Padding padding(const Problem&, std::int64_t, TensorId) { return {}; }

PartialFolds partial_folds(const Arch&) { return PartialFolds::kNone; }

}  // namespace plain

namespace {

const TimingModel& model_of(std::monostate) {
  static constexpr TimingModel kModel{};
  return kModel;
}

}  // namespace

const TimingModel& timing_model(const Arch& arch) {
  return std::visit([](const auto& timing) -> const TimingModel& { return model_of(timing); },
                    arch.compute.timing);
}

bool may_leave_remainders(const Arch& arch) {
  const ArrayModel* array = timing_model(arch).array;
  return array != nullptr && array->partial_folds(arch) != PartialFolds::kNone &&
         arch.fanouts.size() == 1;
}

Padding padding_at(const Problem& problem, LevelId level, TensorId tensor, std::int64_t used) {
  const ArrayModel* array = timing_model(problem.arch()).array;
  return array != nullptr && !is_in_array(problem.arch(), level)
             ? array->padding(problem, used, tensor)
             : Padding{};
}

}  // namespace mapsim
