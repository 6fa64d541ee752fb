// SPDX-License-Identifier: Apache-2.0
#include "costmodel/evaluate_into.hpp"
#include "costmodel/nvdla/features.hpp"

namespace mapsim {

namespace {

// Reads, read-backs and drains pay `read`; fills pay `write`; updates pay `update`: design
// section 5. `padding`: of features in an engine's memory.
TensorEnergy tensor_energy(const Problem& problem, TensorId tensor, const StorageEnergy& per_bit,
                           const TensorCounts& at, const Padding& padding) {
  const AccessCounts& n = at.total;
  const auto bits = [&](std::int64_t elements, Bits width) {
    return padding.of(static_cast<double>(elements) * problem.moved_bits(tensor, width));
  };
  TensorEnergy energy;
  energy.read = Picojoules{per_bit.read.count() * (bits(n.reads + n.readbacks, at.down_bits) +
                                                   bits(n.drains, at.up_bits))};
  energy.write = Picojoules{per_bit.write.count() * bits(n.fills, at.up_bits)};
  energy.update = Picojoules{per_bit.update.count() * bits(n.updates, at.down_bits)};
  energy.total = energy.read + energy.write + energy.update;
  return energy;
}

}  // namespace

void energy_into(const Problem& problem, const Counts& counts, Energy& energy) {
  const Arch& arch = problem.arch();
  energy.total = Picojoules{0};
  const PerTensor<Padding> features = feature_paddings(problem, counts.levels[LevelId{0}]);
  energy.levels.resize(arch.levels.size());
  for (const LevelId l : arch.levels.ids()) {
    energy.levels[l].resize(counts.levels[l].size());
    for (const TensorId t : counts.levels[l].ids()) {
      const bool pads = !features.empty() && holds_padded_features(arch, l);
      energy.levels[l][t] = tensor_energy(problem, t, arch.levels[l].energy, counts.levels[l][t],
                                          pads ? features[t] : Padding{});
      energy.total += energy.levels[l][t].total;
    }
  }
  energy.fanouts.resize(arch.fanouts.size());
  energy.hops.resize(arch.fanouts.size());
  for (const FanoutId f : arch.fanouts.ids()) {
    energy.fanouts[f] = problem.addition_energy(f) * static_cast<double>(counts.reductions[f]);
    energy.total += energy.fanouts[f];
    const double per_bit = arch.fanouts[f].energy_per_hop.value_or(PicojoulesPerBit{0}).count();
    energy.hops[f].resize(counts.networks[f].size());
    for (const TensorId t : counts.networks[f].ids()) {
      const NetworkCounts& at = counts.networks[f][t];
      energy.hops[f][t] = Picojoules{per_bit * at.word_hops() * problem.moved_bits(t, at.bits)};
      energy.total += energy.hops[f][t];
    }
  }
  energy.leakage = Picojoules{0};
  energy.compute = problem.mac_energy() * static_cast<double>(counts.macs);
  energy.total += energy.compute;
}

Energy energy(const Problem& problem, const Counts& counts) {
  Energy energy;
  energy_into(problem, counts, energy);
  return energy;
}

}  // namespace mapsim
