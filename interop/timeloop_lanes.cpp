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

// Over which dims the mapping spreads lanes that take nonzeros; without one, over which it may.
DimSet TimeloopSparse::lane_dims(std::size_t l) const {
  DimSet packed;
  for (const TensorId t : design_.workload.tensors.ids()) {
    packed = levels_[l].packed.contains(t) ? packed | design_.workload.tensors[t].dims() : packed;
  }
  if (l >= design_.blocks.size()) {
    return packed;
  }
  DimSet dims;
  for (const TimeloopLoop& loop : design_.blocks[l].spatial) {
    if (packed.contains(loop.dim)) {
      dims.insert(loop.dim);
    }
  }
  return dims;
}

// Lanes that get nonzeros alone leave out the operations at zeros. Those of another operand that
// lie in other lanes save nothing: lanes take steps together.
void TimeloopSparse::set_lanes() {
  RoleSet roles;
  DimSet dims;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Words names;
    for (const TensorId t : design_.workload.tensors.ids()) {
      if (levels_[l].packed.contains(t)) {
        roles.insert(design_.workload.tensors[t].role);
        names.push_back(design_.workload.tensors[t].name);
      }
    }
    if (!names.empty()) {
      dims = dims | lane_dims(l);
      notes_.lines.push_back(fmt::format(
          "{}: the lanes below take the next nonzeros of {} (balance: packed), of the whole tile "
          "from which they are fed; in Timeloop, of one step",
          design_.machine.storages[l].name, joined(names, " and of ")));
    }
  }
  const ZeroAct given = sparsity_.when_zero;
  bool all_alike = true;
  for (const TensorId t : design_.workload.tensors.ids()) {
    const Tensor& tensor = design_.workload.tensors[t];
    const bool has_zeros = tensor.density < 1 || tensor.pattern;
    all_alike = all_alike && (t == design_.workload.output() || roles.contains(tensor.role) ||
                              !has_zeros || (tensor.dims() & dims).empty());
  }
  if (roles.empty() || (given == ZeroAct::kSkip && all_alike)) {
    return;
  }
  if (given != ZeroAct::kNothing) {
    notes_.lines.push_back(fmt::format(
        "the compute units skip zeros of what fills the lanes, so that no lane takes them, and do "
        "not {} those of other operands{}",
        to_string(given),
        given == ZeroAct::kGate ? ""
                                : ": lanes take steps together, so that a zero in one saves none; "
                                  "in Timeloop it does"));
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
