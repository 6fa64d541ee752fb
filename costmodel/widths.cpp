// SPDX-License-Identifier: Apache-2.0
#include "costmodel/widths.hpp"

#include "costmodel/accesses.hpp"

namespace mapsim {

void assign_widths(const Workload& workload, Counts& counts) {
  // The outermost level keeps the whole output: its footprint is |O|.
  assign_widths(workload, counts.levels[LevelId{0}][workload.output()].footprint, counts);
}

void assign_widths(const Workload& workload, std::int64_t distinct, Counts& counts) {
  for (const LevelId l : counts.levels.ids()) {
    for (const TensorId t : workload.tensors.ids()) {
      TensorCounts& at = counts.levels[l][t];
      if (!at.kept) {
        continue;
      }
      const Tensor& tensor = workload.tensors[t];
      at.bits = at.down_bits = at.up_bits = tensor.bits;
      if (t == workload.output()) {
        const auto width = [&](std::int64_t crossing) {
          return crosses_once(crossing, distinct) ? tensor.bits : tensor.partial_bits;
        };
        at.down_bits = width(at.total.updates);
        at.up_bits = at.total.drains == 0 ? at.down_bits : width(at.total.drains);
        at.bits = at.down_bits;
      }
    }
  }
}

void assign_network_widths(const Workload& workload, Counts& counts) {
  assign_network_widths(workload, counts.levels[LevelId{0}][workload.output()].footprint, counts);
}

void assign_network_widths(const Workload& workload, std::int64_t distinct, Counts& counts) {
  for (auto& network : counts.networks) {
    for (const TensorId t : network.ids()) {
      NetworkCounts& at = network[t];
      const Tensor& tensor = workload.tensors[t];
      if (at.words > 0) {
        const bool partial = t == workload.output() && !crosses_once(at.received, distinct);
        at.bits = partial ? tensor.partial_bits : tensor.bits;
      }
    }
  }
}

void assign_ports(Counts& counts) {
  for (auto& level : counts.levels) {
    for (TensorCounts& at : level) {
      at.read_bits = bits_through(at, PortKind::kRead);
      at.write_bits = bits_through(at, PortKind::kWrite);
    }
  }
}

}  // namespace mapsim
