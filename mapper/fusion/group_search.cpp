// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/group_search.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "costmodel/crossing.hpp"
#include "mapper/fusion/group_model.hpp"
#include "mapper/fusion/interface_classes.hpp"
#include "mapper/objective.hpp"

// Branches of a group depend on each other through its interface and the capacity that each leaves
// to the others, and on nothing else. So the best group is found by branch and bound over
// interfaces:
//
// 1. A class of interfaces has the same shared loops in any order, with any scopes. The boxes of
//    its branches are known. A branch needs no less than its optimum with all capacity to itself,
//    and what its group keeps of a tensor crosses at least once; the sum over einsums bounds the
//    class.
// 2. A class below the incumbent is opened: orders and scopes. Each interface is entered by the
//    cost model, which counts entries, halos that are made again, and live sets.
// 3. What is left is joined: which tensors the group keeps, at which position, such that the
//    branches fit beside them.
//
// Bounds ask for optima of branches one by one, the least one first, so that few are searched.

namespace mapsim::fusion {

using exact::kInfinity;

namespace {

constexpr double kSlack = 1e-6;  // of cutoffs, so that what they rule out is ruled out for good

struct Node {
  double bound = 0;
  bool is_class = true;
  std::size_t index = 0;  // of a class or of an interface
  friend bool operator<(const Node& a, const Node& b) { return a.bound > b.bound; }
};

class GroupSearch {
 public:
  GroupSearch(const Arch& arch, const EinsumChain& chain, const Group& group,
              const Surroundings& surroundings, std::size_t most_loops, double limit,
              BranchOptima& optima, GroupStatistics& statistics)
      : arch_{arch},
        model_(arch, chain, group, surroundings),
        around_{surroundings},
        optima_{optima},
        statistics_{statistics},
        most_loops_{most_loops},
        limit_{limit},
        held_{&optima.deadline()} {}

  std::optional<GroupPlan> run() {
    if (piece().einsums.size() == 1) {
      search_alone();
    } else if (model_.is_group()) {
      for (const LevelId level : arch_.levels.ids()) {
        if (index_of(level) > 0 && model_.may_share(level)) {
          search_level(level);
        }
      }
    }
    return best_.energy < kInfinity ? std::optional(std::move(best_)) : std::nullopt;
  }

 private:
  const EinsumChain& piece() const { return model_.piece(); }
  const Workload& einsum(std::size_t e) const { return piece().einsums[e]; }
  double limit() const { return std::min(limit_, best_.energy) * (1 - kRounding); }

  void search_alone() {
    Branch branch{model_.first(), bounds_of(einsum(0)), {}};
    branch.entry.sources = around_.sources[0];
    branch.entry.final_sums = around_.final_sums;
    if (optima_.bound(branch, around_.taken) >= limit()) {
      return;
    }
    const BranchOptimum* optimum = optima_.optimum(branch, around_.taken, limit());
    if (optimum != nullptr && optimum->energy < limit()) {
      best_ = {optimum->energy, LevelId{0}, {}, {}, {optimum->nest}};
    }
  }

  // ---- classes of interfaces

  // A part of a bound: the least that an einsum needs in one way to source its branch, and which
  // optimum would say more.
  struct Least {
    double energy = kInfinity;
    double scale = 1;         // of the branch's energy in it
    double branch_bound = 0;  // [pJ]
    Branch branch;
    Taken taken;
  };
  // Asks for the optimum, as far as it matters to a sum of such parts.
  void settle(const Least& open, double sum) {
    const double spare = (limit() - sum) * (1 + kSlack) / open.scale;
    optima_.optimum(open.branch, open.taken, open.branch_bound * (1 + kSlack) + spare);
  }
  static bool varies(const EnteredBranch& entered) {
    return std::any_of(entered.lengths.begin(), entered.lengths.end(),
                       [](const auto& lengths) { return !lengths.empty(); });
  }
  double operations(std::size_t e) const { return static_cast<double>(model_.problem(e).macs()); }

