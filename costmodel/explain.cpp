// SPDX-License-Identifier: Apache-2.0
#include "costmodel/explain.hpp"

#include <fmt/format.h>

#include <utility>

#include "costmodel/accesses.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

namespace {

using Terms = std::vector<EnergyTerm>;

void add_term(Terms& terms, EnergyTerm term) {
  if (term.count == 0) {
    return;
  }
  const double units = term.width == Bits{0} ? 1.0 : static_cast<double>(term.width.count());
  term.energy = Picojoules{term.per_unit * (term.count * units * term.density)};
  terms.push_back(std::move(term));
}

// Of an action that has no width.
EnergyTerm plain_term(const std::string& node, const char* action, std::int64_t count,
                      Picojoules each, const std::string& source) {
  EnergyTerm term;
  term.node = node;
  term.action = action;
  term.count = static_cast<double>(count);
  term.per_unit = each.count();
  term.source = source;
  return term;
}

const std::string& source_of(const StorageSources& sources, Action action) {
  return action == Action::kRead    ? sources.read
         : action == Action::kWrite ? sources.write
                                    : sources.update;
}

void add_accesses(const Storage& level, TensorId tensor, double density, const TensorCounts& at,
                  Terms& terms) {
  for (const Access access : kAccesses) {
    const AccessRule& rule = rule_of(access);
    EnergyTerm term = plain_term(level.name, rule.name, at.total.*rule.elements,
                                 Picojoules{energy_of(level.energy, rule.action).count()},
                                 source_of(level.sources, rule.action));
    term.tensor = tensor;
    term.width = width_of(at, access);
    term.density = density;
    add_term(terms, std::move(term));
  }
}

// Of what is not done, a node's table of energies has actions of its own.
std::string idle_source(const std::string& done, const std::string& node, const char* act,
                        double each) {
  const std::size_t end = done.find(": " + node + " ");
  return each > 0 && end != std::string::npos
             ? fmt::format("{}: {} {}_*", done.substr(0, end), node, act)
             : "";
}

// What is moved, what says where it lies, and what an access costs that is not made.
void add_sparse_accesses(const Arch& arch, LevelId l, TensorId tensor, const TensorCounts& at,
                         const SparseTensor& sparse, Terms& terms) {
  const Storage& level = arch.levels[l];
  const StorageSparsity& zeros = arch.sparsity->levels[l];
  for (const Access access : kAccesses) {
    const AccessRule& rule = rule_of(access);
    const SparseAccess& of = sparse.total[static_cast<std::size_t>(access)];
    const double each = energy_of(level.energy, rule.action).count();
    const std::string& source = source_of(level.sources, rule.action);
    const std::string name = rule.name;
    const Bits width = width_of(at, access);
    add_term(terms, {level.name, tensor, name, of.actual, width, 1, each, {}, source});
    add_term(terms,
             {level.name, tensor, name + ", format", of.format_bits, Bits{1}, 1, each, {}, source});
    const auto add_idle = [&](const char* act, double count, double pj) {
      add_term(terms, {level.name,
                       tensor,
                       name + ", " + act,
                       count,
                       width,
                       1,
                       pj,
                       {},
                       idle_source(source, level.name, act, pj)});
    };
    add_idle("gated", of.gated, zeros.gated.count());
    add_idle("skipped", of.skipped, zeros.skipped.count());
  }
}

void add_sparse_operations(const Arch& arch, const SparseCounts& sparse, Terms& terms) {
  const Compute& compute = arch.compute;
  const auto add = [&](const char* action, double count, Picojoules each,
                       const std::string& source) {
    add_term(terms, {compute.name, {}, action, count, Bits{0}, 1, each.count(), {}, source});
  };
  add("MAC", sparse.operations, compute.energy, compute.source);
  add("MAC, gated", sparse.gated, arch.sparsity->gated, "");
  add("MAC, skipped", sparse.skipped, arch.sparsity->skipped, "");
}

// Additions and hops.
void add_network(const Workload& workload, const Counts& counts, const Arch& arch, FanoutId f,
                 Terms& terms) {
  const Fanout& fanout = arch.fanouts[f];
  EnergyTerm additions = plain_term(fanout.name, "add", counts.reductions[f],
                                    fanout.reduction_energy, fanout.reduction_source);
  additions.density = arch.sparsity ? 1 : workload.tensors[workload.output()].density;
  add_term(terms, std::move(additions));
  for (const TensorId t : counts.networks[f].ids()) {
    const NetworkCounts& at = counts.networks[f][t];
    EnergyTerm hops{
        fanout.name,      t, "hop", at.word_hops(), at.bits, workload.tensors[t].density, 0, {},
        fanout.hop_source};
    hops.per_unit = fanout.energy_per_hop.value_or(PicojoulesPerBit{0}).count();
    add_term(terms, std::move(hops));
  }
}

// Instance cycles, at the energy that one leaks in a cycle.
void add_leakage(const Arch& arch, const std::string& node, const Physical& physical,
                 std::int64_t instances, Cycles cycles, Terms& terms) {
  constexpr double kPicojoulesPerMillijoule = 1e9;
  if (physical.leakage && arch.leaks) {
    const double per_cycle =
        physical.leakage->count() * kPicojoulesPerMillijoule / arch.clock.count();
    add_term(terms, plain_term(node, "leak", cycles.count() * instances, Picojoules{per_cycle},
                               physical.leakage_source));
  }
}

}  // namespace

std::vector<EnergyTerm> explain_energy(const Problem& problem, const Cost& cost) {
  const Arch& arch = problem.arch();
  const Counts& counts = cost.counts;
  Terms terms;
  for (const LevelId l : arch.levels.ids()) {
    for (const TensorId t : problem.workload().tensors.ids()) {
      if (cost.sparse) {
        add_sparse_accesses(arch, l, t, counts.levels[l][t], cost.sparse->levels[l][t], terms);
        continue;
      }
      add_accesses(arch.levels[l], t, problem.workload().tensors[t].density, counts.levels[l][t],
                   terms);
    }
  }
  for (const FanoutId f : arch.fanouts.ids()) {
    add_network(problem.workload(), counts, arch, f, terms);
  }
  const Compute& compute = arch.compute;
  if (cost.sparse) {
    add_sparse_operations(arch, *cost.sparse, terms);
  } else {
    EnergyTerm macs = plain_term(compute.name, "MAC", counts.macs, compute.energy, compute.source);
    macs.density = problem.mac_density();
    add_term(terms, std::move(macs));
  }
  for (const LevelId l : arch.levels.ids()) {
    const Storage& level = arch.levels[l];
    add_leakage(arch, level.name, level.physical, arch.instances(l), cost.latency.steady, terms);
  }
  add_leakage(arch, compute.name, compute.physical, arch.mac_units(), cost.latency.steady, terms);
  return terms;
}

}  // namespace mapsim
