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
  term.energy = Picojoules{term.per_unit * (static_cast<double>(term.count) * units)};
  terms.push_back(std::move(term));
}

void add_accesses(const Storage& level, TensorId tensor, const TensorCounts& at, Terms& terms) {
  const AccessCounts& n = at.total;
  const StorageEnergy& per_bit = level.energy;
  const StorageSources& sources = level.sources;
  const auto add = [&](const char* action, std::int64_t count, Bits width, PicojoulesPerBit energy,
                       const std::string& source) {
    add_term(terms, {level.name, tensor, action, count, width, energy.count(), {}, source});
  };
  add("read", n.reads, at.down_bits, per_bit.read, sources.read);
  add("read-back", n.readbacks, at.down_bits, per_bit.read, sources.read);
  add("drain", n.drains, at.up_bits, per_bit.read, sources.read);
  add("fill", n.fills, at.up_bits, per_bit.write, sources.write);
  add("update", n.updates, at.down_bits, per_bit.update, sources.update);
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
                     counts.reductions[f],
                     Bits{0},
                     fanout.reduction_energy.count(),
                     {},
                     fanout.reduction_source});
  }
  const Compute& compute = arch.compute;
  add_term(terms, {compute.name,
                   std::nullopt,
                   "MAC",
                   counts.macs,
                   Bits{0},
                   compute.energy.count(),
                   {},
                   compute.source});
  return terms;
}

}  // namespace mapsim
