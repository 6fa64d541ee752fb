// SPDX-License-Identifier: Apache-2.0
#include "costmodel/accesses.hpp"
#include "costmodel/evaluate_into.hpp"
#include "costmodel/nvdla/features.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

namespace {

// `padding`: of features in an engine's memory.
TensorEnergy tensor_energy(const Problem& problem, TensorId tensor, const StorageEnergy& per_bit,
                           const TensorCounts& at, const Padding& padding) {
  const auto paid_for = [&](Action action) {
    double bits = 0;
    for (const Access access : kAccesses) {
      const auto elements = static_cast<double>(at.total.*rule_of(access).elements);
      bits += rule_of(access).action == action
                  ? padding.of(elements * problem.moved_bits(tensor, width_of(at, access)))
                  : 0;
    }
    return Picojoules{energy_of(per_bit, action).count() * bits};
  };
  TensorEnergy energy;
  energy.read = paid_for(Action::kRead);
  energy.write = paid_for(Action::kWrite);
  energy.update = paid_for(Action::kUpdate);
  energy.total = energy.read + energy.write + energy.update;
  return energy;
}

// What is moved, and what an access costs that is not made.
TensorEnergy sparse_energy(const StorageEnergy& per_bit, const StorageSparsity& zeros,
                           const TensorCounts& at, const SparseTensor& sparse) {
  const auto paid_for = [&](Action action) {
    double bits = 0;
    double idle = 0;  // pJ
    for (const Access access : kAccesses) {
      if (rule_of(access).action == action) {
        const SparseAccess& of = sparse.total[static_cast<std::size_t>(access)];
        const auto width = static_cast<double>(width_of(at, access).count());
        bits += bits_of(sparse.total, access, width_of(at, access));
        idle += width * (zeros.gated.count() * of.gated + zeros.skipped.count() * of.skipped);
      }
    }
    return Picojoules{energy_of(per_bit, action).count() * bits + idle};
  };
  TensorEnergy energy{paid_for(Action::kRead), paid_for(Action::kWrite), paid_for(Action::kUpdate),
                      Picojoules{0}};
  energy.total = energy.read + energy.write + energy.update;
  return energy;
}

}  // namespace

void energy_into(const Problem& problem, const Counts& counts, Energy& energy,
                 const SparseCounts* sparse) {
  const Arch& arch = problem.arch();
  energy.total = Picojoules{0};
  const PerTensor<Padding> features = feature_paddings(problem, counts.levels[LevelId{0}]);
  energy.levels.resize(arch.levels.size());
  for (const LevelId l : arch.levels.ids()) {
    energy.levels[l].resize(counts.levels[l].size());
    for (const TensorId t : counts.levels[l].ids()) {
      const bool pads = !features.empty() && holds_padded_features(arch, l);
      energy.levels[l][t] =
          sparse != nullptr ? sparse_energy(arch.levels[l].energy, arch.sparsity->levels[l],
                                            counts.levels[l][t], sparse->levels[l][t])
                            : tensor_energy(problem, t, arch.levels[l].energy, counts.levels[l][t],
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
  energy.compute = sparse == nullptr ? problem.mac_energy() * static_cast<double>(counts.macs)
                                     : arch.compute.energy * sparse->operations +
                                           arch.sparsity->gated * sparse->gated +
                                           arch.sparsity->skipped * sparse->skipped;
  energy.total += energy.compute;
}

Energy energy(const Problem& problem, const Counts& counts) {
  Energy energy;
  energy_into(problem, counts, energy);
  return energy;
}

}  // namespace mapsim
