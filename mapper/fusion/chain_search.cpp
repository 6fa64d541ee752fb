// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/chain_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "arch/physical.hpp"
#include "mapper/branch/class_search.hpp"
#include "mapper/deadline.hpp"
#include "mapper/fusion/chain_front.hpp"
#include "mapper/fusion/chain_hull.hpp"
#include "mapper/fusion/front_of.hpp"
#include "mapper/fusion/group_chain.hpp"
#include "mapper/fusion/group_search.hpp"
#include "mapper/fusion/interface_classes.hpp"
#include "mapper/shared_budget.hpp"

// A dynamic program over cuts. What couples the einsums before a cut with those behind it is which
// tensors pass it, and where they lie meanwhile: that is the state.

namespace mapsim {

namespace {

constexpr double kSlack = 1e-9;  // of sums of bounds

using fusion::CutState;
using fusion::Group;
using fusion::GroupChain;
using fusion::GroupPlan;
using fusion::HeldAt;
using fusion::Surroundings;

// Ways to a state of a cut: the best one, or all that no other beats in energy and latency.
using Ways = std::vector<std::shared_ptr<const GroupChain>>;

class ChainSearch {
 public:
  // Of an additive objective. What is no better than `cutoff` is not looked for. `all`: all points
  // (energy, latency) that are, and that no other beats.
  ChainSearch(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
              const SearchOptions& options, double cutoff, bool all = false)
      : arch_{arch},
        chain_{chain},
        limits_{limits},
        options_{options},
        deadline_{options},
        optima_{arch, chain, options.objective, deadline_},
        cutoff_{cutoff},
        all_{all},
        reached_(chain.einsums.size() + 1) {
    for (const Workload& workload : chain.einsums) {
      problems_.emplace_back(arch, workload);
    }
  }

  ChainResult run() {
    ChainResult result;
    result.proven = search(result.lower_bound);
    if (result.proven) {
      result.lower_bound = cutoff_;
    }
    result.out_of_memory = !result.proven && deadline_.is_short_of_memory();
    // A search that was stopped may leave a state that no way has reached.
    if (const auto& ends = reached_.back(); !ends.empty() && !ends.begin()->second.empty()) {
      result.best = tree_of(chain_, *ends.begin()->second.front());
    } else if (!result.proven && !is_stopped()) {
      result.best = each_by_itself();
    }
    if (result.best) {
      auto evaluation = evaluate_tree(arch_, chain_, *result.best);
      if (auto* cost = std::get_if<TreeCost>(&evaluation)) {
        result.cost = std::move(*cost);
      } else {  // bounds and counts disagree: claim nothing
        result.best.reset();
        result.proven = false;
        result.lower_bound = 0;
      }
    }
    if (result.proven && result.cost) {
      result.lower_bound = value_of(optima_.objective().objective(), *result.cost);
    }
    result.seconds = deadline_.seconds();
    result.peak_bytes = deadline_.peak_bytes();
    result.groups = groups_;
    result.classes = statistics_.classes;
    result.interfaces = statistics_.interfaces;
    result.branches = optima_.searches();
    result.labels = optima_.labels();
    return result;
  }

  fusion::AllTrees run_all() {
    fusion::AllTrees all;
    double bound = 0;
    all.complete = search(bound);
    all.out_of_memory = !all.complete && deadline_.is_short_of_memory();
    all.seconds = deadline_.seconds();
    all.peak_bytes = deadline_.peak_bytes();
    if (const auto& ends = reached_.back(); all.complete && !ends.empty()) {
      for (const auto& way : ends.begin()->second) {
        all.trees.push_back(tree_of(chain_, *way));
      }
    }
    return all;
  }

 private:
  std::size_t last_reader(const Intermediate& passed) const {
    std::size_t last = passed.producer;
    for (const ChainTensor& use : passed.readers) {
      last = std::max(last, use.einsum);
    }
    return last;
  }

  bool is_stopped() const { return options_.stop != nullptr && *options_.stop; }

