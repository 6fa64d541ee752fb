// SPDX-License-Identifier: Apache-2.0
#include "costmodel/widths.hpp"

namespace mapsim {

void assign_widths(const Workload& workload, Counts& counts) {
  for (const LevelId l : counts.levels.ids()) {
    for (const TensorId t : workload.tensors.ids()) {
      TensorCounts& at = counts.levels[l][t];
      if (!at.kept) {
        continue;
      }
      const Tensor& tensor = workload.tensors[t];
      at.bits = at.down_bits = at.up_bits = tensor.bits;
      if (t == workload.output()) {
        // The outermost level keeps the whole output: its footprint is |O|.
        const std::int64_t distinct = counts.levels[LevelId{0}][t].footprint;
        at.down_bits = at.total.updates == distinct ? tensor.bits : tensor.partial_bits;
        at.up_bits = l == LevelId{0}
                         ? at.down_bits
                         : (at.total.drains == distinct ? tensor.bits : tensor.partial_bits);
        at.bits = at.down_bits;
      }
    }
  }
}

void assign_network_widths(const Workload& workload, Counts& counts) {
  for (auto& network : counts.networks) {
    for (const TensorId t : network.ids()) {
      NetworkCounts& at = network[t];
      const Tensor& tensor = workload.tensors[t];
      if (at.words > 0) {
        at.bits = t != workload.output() || at.received == counts.levels[LevelId{0}][t].footprint
                      ? tensor.bits
                      : tensor.partial_bits;
      }
    }
  }
}

void assign_ports(Counts& counts) {
  for (auto& level : counts.levels) {
    for (TensorCounts& at : level) {
      const AccessCounts& n = at.busiest;
      at.read_bits = (n.reads + n.readbacks) * at.down_bits + n.drains * at.up_bits;
      at.write_bits = n.fills * at.up_bits + n.updates * at.down_bits;
    }
  }
}

}  // namespace mapsim
