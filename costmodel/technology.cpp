// SPDX-License-Identifier: Apache-2.0
#include "costmodel/technology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/diagnostic.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

namespace {

// Multiplications and the addition of a MAC apart.
struct MacEnergy {
  Picojoules multiply{0};
  Picojoules add{0};
};

// Of one sum; an element of the form winograd is four side by side.
Bits sum_bits(const Workload& workload) {
  return Bits{workload.tensors[workload.output()].partial_bits.count() /
              outputs_per_element(workload)};
}

MacEnergy mac_energy(Technology technology, NumberFormat format, const Workload& workload,
                     std::string& source) {
  MacEnergy energy;
  const Bits first = workload.tensors[TensorId{0}].bits;
  for (const TensorId t : workload.tensors.ids()) {
    if (t == TensorId{0} || t == workload.output()) {
      continue;
    }
    const Bits other = workload.tensors[t].bits;
    const Figure figure = multiply_energy(technology, format, first, other);
    energy.multiply += Picojoules{figure.value};
    source += fmt::format("{} b x {} b, {:.4g} pJ: {}; ", first.count(), other.count(),
                          figure.value, figure.source);
  }
  const Bits sum = sum_bits(workload);
  const Figure figure = add_energy(technology, format, sum);
  energy.add = Picojoules{figure.value};
  source += fmt::format("+ {} b, {:.4g} pJ: {}", sum.count(), figure.value, figure.source);
  return energy;
}

void bind_physical(Technology technology, const Workload& workload, Compute& compute) {
  std::string unused;
  const MacEnergy at45 = mac_energy(Technology::k45nm, compute.format, workload, unused);
  Physical& physical = compute.physical;
  if (!physical.area) {
    const Figure figure = mac_area(technology, compute.format, at45.multiply, at45.add);
    physical.area = SquareMillimetres{figure.value};
    physical.area_source = figure.source;
  }
  if (!physical.leakage) {
    const Figure figure = logic_leakage(technology, *physical.area);
    physical.leakage = Milliwatts{figure.value};
    physical.leakage_source = figure.source;
  }
}

// Of the pairs that are listed and wide enough, the fastest.
void bind_interval(const Arch& arch, const Workload& workload, Compute& compute) {
  if (compute.intervals.empty()) {
    return;
  }
  Bits wide{0};  // the two widest operands
  Bits narrow{0};
  for (const Tensor& tensor : workload.tensors) {
    if (tensor.role != Role::kOutput) {
      narrow = std::max(narrow, std::min(wide, tensor.bits));
      wide = std::max(wide, tensor.bits);
    }
  }
  std::optional<std::int64_t> fastest;
  for (const WidthInterval& at : compute.intervals) {
    if (wide <= at.wide && narrow <= at.narrow) {
      fastest = std::min(fastest.value_or(at.cycles), at.cycles);
    }
  }
  if (!fastest) {
    throw ConfigError({{arch.name, 0, 0, compute.name + ".issue_interval",
                        fmt::format("none is given for operands of {} b and {} b; add {}x{}",
                                    narrow.count(), wide.count(), narrow.count(), wide.count()),
                        ""}});
  }
  compute.issue_interval = *fastest;
}

}  // namespace

Arch bind_widths(Arch arch, const Workload& workload) {
  bind_interval(arch, workload, arch.compute);
  timing_model(arch).bind(arch, workload);
  if (!arch.technology) {
    return arch;
  }
  if (arch.compute.energy_by_width) {
    arch.compute.source.clear();
    const MacEnergy mac =
        mac_energy(*arch.technology, arch.compute.format, workload, arch.compute.source);
    arch.compute.energy = mac.multiply + mac.add;
  }
  bind_physical(*arch.technology, workload, arch.compute);
  const Figure addition = add_energy(*arch.technology, arch.compute.format, sum_bits(workload));
  for (Fanout& fanout : arch.fanouts) {
    if (fanout.reduction_by_width) {
      fanout.reduction_energy = Picojoules{addition.value};
      fanout.reduction_source = addition.source;
    }
  }
  return arch;
}

}  // namespace mapsim
