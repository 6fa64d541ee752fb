// SPDX-License-Identifier: Apache-2.0
#include "validate/agreement.hpp"

#include <cassert>

namespace mapsim {

namespace {

void add_accesses(const std::string& name, const std::string& of, const AccessCounts& counts,
                  std::vector<NamedCount>& list) {
  list.push_back({name + " reads" + of, counts.reads});
  list.push_back({name + " fills" + of, counts.fills});
  list.push_back({name + " updates" + of, counts.updates});
  list.push_back({name + " read-backs" + of, counts.readbacks});
  list.push_back({name + " drains" + of, counts.drains});
}

void add_network(const std::string& name, const NetworkCounts& counts,
                 std::vector<NamedCount>& list) {
  list.push_back({name + " words", counts.words});
  list.push_back({name + " words received", counts.received});
  list.push_back({name + " words routed", counts.routed});
  list.push_back({name + " words returned", counts.returns});
  list.push_back({name + " half hops", counts.half_hops});
}

// Index into the row-major values of a tensor of the element that an iteration touches.
std::size_t element(const Tensor& tensor, const std::vector<std::int64_t>& shape,
                    const PerDim<std::int64_t>& point) {
  std::int64_t index = 0;
  for (std::size_t r = 0; r < tensor.ranks.size(); ++r) {
    std::int64_t coordinate = 0;
    for (const Term& term : tensor.ranks[r].terms) {
      coordinate += term.coefficient * point[term.dim];
    }
    index = index * shape[r] + coordinate;
  }
  return static_cast<std::size_t>(index);
}

// The next iteration, the last dim fastest; false after the last one.
bool advance(const Workload& workload, PerDim<std::int64_t>& point) {
  for (std::size_t i = point.size(); i-- > 0;) {
    const DimId dim{static_cast<DimId>(i)};
    if (++point[dim] < workload.dims[dim].bound) {
      return true;
    }
    point[dim] = 0;
  }
  return false;
}

}  // namespace

std::vector<NamedCount> list_counts(const Arch& arch, const Workload& workload,
                                    const Counts& counts) {
  std::vector<NamedCount> list{{"MACs", counts.macs}, {"steps", counts.steps}};
  for (const FanoutId fanout : arch.fanouts.ids()) {
    const std::string& name = arch.fanouts[fanout].name;
    list.push_back({name + " instances along X", counts.used_x[fanout]});
    list.push_back({name + " instances along Y", counts.used_y[fanout]});
    list.push_back({name + " reductions", counts.reductions[fanout]});
    if (!arch.fanouts[fanout].energy_per_hop) {
      continue;  // its networks are not counted
    }
    for (const TensorId id : workload.tensors.ids()) {
      add_network(name + " " + workload.tensors[id].name, counts.networks[fanout][id], list);
    }
  }
  for (const LevelId level : arch.levels.ids()) {
    for (const TensorId id : workload.tensors.ids()) {
      const TensorCounts& at = counts.levels[level][id];
      if (!at.kept) {
        continue;
      }
      const std::string name = arch.levels[level].name + " " + workload.tensors[id].name;
      list.push_back({name + " footprint", at.footprint});
      add_accesses(name, "", at.total, list);
      add_accesses(name, " (busiest instance)", at.busiest, list);
    }
  }
  return list;
}

Agreement compare_counts(const Arch& arch, const Workload& workload, const Counts& model,
                         const Counts& simulated) {
  const std::vector<NamedCount> expected = list_counts(arch, workload, model);
  const std::vector<NamedCount> found = list_counts(arch, workload, simulated);
  assert(expected.size() == found.size());
  Agreement agreement;
  agreement.compared = static_cast<std::int64_t>(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i].value != found[i].value) {
      agreement.differences.push_back({expected[i].name, expected[i].value, found[i].value});
    }
  }
  return agreement;
}

DenseTensor plain_loops(const Workload& workload, const PerTensor<DenseTensor>& operands) {
  const TensorId output = workload.output();
  DenseTensor result = operands[output];
  result.values.assign(result.values.size(), 0);
  PerDim<std::int64_t> point(workload.dims.size(), 0);
  do {
    double product = 1;
    for (const TensorId id : workload.tensors.ids()) {
      if (id != output) {
        product *= operands[id].values[element(workload.tensors[id], operands[id].shape, point)];
      }
    }
    result.values[element(workload.tensors[output], result.shape, point)] += product;
  } while (advance(workload, point));
  return result;
}

std::vector<DenseTensor> plain_loops(const EinsumChain& chain,
                                     const std::vector<PerTensor<DenseTensor>>& operands) {
  std::vector<DenseTensor> outputs;
  for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
    PerTensor<DenseTensor> read = operands[e];
    for (const TensorId t : chain.einsums[e].tensors.ids()) {
      const auto i = chain.intermediate_of({e, t});
      if (i && t != chain.einsums[e].output()) {
        read[t] = outputs[chain.intermediates[*i].producer];
      }
    }
    outputs.push_back(plain_loops(chain.einsums[e], read));
  }
  return outputs;
}

std::int64_t count_wrong(const DenseTensor& expected, const DenseTensor& actual) {
  assert(expected.shape == actual.shape);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    wrong += expected.values[i] != actual.values[i] ? 1 : 0;
  }
  return wrong;
}

}  // namespace mapsim
