// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/group_search.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <queue>
#include <utility>

#include "mapper/fusion/front_of.hpp"
#include "mapper/fusion/group_bounds.hpp"
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
// 3. The levels of the scopes that the class leaves are decided one after the other.
// 4. What is left is joined: which tensors the group keeps, at which position, such that the
//    branches fit beside them.
//
// Bounds ask for optima of branches one by one, the least one first, so that few are searched.

namespace mapsim::fusion {

using exact::kInfinity;

namespace {

struct Subproblem {
  double bound = 0;
  bool is_class = true;
  std::size_t index = 0;  // of a class or of an interface
  double operations = 0;  // of an entry of a class's sink
  // Does `b` come first? The least bound does, but for rounding; of equal ones interfaces, which
  // may become the incumbent, and then the class with the largest box, which bounds others.
  friend bool operator<(const Subproblem& a, const Subproblem& b) {
    const auto least = static_cast<float>(a.bound);
    const auto other = static_cast<float>(b.bound);
    if (least != other || a.is_class != b.is_class) {
      return least != other ? least > other : a.is_class;
    }
    return a.operations < b.operations;
  }
};

class GroupSearch {
 public:
  // `front`: where all points go; none: one is looked for.
  GroupSearch(const GroupQuery& query, BranchOptima& optima, GroupStatistics& statistics,
              std::vector<GroupPlan>* front)
      : arch_{query.arch},
        model_(query.arch, query.chain, query.group, query.surroundings, query.only_level,
               optima.deadline()),
        around_{query.surroundings},
        optima_{optima},
        bounds_{model_, optima},
        objective_{optima.objective()},
        statistics_{statistics},
        most_loops_{query.most_loops},
        limit_{query.limit},
        front_{front},
        held_{&optima.deadline()} {}

  void run() {
    if (piece().einsums.size() == 1) {
      search_alone();
    } else if (model_.is_group() && model_.has_scope_levels()) {
      search_together();
    }
  }
  std::optional<GroupPlan> best() {
    return best_.value < kInfinity ? std::optional(std::move(best_)) : std::nullopt;
  }

 private:
  const EinsumChain& piece() const { return model_.piece(); }
  const Workload& einsum(std::size_t e) const { return piece().einsums[e]; }
  double limit() const { return std::min(limit_, best_.value) * (1 - kRounding); }

  void search_alone() {
    Branch branch{model_.first(), bounds_of(einsum(0)), {}};
    branch.entry.sources = around_.sources[0];
    branch.entry.final_sums = around_.final_sums;
    branch.entry.run.entries = objective_.is_timed() ? 1 : 0;
    if (optima_.bound(branch, around_.taken) >= limit()) {
      return;
    }
    if (front_ != nullptr) {
      for (const BranchPoint& point : optima_.front(branch, around_.taken, limit())) {
        add({value(point), point.energy, point.cycles, {}, {}, {}, {point.nest}});
      }
      return;
    }
    const BranchOptimum* optimum = optima_.optimum(branch, around_.taken, limit());
    if (optimum != nullptr && optimum->value < limit()) {
      best_ = {optimum->value, 0, 0, {}, {}, {}, {optimum->nest}};
    }
  }

  // Leakage is in the energy already.
  double value(const BranchPoint& point) const {
    return objective_.objective().function.value(point.energy, point.cycles);
  }
  void add(GroupPlan plan) {
    if (plan.value < limit() && !is_dominated(*front_, plan.energy, plan.cycles)) {
      drop_covered(*front_, plan.energy, plan.cycles);
      front_->push_back(std::move(plan));
    }
  }

  // ---- classes of interfaces

  // Asks for the optimum, as far as it matters to a sum of such parts.
  void find_optimum(const LeastPart& open, double sum) {
    const double spare = (limit() - sum) * (1 + kGroupSlack) / open.entries;
    optima_.optimum(open.branch, open.taken, open.of_entry * (1 + kGroupSlack) + spare);
  }
  double class_bound(std::size_t index, std::optional<LeastPart>& open) {
    ClassBoxes& boxes = class_boxes_[index];
    if (boxes.branches.empty()) {
      const auto entered = counter_->count(counter_->innermost(classes_->loops(index)));
      if (!entered) {
        return kInfinity;
      }
      boxes = {entered->branches, entered->held, {}};
      for (std::size_t e = 0; e < piece().einsums.size(); ++e) {
        boxes.runs.push_back(classes_->least_runs(index, e));
      }
    }
    return bounds_.of_class(boxes, model_.scope_levels(), open);
  }

  // ---- interfaces

  struct Entered {
    Interface interface;
    LevelChoices levels;
    std::shared_ptr<const GroupCounts> group;
  };

