// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/chain_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "arch/physical.hpp"
#include "mapper/deadline.hpp"
#include "mapper/fusion/group_search.hpp"

// A dynamic program over cuts. What couples the einsums before a cut with those behind it is which
// tensors pass it, and where they lie meanwhile: that is the state.

namespace mapsim {

namespace {

using fusion::Group;
using fusion::GroupPlan;
using fusion::Surroundings;
using fusion::Taken;

// Where an intermediate lies between groups.
struct HeldAt {
  LevelId level{};                 // 0: spilled
  std::optional<bool> final_sums;  // of two widths: is it stored in the narrow one?
  friend auto operator<=>(const HeldAt&, const HeldAt&) = default;
};
using State = std::map<std::size_t, HeldAt>;  // by intermediate

struct Reached {
  double energy = exact::kInfinity;  // [pJ]
  // The last group.
  Group group;
  State before;
  GroupPlan plan;
};

class ChainSearch {
 public:
  ChainSearch(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
              const SearchOptions& options)
      : arch_{arch},
        chain_{chain},
        limits_{limits},
        deadline_{options},
        optima_{arch, chain, deadline_},
        reached_(chain.einsums.size() + 1) {
    for (const Workload& workload : chain.einsums) {
      problems_.emplace_back(arch, workload);
    }
  }

  ChainResult run() {
    ChainResult result;
    reached_[0][State{}].energy = 0;
    const bool is_bounded = is_within_budget([&] { result.lower_bound = Picojoules{bound()}; });
    result.proven = is_bounded && is_within_budget([&] { search(1); }) &&
                    is_within_budget([&] { search(limits_.most_einsums); });
    if (const auto& ends = reached_.back(); !ends.empty()) {
      result.best = tree();
      auto evaluation = evaluate_tree(arch_, chain_, *result.best);
      if (auto* cost = std::get_if<TreeCost>(&evaluation)) {
        result.cost = std::move(*cost);
      } else {
        result.best.reset();
      }
    }
    if (result.proven && result.cost) {
      result.lower_bound = result.cost->energy;
    }
    result.seconds = deadline_.seconds();
    result.groups = groups_;
    result.classes = statistics_.classes;
    result.interfaces = statistics_.interfaces;
    result.branches = optima_.searches();
    result.labels = optima_.labels();
    return result;
  }

 private:
  std::size_t last_reader(const Intermediate& passed) const {
    std::size_t last = passed.producer;
    for (const ChainTensor& use : passed.readers) {
      last = std::max(last, use.einsum);
    }
    return last;
  }

  // What the einsums need [pJ] if each had all capacities to itself and found what others pass to
  // it wherever that is best.
  double bound() {
    double sum = 0;
    const std::vector<bool> divide = limits_.most_einsums > 1
                                         ? fusion::with_boxes_that_divide(chain_)
                                         : std::vector<bool>(chain_.einsums.size(), true);
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      sum += divide[e] ? bound(e)
                       : problems_[e].mac_energy().count() *
                             static_cast<double>(chain_.einsums[e].macs());
    }
    return sum;
  }
  double bound(std::size_t e) {
    const Workload& workload = chain_.einsums[e];
    std::vector<fusion::Branch> branches{{e, bounds_of(workload), {}}};
    branches.front().entry.sources.resize(workload.tensors.size());
    for (const TensorId t : workload.tensors.ids()) {
      const auto i = chain_.intermediate_of({e, t});
      const std::size_t known = branches.size();
      for (std::size_t k = 0; i && k < known; ++k) {
        for (const HeldAt& held : residences(chain_.intermediates[*i].producer)) {
          if (held.level != LevelId{0}) {
            branches.push_back(branches[k]);
            branches.back().entry.sources[t] = held.level;
            branches.back().entry.final_sums =
                t == workload.output() ? held.final_sums : branches[k].entry.final_sums;
          }
        }
      }
    }
    const Taken nothing(optima_.capacities().size(), 0.0);
    double least = exact::kInfinity;
    for (const fusion::Branch& branch : branches) {
      if (const auto* optimum = optima_.optimum(branch, nothing, least)) {
        least = std::min(least, optimum->energy);
      }
    }
    return least;
  }

  // Groups of so many einsums at most, in the order of the einsum that they end with: what is known
  // of cuts before that is final then.
  void search(std::size_t most) {
    for (std::size_t end = 1; end <= chain_.einsums.size(); ++end) {
      for (std::size_t first = end; first-- > 0 && end - first <= most;) {
        for (const auto& [state, before] : reached_[first]) {
          for (const State& after : states_after(state, {first, end - 1})) {
            extend(state, before.energy, {first, end - 1}, after);
          }
        }
      }
    }
  }

