// SPDX-License-Identifier: Apache-2.0
#include "costmodel/technology.hpp"

#include <fmt/format.h>

#include <utility>

namespace mapsim {

namespace {

void bind_mac(Technology technology, const Workload& workload, Compute& compute) {
  const Bits sum = workload.tensors[workload.output()].partial_bits;
  const Bits first = workload.tensors[TensorId{0}].bits;
  compute.energy = Picojoules{0};
  compute.source.clear();
  for (const TensorId t : workload.tensors.ids()) {
    if (t == TensorId{0} || t == workload.output()) {
      continue;
    }
    const Bits other = workload.tensors[t].bits;
    const Figure figure = multiply_energy(technology, compute.format, first, other);
    compute.energy += Picojoules{figure.value};
    compute.source += fmt::format("{} b x {} b, {:.4g} pJ: {}; ", first.count(), other.count(),
                                  figure.value, figure.source);
  }
  const Figure figure = add_energy(technology, compute.format, sum);
  compute.energy += Picojoules{figure.value};
  compute.source += fmt::format("+ {} b, {:.4g} pJ: {}", sum.count(), figure.value, figure.source);
}

}  // namespace

Arch bind_widths(Arch arch, const Workload& workload) {
  if (!arch.technology) {
    return arch;
  }
  if (arch.compute.energy_by_width) {
    bind_mac(*arch.technology, workload, arch.compute);
  }
  const Figure addition = add_energy(*arch.technology, arch.compute.format,
                                     workload.tensors[workload.output()].partial_bits);
  for (Fanout& fanout : arch.fanouts) {
    if (fanout.reduction_by_width) {
      fanout.reduction_energy = Picojoules{addition.value};
      fanout.reduction_source = addition.source;
    }
  }
  return arch;
}

}  // namespace mapsim
