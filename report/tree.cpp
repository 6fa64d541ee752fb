// SPDX-License-Identifier: Apache-2.0
#include "report/tree.hpp"

#include <fmt/format.h>

#include "costmodel/crossing.hpp"
#include "costmodel/fusion/shape.hpp"
#include "report/figures.hpp"
#include "report/names.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

const std::string& name_of(const EinsumChain& chain, const ChainTensor& tensor) {
  return chain.names[tensor.einsum][tensor.tensor];
}

std::string einsums_text(const Arch& arch, const EinsumChain& chain, const TreeCost& cost) {
  std::vector<Row> rows{{"", "MACs", "energy", "cycles", "bottleneck"}};
  std::int64_t macs = 0;
  for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
    const EinsumCost& at = cost.einsums[e];
    macs += cost.counts.einsums[e].macs;
    rows.push_back({chain.einsums[e].name, grouped(cost.counts.einsums[e].macs),
                    energy_text(at.energy.total), grouped(at.latency.steady.count()),
                    resource_name(arch, at.latency.resources[at.latency.bottleneck])});
  }
  rows.push_back({"all", grouped(macs), energy_text(cost.energy), grouped(cost.latency.count())});
  return table(rows);
}

std::string levels_text(const Arch& arch, const EinsumChain& chain, const TreeCost& cost) {
  Row head{""};
  for (const Workload& einsum : chain.einsums) {
    head.push_back(einsum.name);
  }
  std::vector<Row> rows{head};
  for (const LevelId l : arch.levels.ids()) {
    Row row{arch.levels[l].name};
    for (const EinsumCost& at : cost.einsums) {
      Picojoules sum{0};
      for (const TensorEnergy& tensor : at.energy.levels[l]) {
        sum += tensor.total;
      }
      row.push_back(energy_text(sum));
    }
    rows.push_back(row);
  }
  Row compute{arch.compute.name};
  for (const EinsumCost& at : cost.einsums) {
    compute.push_back(energy_text(at.energy.compute));
  }
  rows.push_back(compute);
  return table(rows);
}

std::string scopes_text(const Arch& arch, const EinsumChain& chain, const TreeShape& shape,
                        const TreeCost& cost) {
  std::vector<Row> rows{{"", "scope", "points", "made", "live", "carried", "energy"}};
  for (const TensorScope& scope : shape.scopes) {
    const Intermediate& t = chain.intermediates[scope.intermediate];
    const IntermediateCounts& at = cost.counts.intermediates[scope.intermediate];
    rows.push_back({t.name,
                    arch.levels[scope.level].name + (scope.level == LevelId{0} ? " (spilled)" : ""),
                    grouped(points_of(chain, t)), grouped(at.made), grouped(at.held.live),
                    grouped(at.held.carried), energy_text(cost.passing[scope.intermediate])});
  }
  return table(rows);
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::int64_t points_of(const EinsumChain& chain, const Intermediate& t) {
  const Workload& producer = chain.einsums[t.producer];
  return footprint(producer.tensors[producer.output()], bounds_of(producer));
}

std::string chain_title_text(const Arch& arch, const EinsumChain& chain) {
  std::int64_t macs = 0;
  for (const Workload& einsum : chain.einsums) {
    macs += einsum.macs();
  }
  return fmt::format("{} on {}\n  {}, {}, {} MACs\n", chain.name, arch.name,
                     counted(chain.einsums.size(), "einsum"),
                     counted(chain.intermediates.size(), "intermediate"), grouped(macs));
}

std::string phases_text(const Arch& arch, const EinsumChain& chain, const TreeCost& cost) {
  std::vector<Row> rows{{"", "level", "holds", "of", "tensors"}};
  const Problem problem{arch, chain.einsums.front()};
  for (const TreePhase& phase : cost.phases) {
    for (const LevelId l : arch.levels.ids()) {
      if (arch.levels[l].capacity.unlimited() || phase.levels[l].empty()) {
        continue;
      }
      std::string tensors;
      for (const Occupant& occupant : phase.levels[l]) {
        tensors += fmt::format(
            "{}{} {}{}", tensors.empty() ? "" : ", ", name_of(chain, occupant.tensor),
            bytes_text(occupant.elements * occupant.bits), occupant.scoped ? " (live)" : "");
      }
      const auto& capacity = arch.levels[l].capacity;
      rows.push_back(
          {chain.einsums[phase.einsum].name, arch.levels[l].name, bytes_text(phase.used[l]),
           bytes_text(capacity.shared ? *problem.capacity(l, Role::kInput) : capacity.total()),
           tensors});
    }
  }
  return table(rows);
}

std::string exceeded_text(const Arch& arch, const EinsumChain& chain,
                          const PhaseExceeded& exceeded) {
  return fmt::format("while {} runs, {}", chain.einsums[exceeded.einsum].name,
                     infeasible_text(arch, Infeasible{exceeded.capacity}));
}

std::string tree_scopes_text(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                             const TreeCost& cost) {
  std::string text = print_tree(arch, chain, tree);
  if (!chain.intermediates.empty()) {
    text +=
        "\nintermediates: elements\n" + scopes_text(arch, chain, shape_of(arch, chain, tree), cost);
  }
  return text + "\noccupancy per phase\n" + phases_text(arch, chain, cost);
}

std::string tree_cost_text(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                           const TreeCost& cost) {
  return tree_scopes_text(arch, chain, tree, cost) +
         fmt::format("\nenergy: {}; latency: {} cycles\n", energy_text(cost.energy),
                     grouped(cost.latency.count())) +
         einsums_text(arch, chain, cost) + "\nenergy per level\n" + levels_text(arch, chain, cost);
}

}  // namespace mapsim