  // What may lie where behind a group.
  std::vector<State> states_after(const State& before, const Group& group) const {
    State left;
    for (const auto& [i, held] : before) {
      if (last_reader(chain_.intermediates[i]) > group.last) {
        left.emplace(i, held);
      }
    }
    const auto i = chain_.intermediate_of({group.last, chain_.einsums[group.last].output()});
    if (!i) {
      return {left};
    }
    std::vector<State> states;
    for (const HeldAt& held : residences(group.last)) {
      states.push_back(left);
      states.back().emplace(*i, held);
    }
    return states;
  }
  std::vector<HeldAt> residences(std::size_t producer) const {
    std::vector<HeldAt> all{{}};
    const TensorId output = chain_.einsums[producer].output();
    const Tensor& tensor = chain_.einsums[producer].tensors[output];
    for (const LevelId level : arch_.levels.ids()) {
      const bool is_above_arrays =
          std::all_of(arch_.levels_above.begin(), arch_.levels_above.end(),
                      [&](std::size_t above) { return index_of(level) < above; });
      if (!limits_.may_hold || level == LevelId{0} || !is_above_arrays ||
          !problems_[producer].may_keep(level, output)) {
        continue;
      }
      if (tensor.bits == tensor.partial_bits) {
        all.push_back({level, std::nullopt});
      } else {
        all.push_back({level, true});
        all.push_back({level, false});
      }
    }
    return all;
  }

  void extend(const State& before, double energy, const Group& group, const State& after) {
    const auto known = reached_[group.last + 1].find(after);
    const double limit =
        known == reached_[group.last + 1].end() ? exact::kInfinity : known->second.energy - energy;
    if (!(limit > 0)) {
      return;
    }
    const auto around = surroundings(before, group, after);
    if (!around) {
      return;
    }
    ++groups_;
    const auto plan = fusion::search_group(arch_, chain_, group, *around, limits_.most_loops, limit,
                                           optima_, statistics_);
    if (plan) {
      reached_[group.last + 1][after] = {energy + plan->energy, group, before, *plan};
    }
  }

  // nullopt: what is held does not fit.
  std::optional<Surroundings> surroundings(const State& before, const Group& group,
                                           const State& after) const {
    Surroundings around;
    around.taken.assign(optima_.capacities().size(), 0.0);
    for (std::size_t e = group.first; e <= group.last; ++e) {
      around.sources.emplace_back(chain_.einsums[e].tensors.size());
      for (const TensorId t : chain_.einsums[e].tensors.ids()) {
        const auto i = chain_.intermediate_of({e, t});
        if (i && before.contains(*i)) {
          around.sources.back()[t] = before.at(*i).level;
        } else if (i && after.contains(*i)) {
          around.sources.back()[t] = after.at(*i).level;
          around.final_sums = after.at(*i).final_sums;
        }
      }
    }
    State meanwhile = before;
    meanwhile.insert(after.begin(), after.end());
    for (const auto& [i, held] : meanwhile) {
      const std::size_t producer = chain_.intermediates[i].producer;
      const Tensor& tensor = chain_.einsums[producer].tensors[chain_.einsums[producer].output()];
      const auto points =
          static_cast<double>(footprint(tensor, bounds_of(chain_.einsums[producer])));
      const Bits width = held.final_sums.value_or(false) ? tensor.bits : tensor.partial_bits;
      if (held.level != LevelId{0}) {
        fusion::take(optima_.capacities(), held.level, tensor.role,
                     points * static_cast<double>(width.count()), around.taken);
      }
    }
    return fusion::fits(optima_.capacities(), around.taken) ? std::optional(around) : std::nullopt;
  }

  // ---- the mapping