  // The boxes of a class are those of the interface that holds nothing from step to step.
  double class_bound(std::size_t index, std::optional<Least>& open) {
    std::vector<EnteredBranch>& boxes = class_boxes_[index];
    if (boxes.empty()) {
      const auto entered = counter_->enter(innermost(piece(), classes_->loops(index)));
      if (!entered) {
        return kInfinity;
      }
      class_live_[index] = entered->held;
      boxes = entered->branches;
    }
    double sum = 0;
    for (std::size_t e = 0; e < boxes.size(); ++e) {
      const EnteredBranch& box = boxes[e];
      if (varies(box)) {
        sum +=
            classes_->least_runs(index, e) * model_.problem(e).mac_energy().count() * operations(e);
        continue;
      }
      Least least;
      const Taken by_scopes =
          model_.taken_by_scopes(optima_.capacities(), class_live_[index], e, narrowest());
      for (const Sourcing& sourcing : model_.sourcings(e)) {
        Branch branch = model_.branch_of(e, box, sourcing);
        Taken taken = by_scopes;
        double energy = 0;
        for (const TensorId t : model_.shared_tensors(e, sourcing)) {
          const Tensor& tensor = einsum(e).tensors[t];
          energy += model_.shared_pj({e, t}, model_.whole({e, t}));
          take(optima_.capacities(), model_.level(), tensor.role,
               static_cast<double>(footprint(tensor, box.bounds)) *
                   model_.bits_of(tensor, t == einsum(e).output(), sourcing),
               taken);
        }
        if (!fits(optima_.capacities(), taken)) {
          continue;
        }
        const double scale = classes_->least_runs(index, e) * operations(e) / branch.operations();
        const double bound = optima_.bound(branch, taken);
        energy += scale * bound;
        if (energy < least.energy) {
          least = {energy, scale, bound, std::move(branch), std::move(taken)};
        }
      }
      if (!(least.energy < kInfinity)) {
        return kInfinity;
      }
      sum += least.energy;
      if (!open && !optima_.is_known(least.branch, least.taken)) {
        open = least;
      }
    }
    return sum;
  }

  // ---- interfaces

  struct Entered {
    Interface interface;
    EnteredGroup group;
  };

  // Scopes in all positions, loops in all orders.
  void open_class(std::size_t index) {
    std::vector<Temporal> loops = classes_->loops(index);
    const auto before = [](const Temporal& a, const Temporal& b) { return a.dim < b.dim; };
    std::sort(loops.begin(), loops.end(), before);
    do {
      Interface interface{loops, std::vector<std::size_t>(piece().intermediates.size(), 0)};
      std::size_t i = 0;
      do {
        add(interface);
        for (i = 0; i < interface.scopes.size() && ++interface.scopes[i] > loops.size(); ++i) {
          interface.scopes[i] = 0;
        }
      } while (i < interface.scopes.size());
    } while (std::next_permutation(loops.begin(), loops.end(), before));
  }
  void add(const Interface& interface) {
    auto group = counter_->enter(interface);
    if (!group) {
      return;
    }
    held_.check();
    ++statistics_.interfaces;
    interfaces_.push_back({interface, std::move(*group)});
    std::optional<Least> open;
    const double bound = interface_bound(interfaces_.back(), open);
    if (bound < limit()) {
      queue_.push({bound, false, interfaces_.size() - 1});
    } else {
      interfaces_.pop_back();
    }
  }

  std::vector<std::optional<bool>> narrowest() const {
    return std::vector<std::optional<bool>>(piece().einsums.size());
  }

  double interface_bound(const Entered& entered, std::optional<Least>& open) {
    double sum = 0;
    for (std::size_t e = 0; e < piece().einsums.size(); ++e) {
      const Taken taken =
          model_.taken_by_scopes(optima_.capacities(), entered.group.held, e, narrowest());
      if (!fits(optima_.capacities(), taken)) {
        return kInfinity;
      }
      Least least;
      for (const Sourcing& sourcing : model_.sourcings(e)) {
        Branch branch = model_.branch_of(e, entered.group.branches[e], sourcing);
        const double bound = optima_.bound(branch, taken);
        const double entries = entered.group.branches[e].entries;
        double energy = entries * bound;
        for (const TensorId t : einsum(e).tensors.ids()) {
          energy += sourcing.shared.contains(t) ? least_shared(entered.group, {e, t}) : 0;
        }
        if (energy < least.energy) {
          least = {energy, entries, bound, std::move(branch), taken};
        }
      }
      sum += least.energy;
      if (!open && !optima_.is_known(least.branch, taken)) {
        open = least;
      }
    }
    return sum;
  }
  double least_shared(const EnteredGroup& group, const ChainTensor& use) const {
    double least = kInfinity;
    for (const KeepPosition& keep : group.keeps) {
      least = keep.use == use ? std::min(least, model_.shared_pj(use, keep.moved)) : least;
    }
    return least;
  }