  // Scopes in all positions that the class leaves, loops in all orders.
  void open_class(std::size_t index) {
    const auto choices = levels_in(index);
    if (!choices) {
      return;
    }
    std::vector<Temporal> loops = classes_->loops(index);
    const auto before = [](const Temporal& a, const Temporal& b) { return a.dim < b.dim; };
    std::sort(loops.begin(), loops.end(), before);
    do {
      Interface interface{loops, std::vector<std::size_t>(piece().intermediates.size(), 0)};
      std::size_t i = 0;
      do {
        held_.check();
        if (auto counted = counter_->count(interface)) {
          ++statistics_.interfaces;
          add({interface, *choices, std::make_shared<const GroupCounts>(std::move(*counted))});
        }
        for (i = 0; i < interface.scopes.size() && ++interface.scopes[i] > loops.size(); ++i) {
          interface.scopes[i] = 0;
        }
      } while (i < interface.scopes.size());
    } while (std::next_permutation(loops.begin(), loops.end(), before));
  }
  // The levels of scopes that a class leaves open, each intermediate by itself. nullopt: none of
  // some intermediate's.
  std::optional<LevelChoices> levels_in(std::size_t index) {
    LevelChoices choices = model_.scope_levels();
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const LevelSet may = choices[i];
      for (const LevelId level : model_.levels()) {
        std::optional<LeastPart> open;
        LevelChoices decided = choices;
        decided[i] = {level};
        if (may.size() > 1 && may.contains(level) &&
            !(bounds_.of_class(class_boxes_[index], decided, open) < limit())) {
          choices[i].erase(level);
        }
      }
      if (choices[i].empty()) {
        return std::nullopt;
      }
    }
    return choices;
  }
  void add(Entered entered) {
    held_.check();
    std::optional<LeastPart> open;
    const double bound = interface_bound(entered, open);
    if (bound < limit()) {
      held_.take(sizeof(Entered) + entered.interface.loops.size() * sizeof(Temporal) +
                 entered.levels.size() * (sizeof(LevelSet) + sizeof(std::size_t)) +
                 (entered.group.use_count() == 1 ? bytes_of(*entered.group) : 0));
      interfaces_.push_back(std::move(entered));
      queue_.push({bound, false, interfaces_.size() - 1});
    }
  }
  double interface_bound(const Entered& entered, std::optional<LeastPart>& open) {
    return bounds_.of_interface(*entered.group, entered.levels, open);
  }
  // Decides the level of one more scope, or joins the branches.
  void open_interface(std::size_t index) {
    const Entered entered = std::exchange(interfaces_[index], {});
    const auto several = std::find_if(entered.levels.begin(), entered.levels.end(),
                                      [](LevelSet levels) { return levels.size() > 1; });
    if (several == entered.levels.end()) {
      join({entered.interface, *entered.group, levels_of(entered)});
      return;
    }
    for (const LevelId level : model_.levels()) {
      if (several->contains(level)) {
        Entered decided = entered;
        decided.levels[static_cast<std::size_t>(several - entered.levels.begin())] = {level};
        add(std::move(decided));
      }
    }
  }

  static ScopeLevels levels_of(const Entered& entered) {
    ScopeLevels levels;
    for (const LevelSet one : entered.levels) {
      levels.emplace_back(static_cast<LevelId>(std::countr_zero(one.bits())));
    }
    return levels;
  }

  // ---- joining

  struct Joined {
    const Interface& interface;
    const GroupCounts& group;
    ScopeLevels levels;
  };