  MappingTree tree() const {
    std::vector<const Reached*> steps;
    State state;
    for (std::size_t at = chain_.einsums.size(); at > 0; at = steps.back()->group.first) {
      steps.push_back(&reached_[at].at(state));
      state = steps.back()->before;
    }
    std::reverse(steps.begin(), steps.end());
    MappingTree tree;
    tree.nodes.resize(1);
    tree.nodes[0].einsum = chain_.einsums.size() - 1;
    add_held(steps, tree.nodes[0]);
    if (steps.size() == 1) {
      fill(*steps.front(), 0, tree);
      return tree;
    }
    for (const Reached* step : steps) {
      tree.nodes[0].children.push_back(tree.nodes.size());
      tree.nodes.emplace_back().parent = 0;
      fill(*step, tree.nodes.size() - 1, tree);
    }
    return tree;
  }
  void add_held(const std::vector<const Reached*>& steps, TreeNode& root) const {
    for (const Reached* step : steps) {
      for (const auto& [i, held] : step->before) {
        const std::size_t producer = chain_.intermediates[i].producer;
        const ChainTensor use{producer, chain_.einsums[producer].output()};
        const bool is_first = producer + 1 == step->group.first;
        if (held.level != LevelId{0} && is_first) {
          root.items.emplace_back(TreeKeep{held.level, {use}});
        }
      }
    }
  }
  // Makes the node a leaf or a group, whose branches come behind all other nodes.
  void fill(const Reached& step, std::size_t n, MappingTree& tree) const {
    tree.nodes[n].einsum = step.group.last;
    if (step.group.first == step.group.last) {
      add_branch(step.group.first, step.plan.branches.front(), tree.nodes[n]);
      return;
    }
    const EinsumChain piece = fusion::piece_of(chain_, step.group.first, step.group.last);
    const fusion::Interface& interface = step.plan.interface;
    std::vector<TreeItem>& items = tree.nodes[n].items;
    for (std::size_t p = 0; p <= interface.loops.size(); ++p) {
      TreeKeep keep{step.plan.level, {}};
      for (std::size_t i = 0; i < interface.scopes.size(); ++i) {
        const std::size_t producer = piece.intermediates[i].producer;
        if (interface.scopes[i] == p) {
          keep.tensors.push_back({producer + step.group.first, piece.einsums[producer].output()});
        }
      }
      for (const fusion::SharedKeep& own : step.plan.keeps) {
        if (own.position == p) {
          keep.tensors.push_back({own.use.einsum + step.group.first, own.use.tensor});
        }
      }
      if (!keep.tensors.empty()) {
        items.emplace_back(keep);
      }
      if (p < interface.loops.size()) {
        items.emplace_back(interface.loops[p]);
      }
    }
    for (std::size_t e = step.group.first; e <= step.group.last; ++e) {
      tree.nodes[n].children.push_back(tree.nodes.size());
      TreeNode leaf;
      leaf.parent = n;
      leaf.einsum = e;
      add_branch(e, step.plan.branches[e - step.group.first], leaf);
      tree.nodes.push_back(std::move(leaf));
    }
  }
  // Adjacent loops over one dim as one, adjacent keeps of one level as one.
  static void add_branch(std::size_t e, const std::vector<MappingNode>& nest, TreeNode& leaf) {
    for (const MappingNode& node : nest) {
      TreeItem* before = leaf.items.empty() ? nullptr : &leaf.items.back();
      if (const auto* loop = std::get_if<Temporal>(&node)) {
        auto* outer = before != nullptr ? std::get_if<Temporal>(before) : nullptr;
        if (outer != nullptr && outer->dim == loop->dim) {
          *outer = *loop;
        } else {
          leaf.items.emplace_back(*loop);
        }
      } else if (const auto* parallel = std::get_if<Parallel>(&node)) {
        leaf.items.emplace_back(*parallel);
      } else if (const auto* keep = std::get_if<Keep>(&node)) {
        auto* same = before != nullptr ? std::get_if<TreeKeep>(before) : nullptr;
        if (same == nullptr || same->level != keep->level) {
          same = &std::get<TreeKeep>(leaf.items.emplace_back(TreeKeep{keep->level, {}}));
        }
        for (std::size_t t = 0; t < kMaxTensors; ++t) {
          if (keep->tensors.contains(static_cast<TensorId>(t))) {
            same->tensors.push_back({e, static_cast<TensorId>(t)});
          }
        }
      }
    }
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const FusionLimits& limits_;
  Deadline deadline_;
  fusion::BranchOptima optima_;
  std::vector<std::map<State, Reached>> reached_;  // by einsums before the cut
  std::vector<Problem> problems_;
  fusion::GroupStatistics statistics_;
  std::int64_t groups_ = 0;
};

}  // namespace

std::string fusion_obstacle(const Arch& arch) {
  if (const std::string obstacle = tree_obstacle(arch); !obstacle.empty()) {
    return obstacle;
  }
  if (!arch.levels[LevelId{0}].capacity.unlimited()) {
    return fmt::format(
        "{} has a limited capacity, and the search of mapping trees lets the outermost level hold "
        "everything",
        arch.levels[LevelId{0}].name);
  }
  if (leakage_per_cycle(arch) > Picojoules{0}) {
    return "the machine leaks, and the search of mapping trees prices no time yet; leave leakage "
           "out of the file";
  }
  return "";
}

ChainResult search_chain(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                         const SearchOptions& options) {
  require_no_zeros(arch, "fused mappings");
  return ChainSearch(arch, chain, limits, options).run();
}

ChainComparison compare_ways(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                             const SearchOptions& options) {
  ChainComparison found;
  found.spilled = search_chain(arch, chain, {1, 0, false}, options);
  found.on_chip = found.fused = found.spilled;
  if (chain.einsums.size() == 1) {
    return found;
  }
  found.on_chip = search_chain(arch, chain, {1, 0, true}, options);
  found.fused = search_chain(arch, chain, limits, options);
  for (const ChainResult* other : {&found.on_chip, &found.spilled}) {
    if (other->cost &&
        (!found.fused.cost || other->cost->energy.count() < found.fused.cost->energy.count())) {
      found.fused.best = other->best;
      found.fused.cost = other->cost;
    }
  }
  return found;
}

}  // namespace mapsim