  // Each einsum on as few of its tiles as a search looks at that has no time. They share what may
  // be taken beyond the budget.
  std::optional<MappingTree> each_by_itself() const {
    SearchOptions options = options_;
    std::shared_ptr<const GroupChain> way;
    CutState before;
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      options.budget.seconds = std::min(0.0, options_.budget.seconds - deadline_.seconds());
      SearchResult found = search_classes(Mapspace{problems_[e], {}}, options, Deadline{options});
      if (!found.best) {
        return std::nullopt;
      }
      GroupPlan plan;
      plan.branches = {std::move(found.best->nodes)};
      way = std::make_shared<const GroupChain>(
          GroupChain{0, 0, 0, {e, e}, before, std::move(plan), std::move(way)});
      before = states_after(before, {e, e}).front();
    }
    return tree_of(chain_, *way);
  }

  // What the einsums need if each had all capacities to itself and found what others pass to it
  // wherever that is best.
  double bound() {
    const std::vector<bool> divide = limits_.most_einsums > 1
                                         ? fusion::with_boxes_that_divide(chain_)
                                         : std::vector<bool>(chain_.einsums.size(), true);
    rest_.assign(chain_.einsums.size() + 1, 0.0);
    for (std::size_t e = chain_.einsums.size(); e-- > 0;) {
      const auto operations = static_cast<double>(chain_.einsums[e].macs());
      rest_[e] =
          rest_[e + 1] +
          (divide[e] ? bound(e) : optima_.objective().of_operations(problems_[e], operations));
    }
    return rest_[0];
  }
  double bound(std::size_t e) {
    const Workload& workload = chain_.einsums[e];
    const bool may_hold = limits_.may_hold || limits_.most_einsums > 1;
    std::vector<Branch> branches{{e, bounds_of(workload), {}}};
    branches.front().entry.sources.resize(workload.tensors.size());
    for (const TensorId t : workload.tensors.ids()) {
      const auto i = chain_.intermediate_of({e, t});
      const std::size_t known = branches.size();
      for (std::size_t k = 0; i && k < known; ++k) {
        for (const HeldAt& held : where_held(chain_.intermediates[*i].producer, may_hold)) {
          if (held.level != LevelId{0}) {
            branches.push_back(branches[k]);
            branches.back().entry.sources[t] = held.level;
            branches.back().entry.final_sums =
                t == workload.output() ? held.final_sums : branches[k].entry.final_sums;
          }
        }
      }
    }
    const TakenBits nothing(optima_.capacities().size(), 0.0);
    double least = exact::kInfinity;
    for (const Branch& branch : branches) {
      if (const auto* optimum = optima_.optimum(branch, nothing, least)) {
        least = std::min(least, optimum->value);
      }
    }
    return least;
  }

  // No mapping needs less than its operations.
  double operations_alone() const {
    double sum = 0;
    for (std::size_t e = 0; e < chain_.einsums.size(); ++e) {
      sum += optima_.objective().of_operations(problems_[e],
                                               static_cast<double>(chain_.einsums[e].macs()));
    }
    return sum;
  }

  // False: it was stopped. `least`: what everything needs.
  bool search(double& least) {
    least = operations_alone();
    reached_[0][CutState{}] = {nullptr};
    return is_within_budget([&] { least = bound(); }) &&
           (all_ || is_within_budget([&] { search_groups(1); })) &&
           is_within_budget([&] { search_groups(limits_.most_einsums); });
  }
  // Groups of so many einsums at most, in the order of the einsum that they end with: what is known
  // of cuts before that is final then.
  void search_groups(std::size_t most) {
    for (std::size_t end = 1; end <= chain_.einsums.size(); ++end) {
      for (std::size_t first = end; first-- > 0 && end - first <= most;) {
        for (const auto& [state, ways] : reached_[first]) {
          for (const CutState& after : states_after(state, {first, end - 1})) {
            extend(state, ways, {first, end - 1}, after);
          }
        }
      }
    }
  }