  // One option per einsum, depth first.
  void join(const Joined& joined) {
    std::vector<std::vector<BranchOption>> all;
    std::vector<double> rest(piece().einsums.size() + 1, 0.0);  // of this einsum and later ones
    for (std::size_t e = 0; e < piece().einsums.size(); ++e) {
      all.push_back(options_of(model_, optima_, joined.group, joined.levels, e));
      if (all.back().empty()) {
        return;
      }
    }
    for (std::size_t e = all.size(); e-- > 0;) {
      rest[e] = rest[e + 1] + all[e].front().bound;
    }
    std::vector<const BranchOption*> chosen;
    const std::function<void(double)> choose = [&](double so_far) {
      const std::size_t e = chosen.size();
      if (e == all.size()) {
        held_.check();
        finish(joined, chosen);
        return;
      }
      for (const BranchOption& option : all[e]) {
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
  void finish(const Joined& joined, const std::vector<const BranchOption*>& chosen) {
    std::vector<std::optional<bool>> final_sums;
    TakenBits resident(around_.taken.size(), 0.0);
    for (const BranchOption* option : chosen) {
      final_sums.push_back(option->final_sums);
      resident = sum_of(resident, option->resident);
    }
    std::vector<TakenBits> taken;
    double sum = 0;
    for (std::size_t e = 0; e < chosen.size(); ++e) {
      taken.push_back(sum_of(model_.taken_by_scopes(optima_.capacities(), joined.levels,
                                                    joined.group.held, e, final_sums),
                             resident));
      if (!fits(optima_.capacities(), taken.back())) {
        return;
      }
      sum += bound_of(*chosen[e], optima_, taken[e]);
    }
    if (front_ != nullptr) {
      if (sum < limit()) {
        add_points(joined, chosen, taken, limit() - sum);
      }
      return;
    }
    std::vector<const std::vector<MappingNode>*> nests;
    for (std::size_t e = 0; e < chosen.size() && sum < limit(); ++e) {
      const BranchOption& option = *chosen[e];
      const double least = optima_.bound(option.branch, taken[e]);
      const double spare = (limit() - sum) * (1 + kGroupSlack) / option.scale;
      const BranchOptimum* optimum =
          optima_.optimum(option.branch, taken[e], least * (1 + kGroupSlack) + spare);
      if (optimum == nullptr) {
        return;
      }
      sum += option.scale * (optimum->value - least);
      nests.push_back(&optimum->nest);
    }
    if (!(sum < limit())) {
      return;
    }
    best_ = plan_of(joined, chosen);
    best_.value = sum;
    for (const auto* nest : nests) {
      best_.branches.push_back(*nest);
    }
  }
  GroupPlan plan_of(const Joined& joined, const std::vector<const BranchOption*>& chosen) const {
    GroupPlan plan;
    plan.levels = joined.levels;
    plan.interface = joined.interface;
    for (const BranchOption* option : chosen) {
      plan.keeps.insert(plan.keeps.end(), option->keeps.begin(), option->keeps.end());
    }
    return plan;
  }
  // All sums of points of the branches, each of which may need so much more than its bound.
  void add_points(const Joined& joined, const std::vector<const BranchOption*>& chosen,
                  const std::vector<TakenBits>& taken, double spare) {
    std::vector<const std::vector<BranchPoint>*> points;
    for (std::size_t e = 0; e < chosen.size(); ++e) {
      const double cutoff = optima_.bound(chosen[e]->branch, taken[e]) * (1 + kGroupSlack) + spare;
      points.push_back(&optima_.front(chosen[e]->branch, taken[e], cutoff));
      if (points.back()->empty()) {
        return;
      }
    }
    GroupPlan plan = plan_of(joined, chosen);
    plan.value = 0;
    const std::function<void()> sum_up = [&] {
      if (plan.branches.size() == points.size()) {
        add(plan);
        return;
      }
      const GroupPlan before = plan;
      for (const BranchPoint& point : *points[before.branches.size()]) {
        plan.value += value(point);
        plan.energy += point.energy;
        plan.cycles += point.cycles;
        if (plan.value < limit() && !is_dominated(*front_, plan.energy, plan.cycles)) {
          plan.branches.push_back(point.nest);
          sum_up();
        }
        plan = before;
      }
    };
    sum_up();
  }

  // ---- best first

  void search_together() {
    if (bounds_.ideal(limit(), around_.taken) >= limit()) {
      return;
    }
    counter_.emplace(arch_, piece(), model_.levels());
    classes_.emplace(piece(), most_loops_, *counter_, held_);
    statistics_.classes += static_cast<std::int64_t>(classes_->size());
    class_boxes_.resize(classes_->size());
    for (std::size_t c = 0; c < classes_->size(); ++c) {
      held_.check();
      std::optional<LeastPart> open;
      const double bound = class_bound(c, open);
      push({bound, true, c, bound < kInfinity ? operations(c) : 0});
    }
    while (!queue_.empty()) {
      held_.check();
      Subproblem node = queue_.top();
      queue_.pop();
      std::optional<LeastPart> open;
      if (!(node.bound < limit())) {
        continue;
      }
      do {
        open.reset();
        node.bound = node.is_class ? class_bound(node.index, open)
                                   : interface_bound(interfaces_[node.index], open);
        if (open && node.bound < limit()) {
          find_optimum(*open, node.bound);
        }
      } while (open && node.bound < limit() && (queue_.empty() || !(node < queue_.top())));
      if (open) {
        push(node);
      } else if (node.bound < limit()) {
        if (node.is_class) {
          open_class(node.index);
        } else {
          open_interface(node.index);
        }
      }
    }
  }
  double operations(std::size_t index) const {
    double product = 1;
    for (const std::int64_t size : class_boxes_[index].branches.back().bounds) {
      product *= static_cast<double>(size);
    }
    return product;
  }
  void push(const Subproblem& node) {
    if (node.bound < limit()) {
      queue_.push(node);
    }
  }

  const Arch& arch_;
  GroupModel model_;
  const Surroundings& around_;
  BranchOptima& optima_;
  GroupBounds bounds_;
  const AdditiveObjective& objective_;
  GroupStatistics& statistics_;
  std::size_t most_loops_;
  double limit_;
  std::vector<GroupPlan>* front_;
  HeldMemory held_;  // of what is known of classes and interfaces
  std::optional<GroupCounter> counter_;
  std::optional<InterfaceClasses> classes_;
  std::vector<ClassBoxes> class_boxes_;
  std::vector<Entered> interfaces_;
  std::priority_queue<Subproblem> queue_;
  GroupPlan best_;
};

}  // namespace

std::optional<GroupPlan> search_group(const GroupQuery& query, BranchOptima& optima,
                                      GroupStatistics& statistics) {
  GroupSearch search(query, optima, statistics, nullptr);
  search.run();
  return search.best();
}

std::vector<GroupPlan> search_group_front(const GroupQuery& query, BranchOptima& optima,
                                          GroupStatistics& statistics) {
  std::vector<GroupPlan> front;
  GroupSearch(query, optima, statistics, &front).run();
  return front;
}

}  // namespace mapsim::fusion
