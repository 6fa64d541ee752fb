// SPDX-License-Identifier: Apache-2.0
#include "costmodel/explain.hpp"

#include <utility>

namespace mapsim {

namespace {

using Terms = std::vector<EnergyTerm>;

void add_term(Terms& terms, EnergyTerm term) {
  if (term.count == 0) {
    return;
  }
  const double units = term.width == Bits{0} ? 1.0 : static_cast<double>(term.width.count());
  term.energy = Picojoules{term.per_unit * (term.count * units)};
  terms.push_back(std::move(term));
}

void add_accesses(const Storage& level, TensorId tensor, const TensorCounts& at, Terms& terms) {
  const AccessCounts& n = at.total;
  const StorageEnergy& per_bit = level.energy;
  const StorageSources& sources = level.sources;
  const auto add = [&](const char* action, std::int64_t count, Bits width, PicojoulesPerBit energy,
                       const std::string& source) {
    add_term(terms, {level.name,
                     tensor,
                     action,
                     static_cast<double>(count),
                     width,
                     energy.count(),
                     {},
                     source});
  };
  add("read", n.reads, at.down_bits, per_bit.read, sources.read);
  add("read-back", n.readbacks, at.down_bits, per_bit.read, sources.read);
  add("drain", n.drains, at.up_bits, per_bit.read, sources.read);
  add("fill", n.fills, at.up_bits, per_bit.write, sources.write);
  add("update", n.updates, at.down_bits, per_bit.update, sources.update);
}

// Instance cycles, at the energy that one leaks in a cycle.
void add_leakage(const Arch& arch, const std::string& node, const Physical& physical,
                 std::int64_t instances, Cycles cycles, Terms& terms) {
  constexpr double kPicojoulesPerMillijoule = 1e9;
  if (physical.leakage && arch.leaks) {
    const double per_cycle =
        physical.leakage->count() * kPicojoulesPerMillijoule / arch.clock.count();
    add_term(terms, {node,
                     std::nullopt,
                     "leak",
                     static_cast<double>(cycles.count() * instances),
                     Bits{0},
                     per_cycle,
                     {},
                     physical.leakage_source});
  }
}

}  // namespace

std::vector<EnergyTerm> explain_energy(const Problem& problem, const Cost& cost) {
  const Arch& arch = problem.arch();
  const Counts& counts = cost.counts;
  Terms terms;
  for (const LevelId l : arch.levels.ids()) {
    for (const TensorId t : problem.workload().tensors.ids()) {
      add_accesses(arch.levels[l], t, counts.levels[l][t], terms);
    }
  }
  for (const FanoutId f : arch.fanouts.ids()) {
    const Fanout& fanout = arch.fanouts[f];
    add_term(terms, {fanout.name,
                     std::nullopt,
                     "add",
                     static_cast<double>(counts.reductions[f]),
                     Bits{0},
                     fanout.reduction_energy.count(),
                     {},
                     fanout.reduction_source});
    for (const TensorId t : counts.networks[f].ids()) {
      const NetworkCounts& at = counts.networks[f][t];
      const double per_bit = fanout.energy_per_hop.value_or(PicojoulesPerBit{0}).count();
      add_term(terms,
               {fanout.name, t, "hop", at.word_hops(), at.bits, per_bit, {}, fanout.hop_source});
    }
  }
  const Compute& compute = arch.compute;
  add_term(terms, {compute.name,
                   std::nullopt,
                   "MAC",
                   static_cast<double>(counts.macs),
                   Bits{0},
                   compute.energy.count(),
                   {},
                   compute.source});
  for (const LevelId l : arch.levels.ids()) {
    const Storage& level = arch.levels[l];
    add_leakage(arch, level.name, level.physical, arch.instances(l), cost.latency.steady, terms);
  }
  add_leakage(arch, compute.name, compute.physical, arch.mac_units(), cost.latency.steady, terms);
  return terms;
}

}  // namespace mapsim
