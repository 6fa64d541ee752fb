// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "interop/foreign_yaml.hpp"
#include "interop/timeloop_sparse.hpp"

namespace mapsim {

void TimeloopSparse::mark_lanes(TimeloopMachine& machine) const {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    DimSet& dims = machine.storages[l].packed;
    for (const TensorId t : design_.workload.tensors.ids()) {
      dims = levels_[l].packed.contains(t) ? dims | design_.workload.tensors[t].dims() : dims;
    }
  }
}

// Lanes that get nonzeros alone leave out the operations at zeros.
void TimeloopSparse::set_lanes() {
  RoleSet roles;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Words names;
    for (const TensorId t : design_.workload.tensors.ids()) {
      if (levels_[l].packed.contains(t)) {
        roles.insert(design_.workload.tensors[t].role);
        names.push_back(design_.workload.tensors[t].name);
      }
    }
    if (!names.empty()) {
      notes_.lines.push_back(fmt::format(
          "{}: the lanes below take the next nonzeros of {} (balance: packed), of the whole tile "
          "from which they are fed; in Timeloop, of one step",
          design_.machine.storages[l].name, joined(names, " and of ")));
    }
  }
  if (roles.empty() || sparsity_.when_zero == ZeroAct::kSkip) {
    return;
  }
  if (sparsity_.when_zero == ZeroAct::kGate) {
    notes_.lines.push_back(
        "the compute units skip zeros of what fills the lanes, so that no lane takes them, and do "
        "not gate those of other operands");
  }
  sparsity_.when_zero = ZeroAct::kSkip;
  sparsity_.zeros_of = roles;
}

void split_into_batches(TimeloopDesign& design, ImportNotes& notes) {
  for (std::size_t l = 0; l < design.blocks.size(); ++l) {
    TimeloopBlock& block = design.blocks[l];
    const TimeloopStorage& storage = design.machine.storages[l];
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      std::int64_t taken = 1;
      for (const TimeloopLoop& loop : block.spatial) {
        taken *= loop.axis == axis ? loop.bound : 1;
      }
      const std::int64_t lanes = design.machine.fanout(l, axis);
      const std::int64_t batches = std::max<std::int64_t>(1, taken / lanes);
      const auto loop =
          std::find_if(block.spatial.begin(), block.spatial.end(), [&](const TimeloopLoop& each) {
            return each.axis == axis && each.bound % batches == 0 &&
                   storage.packed.contains(each.dim);
          });
      if (batches == 1 || loop == block.spatial.end()) {
        continue;
      }
      const DimId dim = loop->dim;
      notes.lines.push_back(fmt::format("{}: {} of {} are {} steps of {} lanes", storage.name,
                                        loop->bound, design.workload.dims[dim].name, batches,
                                        loop->bound / batches));
      loop->residual = loop->bound /= batches;
      if (block.temporal.empty() || block.temporal.back().dim != dim) {
        block.temporal.push_back({dim, 1, 1, Axis::kX});
      }
      block.temporal.back().bound *= batches;
      block.temporal.back().residual *= batches;
    }
  }
}

}  // namespace mapsim
