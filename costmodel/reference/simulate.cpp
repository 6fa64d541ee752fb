// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/simulate.hpp"

#include <algorithm>

#include "core/rng.hpp"
#include "costmodel/reference/nest_machine.hpp"
#include "costmodel/reference/point_set.hpp"
#include "costmodel/widths.hpp"

namespace mapsim {
namespace {

DenseTensor zeros(const Workload& workload, TensorId tensor) {
  const auto size = static_cast<std::size_t>(Projection{workload, tensor}.box_size());
  return {box_shape(workload, workload.tensors[tensor]), std::vector<double>(size, 0)};
}

}  // namespace

PerTensor<DenseTensor> random_operands(const Workload& workload, std::uint64_t seed) {
  constexpr std::uint64_t kValues = 17;  // -8..8
  Rng rng{seed};
  PerTensor<DenseTensor> tensors;
  for (const TensorId t : workload.tensors.ids()) {
    tensors.push_back(zeros(workload, t));
    if (t == workload.output()) {
      continue;
    }
    for (const std::int64_t point : Projection{workload, t}.points(whole_tile(workload))) {
      tensors[t].values[static_cast<std::size_t>(point)] =
          static_cast<double>(rng.below(kValues)) - 8;
    }
  }
  return tensors;
}

std::vector<PerTensor<DenseTensor>> random_operands(const EinsumChain& chain, std::uint64_t seed) {
  std::vector<PerTensor<DenseTensor>> operands;
  for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
    operands.push_back(random_operands(chain.einsums[e], seed + e));
    for (const TensorId t : chain.einsums[e].tensors.ids()) {
      if (chain.intermediate_of({e, t})) {
        std::fill(operands[e][t].values.begin(), operands[e][t].values.end(), 0);
      }
    }
  }
  return operands;
}

Simulation simulate(const Problem& problem, const Mapping& mapping,
                    const PerTensor<DenseTensor>& operands, std::int64_t max_steps,
                    const std::atomic<bool>* stop) {
  const Workload& workload = problem.workload();
  PerTensor<Projection> projections;
  for (const TensorId t : workload.tensors.ids()) {
    projections.push_back({workload, t});
  }
  std::vector<std::vector<char>> masks;  // nonzeros
  for (const TensorId t : workload.tensors.ids()) {
    if (problem.sparse() != nullptr) {
      masks.emplace_back();
      for (const double value : operands[t].values) {
        masks.back().push_back(value != 0 ? 1 : 0);
      }
    }
  }
  NestMachine machine{problem, workload, mapping, projections, std::move(masks)};
  const IterationTile whole = whole_tile(workload);
  machine.begin(whole);
  const TensorId output = workload.output();
  for (const TensorId t : workload.tensors.ids()) {
    HeldPoints& around = machine.around(t);
    around.points = projections[t].points(whole);
    for (const std::int64_t point : around.points) {
      around.values.push_back(t == output ? 0
                                          : operands[t].values[static_cast<std::size_t>(point)]);
    }
  }
  if (!machine.run(max_steps, stop)) {
    return {{}, {}, 0, true, {}};
  }
  Simulation result{machine.counts(), {}, 0, false, zeros(workload, output)};
  if (problem.sparse() != nullptr) {
    result.sparse = machine.sparse_counts();
    result.busiest_steps = machine.busiest_steps();
  }
  assign_widths(workload, result.counts);
  assign_ports(result.counts);
  assign_network_widths(workload, result.counts);
  const HeldPoints& sums = machine.around(output);
  for (std::size_t i = 0; i < sums.points.size(); ++i) {
    result.output.values[static_cast<std::size_t>(sums.points[i])] = sums.values[i];
  }
  return result;
}

}  // namespace mapsim