  // ---- joining

  struct Option {
    std::vector<SharedKeep> keeps;
    double shared_energy = 0;
    Taken resident;
    Branch branch;
    double entries = 0;
    double bound = 0;  // of energy, shared keeps included
    std::optional<bool> final_sums;
  };
  std::vector<Option> options(const EnteredGroup& group, std::size_t e) {
    std::vector<Option> all;
    const Taken taken = model_.taken_by_scopes(optima_.capacities(), group.held, e, narrowest());
    for (const Sourcing& sourcing : model_.sourcings(e)) {
      Option start;
      start.resident = Taken(taken.size(), 0.0);
      start.branch = model_.branch_of(e, group.branches[e], sourcing);
      start.entries = group.branches[e].entries;
      start.final_sums = sourcing.final_sums;
      std::vector<Option> ways{start};
      for (const TensorId t : einsum(e).tensors.ids()) {
        if (sourcing.shared.contains(t)) {
          ways = with_keep(ways, group, {e, t}, sourcing);
        }
      }
      for (Option& way : ways) {
        const Taken beside = taken + way.resident;
        if (fits(optima_.capacities(), beside)) {
          way.bound = way.shared_energy + way.entries * optima_.bound(way.branch, beside);
          all.push_back(std::move(way));
        }
      }
    }
    std::sort(all.begin(), all.end(),
              [](const Option& a, const Option& b) { return a.bound < b.bound; });
    return all;
  }
  std::vector<Option> with_keep(const std::vector<Option>& ways, const EnteredGroup& group,
                                const ChainTensor& use, const Sourcing& sourcing) const {
    const Tensor& tensor = einsum(use.einsum).tensors[use.tensor];
    const double bits = model_.bits_of(tensor, use.tensor == einsum(use.einsum).output(), sourcing);
    std::vector<Option> longer;
    for (const KeepPosition& keep : group.keeps) {
      for (std::size_t w = 0; keep.use == use && w < ways.size(); ++w) {
        Option way = ways[w];
        way.keeps.push_back({use, keep.position});
        way.shared_energy += model_.shared_pj(use, keep.moved);
        take(optima_.capacities(), model_.level(), tensor.role, keep.largest * bits, way.resident);
        longer.push_back(std::move(way));
      }
    }
    return longer;
  }

  // One option per einsum, depth first.
  void join(const Entered& entered) {
    std::vector<std::vector<Option>> all;
    std::vector<double> rest(piece().einsums.size() + 1, 0.0);  // of this einsum and later ones
    for (std::size_t e = 0; e < piece().einsums.size(); ++e) {
      all.push_back(options(entered.group, e));
      if (all.back().empty()) {
        return;
      }
    }
    for (std::size_t e = all.size(); e-- > 0;) {
      rest[e] = rest[e + 1] + all[e].front().bound;
    }
    std::vector<const Option*> chosen;
    const std::function<void(double)> choose = [&](double so_far) {
      const std::size_t e = chosen.size();
      if (e == all.size()) {
        held_.check();
        finish(entered, chosen);
        return;
      }
      for (const Option& option : all[e]) {
        if (so_far + option.bound + rest[e + 1] >= limit()) {
          break;
        }
        chosen.push_back(&option);
        choose(so_far + option.bound);
        chosen.pop_back();
      }
    };
    choose(0);
  }
  void finish(const Entered& entered, const std::vector<const Option*>& chosen) {
    std::vector<std::optional<bool>> final_sums;
    Taken resident(around_.taken.size(), 0.0);
    for (const Option* option : chosen) {
      final_sums.push_back(option->final_sums);
      resident = resident + option->resident;
    }
    std::vector<Taken> taken;
    double sum = 0;
    for (std::size_t e = 0; e < chosen.size(); ++e) {
      taken.push_back(
          model_.taken_by_scopes(optima_.capacities(), entered.group.held, e, final_sums) +
          resident);
      if (!fits(optima_.capacities(), taken.back())) {
        return;
      }
      sum += chosen[e]->shared_energy +
             chosen[e]->entries * optima_.bound(chosen[e]->branch, taken[e]);
    }
    std::vector<const std::vector<MappingNode>*> nests;
    for (std::size_t e = 0; e < chosen.size() && sum < limit(); ++e) {
      const double bound = optima_.bound(chosen[e]->branch, taken[e]);
      const double spare = (limit() - sum) * (1 + kSlack) / chosen[e]->entries;
      const BranchOptimum* optimum =
          optima_.optimum(chosen[e]->branch, taken[e], bound * (1 + kSlack) + spare);
      if (optimum == nullptr) {
        return;
      }
      sum += chosen[e]->entries * (optimum->energy - bound);
      nests.push_back(&optimum->nest);
    }
    if (!(sum < limit())) {
      return;
    }
    best_ = {sum, model_.level(), entered.interface, {}, {}};
    for (std::size_t e = 0; e < chosen.size(); ++e) {
      best_.keeps.insert(best_.keeps.end(), chosen[e]->keeps.begin(), chosen[e]->keeps.end());
      best_.branches.push_back(*nests[e]);
    }
  }

