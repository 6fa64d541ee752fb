// SPDX-License-Identifier: Apache-2.0
#include "costmodel/evaluate.hpp"

namespace mapsim {

namespace {

double bits_of(std::int64_t elements, Bits width) {
  return static_cast<double>(elements) * static_cast<double>(width.count());
}

// Reads, read-backs and drains pay `read`; fills pay `write`; updates pay `update`: design
// section 5.
TensorEnergy tensor_energy(const StorageEnergy& per_bit, const TensorCounts& at) {
  const AccessCounts& n = at.total;
  TensorEnergy energy;
  energy.read = Picojoules{per_bit.read.count() * (bits_of(n.reads + n.readbacks, at.down_bits) +
                                                   bits_of(n.drains, at.up_bits))};
  energy.write = Picojoules{per_bit.write.count() * bits_of(n.fills, at.up_bits)};
  energy.update = Picojoules{per_bit.update.count() * bits_of(n.updates, at.down_bits)};
  energy.total = energy.read + energy.write + energy.update;
  return energy;
}

}  // namespace

Energy energy(const Problem& problem, const Counts& counts) {
  const Arch& arch = problem.arch();
  const std::size_t tensors = problem.workload().tensors.size();
  Energy energy;
  energy.levels =
      PerLevel<PerTensor<TensorEnergy>>(arch.levels.size(), PerTensor<TensorEnergy>(tensors));
  for (const LevelId l : arch.levels.ids()) {
    for (const TensorId t : counts.levels[l].ids()) {
      energy.levels[l][t] = tensor_energy(arch.levels[l].energy, counts.levels[l][t]);
      energy.total += energy.levels[l][t].total;
    }
  }
  for (const FanoutId f : arch.fanouts.ids()) {
    energy.fanouts.push_back(arch.fanouts[f].reduction_energy *
                             static_cast<double>(counts.reductions[f]));
    energy.total += energy.fanouts[f];
  }
  energy.compute = arch.compute.energy * static_cast<double>(counts.macs);
  energy.total += energy.compute;
  return energy;
}

}  // namespace mapsim
