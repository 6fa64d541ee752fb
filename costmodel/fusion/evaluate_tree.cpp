// SPDX-License-Identifier: Apache-2.0
#include "costmodel/fusion/evaluate_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "arch/capacities.hpp"
#include "costmodel/evaluate_into.hpp"
#include "costmodel/timing/model.hpp"

namespace mapsim {

namespace {

class PhaseList {
 public:
  PhaseList(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
            const TreeCounts& counts)
      : arch_{arch},
        chain_{chain},
        tree_{tree},
        counts_{counts},
        shape_{shape_of(arch, chain, tree)} {
    visit(0);
  }
  std::vector<TreePhase> list() { return std::move(phases_); }

 private:
  void visit(std::size_t n) {
    for (const std::size_t child : tree_.nodes[n].children) {
      visit(child);
    }
    if (tree_.nodes[n].children.empty()) {
      add_phase(n);
    }
  }

  void add_phase(std::size_t leaf) {
    TreePhase phase{tree_.nodes[leaf].einsum, {}, {}};
    phase.levels.resize(arch_.levels.size());
    phase.used.resize(arch_.levels.size());
    add_outermost(phase);
    for (const TensorScope& scope : shape_.scopes) {
      if (within(leaf, scope.node)) {
        add_scope(scope, leaf, phase);
      }
    }
    for (const OwnKeep& keep : shape_.keeps) {
      if (within(leaf, keep.node)) {
        const TensorCounts& at =
            counts_.einsums[keep.use.einsum].levels[keep.level][keep.use.tensor];
        add({keep.use, false, at.footprint, at.bits}, keep.level, phase);
      }
    }
    phases_.push_back(std::move(phase));
  }

  // What the outermost level keeps around the root: all tensors that are no intermediates.
  void add_outermost(TreePhase& phase) const {
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      for (const TensorId t : chain_.einsums[e].tensors.ids()) {
        if (!chain_.intermediate_of({e, t})) {
          const TensorCounts& at = counts_.einsums[e].levels[LevelId{0}][t];
          add({{e, t}, false, at.footprint, at.bits}, LevelId{0}, phase);
        }
      }
    }
  }

  // The live set from the branch that makes the intermediate to the last that reads it; elsewhere
  // what is carried to the next step.
  void add_scope(const TensorScope& scope, std::size_t leaf, TreePhase& phase) const {
    const Intermediate& t = chain_.intermediates[scope.intermediate];
    const LiveSet& held = counts_.intermediates[scope.intermediate].held;
    bool between = false;
    if (within(leaf, scope.home)) {
      const auto branch = [&](std::size_t n) {
        const auto& children = tree_.nodes[scope.home].children;
        return std::find_if(children.begin(), children.end(),
                            [&](std::size_t child) { return within(n, child); });
      };
      auto last = branch(shape_.leaf_of[t.producer]);
      const auto first = last;
      for (const ChainTensor& use : t.readers) {
        last = std::max(last, branch(shape_.leaf_of[use.einsum]));
      }
      between = branch(leaf) >= first && branch(leaf) <= last;
    }
    const ChainTensor made{t.producer, chain_.einsums[t.producer].output()};
    const Bits bits = counts_.einsums[t.producer].levels[scope.level][made.tensor].bits;
    add({made, true, between ? held.live : held.carried, bits}, scope.level, phase);
  }

  static void add(const Occupant& occupant, LevelId level, TreePhase& phase) {
    if (occupant.elements > 0) {
      phase.levels[level].push_back(occupant);
      phase.used[level] += occupant.elements * occupant.bits;
    }
  }
  bool within(std::size_t n, std::size_t ancestor) const {
    return TreeShape::is_within(tree_, n, ancestor);
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const MappingTree& tree_;
  const TreeCounts& counts_;
  TreeShape shape_;
  std::vector<TreePhase> phases_;
};

Bits used_by(const EinsumChain& chain, const std::vector<Occupant>& occupants,
             std::optional<Role> role) {
  Bits sum{0};
  for (const Occupant& occupant : occupants) {
    const auto& [e, t] = occupant.tensor;
    if (!role || chain.einsums[e].tensors[t].role == *role) {
      sum += occupant.elements * occupant.bits;
    }
  }
  return sum;
}

std::optional<PhaseExceeded> check_phases(const Arch& arch, const EinsumChain& chain,
                                          const std::vector<TreePhase>& phases) {
  const std::vector<FiniteCapacity> capacities = capacities_of(arch);
  for (const TreePhase& phase : phases) {
    for (const auto& [level, role, have] : capacities) {
      const Bits need = used_by(chain, phase.levels[level], role);
      if (need > have) {
        return PhaseExceeded{phase.einsum, {level, role, need, have}};
      }
    }
  }
  return std::nullopt;
}

EinsumCost cost_of(const Arch& arch, const Workload& workload, const Counts& counts) {
  const Problem problem{arch, workload};
  EinsumCost cost;
  energy_into(problem, counts, cost.energy);
  latency_into(problem, Nest{}, counts, cost.latency);
  cost.energy.leakage = problem.leakage(cost.latency.steady);
  cost.energy.total += cost.energy.leakage;
  return cost;
}

// Of all accesses to a tensor of an einsum.
Picojoules energy_at(const EinsumCost& cost, TensorId tensor) {
  Picojoules sum{0};
  for (const auto& level : cost.energy.levels) {
    sum += level[tensor].total;
  }
  return sum;
}

}  // namespace

std::vector<TreePhase> phases_of(const Arch& arch, const EinsumChain& chain,
                                 const MappingTree& tree, const TreeCounts& counts) {
  return PhaseList{arch, chain, tree, counts}.list();
}

std::string tree_obstacle(const Arch& arch) {
  const TimingModel& model = timing_model(arch);
  return model.array != nullptr || model.is_engine
             ? fmt::format("mapping trees are not timed on {} {} yet",
                           std::strchr("aeiou", model.machine[0]) != nullptr ? "an" : "a",
                           model.machine)
             : "";
}

std::variant<TreeCost, PhaseExceeded> evaluate_tree(const Arch& arch, const EinsumChain& chain,
                                                    const MappingTree& tree) {
  require_no_zeros(arch, "fused mappings");
  TreeCost cost;
  cost.counts = count_tree(arch, chain, tree);
  cost.phases = phases_of(arch, chain, tree, cost.counts);
  if (const auto exceeded = check_phases(arch, chain, cost.phases)) {
    return *exceeded;
  }
  for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
    cost.einsums.push_back(cost_of(arch, chain.einsums[e], cost.counts.einsums[e]));
    cost.energy += cost.einsums.back().energy.total;
    cost.latency += cost.einsums.back().latency.steady;
  }
  for (const Intermediate& t : chain.intermediates) {
    Picojoules sum = energy_at(cost.einsums[t.producer], chain.einsums[t.producer].output());
    for (const ChainTensor& use : t.readers) {
      sum += energy_at(cost.einsums[use.einsum], use.tensor);
    }
    cost.passing.push_back(sum);
  }
  return cost;
}

}  // namespace mapsim