  // What the group needs if each einsum ran once, had all capacities to itself, and found what
  // others pass to it. Its optima bound all smaller boxes.
  double ideal() {
    double sum = 0;
    const std::vector<bool> divide = with_boxes_that_divide(piece());
    for (std::size_t e = 0; e < piece().einsums.size(); ++e) {
      if (!divide[e]) {
        sum += model_.problem(e).mac_energy().count() * operations(e);
        continue;
      }
      EnteredBranch whole;
      whole.bounds = bounds_of(einsum(e));
      double least = kInfinity;
      for (const Sourcing& sourcing : model_.sourcings(e)) {
        double shared = 0;
        for (const TensorId t : model_.shared_tensors(e, sourcing)) {
          shared += model_.shared_pj({e, t}, model_.whole({e, t}));
        }
        const Branch branch = model_.branch_of(e, whole, sourcing);
        const double spare = limit() - sum - shared;
        if (spare > 0) {
          optima_.optimum(branch, around_.taken, spare * (1 + kSlack));
        }
        least = std::min(least, shared + optima_.bound(branch, around_.taken));
      }
      sum += least;
    }
    return sum;
  }

  // ---- best first

  void search_level(LevelId level) {
    model_.set_level(level);
    if (ideal() >= limit()) {
      return;
    }
    counter_.emplace(arch_, piece(), level);
    classes_.emplace(piece(), most_loops_, *counter_, held_);
    statistics_.classes += static_cast<std::int64_t>(classes_->size());
    class_boxes_.assign(classes_->size(), {});
    class_live_.assign(classes_->size(), {});
    interfaces_.clear();
    queue_ = {};
    for (std::size_t c = 0; c < classes_->size(); ++c) {
      held_.check();
      std::optional<Least> open;
      push({class_bound(c, open), true, c});
    }
    while (!queue_.empty() && queue_.top().bound < limit()) {
      held_.check();
      Node node = queue_.top();
      queue_.pop();
      std::optional<Least> open;
      do {
        open.reset();
        node.bound = node.is_class ? class_bound(node.index, open)
                                   : interface_bound(interfaces_[node.index], open);
        if (open && node.bound < limit()) {
          settle(*open, node.bound);
        }
      } while (open && node.bound < limit() &&
               (queue_.empty() || node.bound <= queue_.top().bound));
      if (open) {
        push(node);
      } else if (node.bound < limit()) {
        if (node.is_class) {
          open_class(node.index);
        } else {
          join(interfaces_[node.index]);
        }
      }
    }
  }
  void push(const Node& node) {
    if (node.bound < limit()) {
      queue_.push(node);
    }
  }

  const Arch& arch_;
  GroupModel model_;
  const Surroundings& around_;
  BranchOptima& optima_;
  GroupStatistics& statistics_;
  std::size_t most_loops_;
  double limit_;
  Held held_;  // of what is known of classes
  std::optional<GroupCounter> counter_;
  std::optional<InterfaceClasses> classes_;
  std::vector<std::vector<EnteredBranch>> class_boxes_;
  std::vector<std::vector<LiveSet>> class_live_;
  std::vector<Entered> interfaces_;
  std::priority_queue<Node> queue_;
  GroupPlan best_;
};

}  // namespace

std::optional<GroupPlan> search_group(const Arch& arch, const EinsumChain& chain,
                                      const Group& group, const Surroundings& surroundings,
                                      std::size_t most_loops, double limit, BranchOptima& optima,
                                      GroupStatistics& statistics) {
  return GroupSearch(arch, chain, group, surroundings, most_loops, limit, optima, statistics).run();
}

}  // namespace mapsim::fusion