  // What may lie where behind a group.
  std::vector<CutState> states_after(const CutState& before, const Group& group) const {
    CutState left;
    for (const auto& [i, held] : before) {
      if (last_reader(chain_.intermediates[i]) > group.last) {
        left.emplace(i, held);
      }
    }
    const auto i = chain_.intermediate_of({group.last, chain_.einsums[group.last].output()});
    if (!i) {
      return {left};
    }
    std::vector<CutState> states;
    for (const HeldAt& held : where_held(group.last, limits_.may_hold)) {
      states.push_back(left);
      states.back().emplace(*i, held);
    }
    return states;
  }
  std::vector<HeldAt> where_held(std::size_t producer, bool may_hold) const {
    std::vector<HeldAt> all{{}};
    const TensorId output = chain_.einsums[producer].output();
    const Tensor& tensor = chain_.einsums[producer].tensors[output];
    for (const LevelId level : arch_.levels.ids()) {
      const bool is_above_arrays =
          std::all_of(arch_.levels_above.begin(), arch_.levels_above.end(),
                      [&](std::size_t above) { return index_of(level) < above; });
      if (!may_hold || level == LevelId{0} || !is_above_arrays ||
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

  static double value_of_way(const std::shared_ptr<const GroupChain>& way) {
    return way == nullptr ? 0 : way->value;
  }
  static double least_of(const Ways& ways) {
    double least = exact::kInfinity;
    for (const auto& way : ways) {
      least = std::min(least, value_of_way(way));
    }
    return least;
  }
  // What a way behind the einsum may need to be of use.
  double most(const Ways& known, std::size_t last) const {
    const auto& ends = reached_.back();
    const double end = ends.empty() || all_ ? cutoff_ : least_of(ends.begin()->second);
    const double most = end * (1 + kSlack) - rest_[last + 1];
    return all_ ? most : std::min(most, least_of(known));
  }

  void extend(const CutState& before, const Ways& ways, const Group& group, const CutState& after) {
    Ways& known = reached_[group.last + 1][after];
    const double limit = most(known, group.last) - least_of(ways);
    if (limit > 0) {
      if (const auto around = surroundings(before, group, after)) {
        ++groups_;
        for (GroupPlan& plan : plans(group, *around, limit)) {
          for (const auto& way : ways) {
            add({way, before, group, plan}, known);
          }
        }
      }
    }
    if (known.empty()) {
      reached_[group.last + 1].erase(after);
    }
  }
  std::vector<GroupPlan> plans(const Group& group, const Surroundings& around, double limit) {
    const fusion::GroupQuery query{
        arch_, chain_, group, around, limits_.most_loops, limits_.only_level, limit};
    if (all_) {
      return fusion::search_group_front(query, optima_, statistics_);
    }
    auto plan = fusion::search_group(query, optima_, statistics_);
    return plan ? std::vector{std::move(*plan)} : std::vector<GroupPlan>{};
  }
  struct Extension {
    const std::shared_ptr<const GroupChain>& way;
    const CutState& before;
    const Group& group;
    const GroupPlan& plan;
  };
  void add(const Extension& by, Ways& known) const {
    const double value = value_of_way(by.way) + by.plan.value;
    if (value >= most(known, by.group.last)) {
      return;
    }
    const double energy = (by.way == nullptr ? 0 : by.way->energy) + by.plan.energy;
    const double cycles = (by.way == nullptr ? 0 : by.way->cycles) + by.plan.cycles;
    if (!all_) {
      known.clear();
    } else if (fusion::is_dominated(known, energy, cycles)) {
      return;
    } else {
      fusion::drop_covered(known, energy, cycles);
    }
    known.push_back(std::make_shared<const GroupChain>(
        GroupChain{value, energy, cycles, by.group, by.before, by.plan, by.way}));
  }

  // nullopt: what is held does not fit.
  std::optional<Surroundings> surroundings(const CutState& before, const Group& group,
                                           const CutState& after) const {
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
    CutState meanwhile = before;
    meanwhile.insert(after.begin(), after.end());
    for (const auto& [i, held] : meanwhile) {
      const std::size_t producer = chain_.intermediates[i].producer;
      const Tensor& tensor = chain_.einsums[producer].tensors[chain_.einsums[producer].output()];
      const auto points =
          static_cast<double>(footprint(tensor, bounds_of(chain_.einsums[producer])));
      const Bits width = held.final_sums.value_or(false) ? tensor.bits : tensor.partial_bits;
      if (held.level != LevelId{0}) {
        take(optima_.capacities(), held.level, tensor.role,
             points * static_cast<double>(width.count()), around.taken);
      }
    }
    return fits(optima_.capacities(), around.taken) ? std::optional(around) : std::nullopt;
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const FusionLimits& limits_;
  const SearchOptions& options_;
  Deadline deadline_;
  fusion::BranchOptima optima_;
  double cutoff_;
  bool all_;
  std::vector<std::map<CutState, Ways>> reached_;  // by einsums before the cut
  std::vector<Problem> problems_;
  std::vector<double> rest_;  // that the einsums from here on need, at least
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
  return "";
}

std::string fusion_obstacle(const Objective& objective) {
  if (objective.mode != LatencyMode::kSteady) {
    return "chains are timed in the steady state, so far: --latency steady";
  }
  if (objective.exact_ties) {
    return "ties of chains are not broken by the other figure, so far; leave it out of --objective";
  }
  return "";
}

double value_of(const Objective& objective, const TreeCost& cost) {
  return objective.function.value(cost.energy.count(), static_cast<double>(cost.latency.count()));
}

fusion::AllTrees fusion::search_all(const Arch& arch, const EinsumChain& chain,
                                    const FusionLimits& limits, const SearchOptions& options,
                                    double cutoff) {
  return ChainSearch(arch, chain, limits, options, cutoff, true).run_all();
}

ChainResult fusion::search_additive(const Arch& arch, const EinsumChain& chain,
                                    const FusionLimits& limits, const SearchOptions& options,
                                    double cutoff) {
  return ChainSearch(arch, chain, limits, options, cutoff).run();
}

ChainResult search_chain(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                         const SearchOptions& options) {
  require_no_zeros(arch, "fused mappings");
  if (options.objective.max_energy || options.objective.max_latency) {
    return fusion::search_within_limits(arch, chain, limits, options);
  }
  return fusion::is_additive(options.objective)
             ? fusion::search_additive(arch, chain, limits, options, exact::kInfinity)
             : fusion::search_product(arch, chain, limits, options);
}

bool is_short_of_memory(const ChainComparison& found) {
  return found.spilled.out_of_memory || found.on_chip.out_of_memory || found.fused.out_of_memory;
}

ChainComparison compare_ways(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                             const SearchOptions& options, double cutoff) {
  const SharedBudget budget{options};
  ChainComparison found;
  found.objective = options.objective;
  found.spilled = search_chain(arch, chain, {1, 0, false}, budget.rest());
  found.on_chip = found.fused = found.spilled;
  if (chain.einsums.size() == 1) {  // one way, searched once
    found.on_chip.seconds = found.fused.seconds = 0;
    return found;
  }
  found.on_chip = search_chain(arch, chain, {1, 0, true}, budget.rest());
  found.fused = cutoff < exact::kInfinity
                    ? fusion::search_additive(arch, chain, limits, budget.rest(), cutoff)
                    : search_chain(arch, chain, limits, budget.rest());
  // What a narrower space has is in the wider one, too.
  for (const auto& [wider, other] :
       {std::pair{&found.on_chip, &found.spilled}, {&found.fused, &found.on_chip}}) {
    if (other->cost && (!wider->cost || value_of(options.objective, *other->cost) <
                                            value_of(options.objective, *wider->cost))) {
      wider->best = other->best;
      wider->cost = other->cost;
    }
  }
  return found;
}

}  // namespace mapsim
