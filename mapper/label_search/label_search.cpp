// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/label_search.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "core/memory_refused.hpp"
#include "mapper/label_search/capacity_use.hpp"
#include "mapper/label_search/label_setting.hpp"

namespace mapsim::exact {

namespace {

constexpr int kAttempts = 32;  // greedy completions before the search gives up

// The label search of perfect factors, whose labels have no history.
class LabelSearch {
 public:
  using Setting = LabelSetting<NoHistory>;
  using Id = Setting::Id;
  using Queued = Setting::Queued;

  LabelSearch(SearchTables& tables, const LabelQuery& query, const Deadline& deadline)
      : tables_{tables},
        graph_{tables.graph},
        query_{query},
        components_{tables.costs.components()},
        capacity_use_(tables, query.measured_capacity, components_ + (tables.array ? 1 : 0)),
        setting_(capacity_use_.width(), deadline, query.tick),
        labels_{setting_.labels},
        heads_{static_cast<Id*>(std::calloc(tables.bound.node_count(), sizeof(Id)))},
        scratch_(components_),
        known_{query.known.without_tags()} {
    if (heads_ == nullptr && tables.bound.node_count() > 0) {
      throw MemoryRefused{tables.bound.node_count() * sizeof(Id)};
    }
  }

  LabelResult run() {
    start();
    if (const std::optional<Queued> goal = setting_.run(*this, query_.labels)) {
      return finish(goal->key, false);
    }
    if (!setting_.is_stopped()) {
      return finish(known_.limit(), false);
    }
    const ObjectiveKey bound = setting_.least();
    complete_greedily();
    return finish(bound, true);
  }

  // What LabelSetting requires.
  bool is_of_use(const ObjectiveKey& key) const { return !known_.dominates(key); }
  bool is_last(const ObjectiveKey& key) const {
    return !known_.is_front() && known_.dominates(key);
  }
  bool accepts(const Queued&) const { return !known_.is_front(); }
  void expand(Id id) {
    const Node at = labels_[id].step.node;
    const auto of_interest = [this](const Node& node) {
      return tables_.bound.at(node, 0) < kInfinity;
    };
    for_each_move(graph_, tables_.unrolled, tables_.costs, at, of_interest,
                  [&](const Step& step, std::span<const StepCost> costs_of_edges) {
                    const Id next = add(id, step);
                    bool fits = true;
                    for (const StepCost& step_cost : costs_of_edges) {
                      fits = fits && charge(next, step_cost);
                    }
                    if (fits) {
                      offer(next);
                    } else {
                      labels_.retract();
                    }
                  });
  }

 private:
  Id add(Id before, const Step& step) {
    Label<NoHistory> label;
    label.step = step;
    label.before = before;
    return labels_.add(label);
  }

  bool has_ending() const {
    return std::any_of(
        known_.points().begin(), known_.points().end(),
        [](const Incumbent::Point& point) { return point.tag != Incumbent::kNoTag; });
  }
  LabelResult finish(const ObjectiveKey& bound, bool is_stopped) const {
    // Other labels in the queue of a front need at least as much of the first figure, but perhaps
    // less of the second.
    const ObjectiveKey least{bound.first, known_.is_front() ? 0 : bound.second};
    LabelResult result{{}, least, setting_.expanded(), is_stopped, setting_.is_out_of_memory()};
    for (const Incumbent::Point& point : known_.points()) {
      if (point.tag != Incumbent::kNoTag) {
        result.goals.push_back({point.key, labels_.trace(point.tag)});
      }
    }
    return result;
  }

  void start() {
    for (const std::size_t residency : graph_.starts()) {
      const Node node{0, residency, tables_.unrolled.lattices.front().size() - 1};
      const Id id = add(Setting::Labels::kNone, {Step::Kind::kStart, node, 0});
      if (tables_.array) {
        labels_.values(id)[components_] = kInfinity;
      }
      if (capacity_use_.add_start(residency, labels_.values(id))) {
        offer(id);
      } else {
        labels_.retract();
      }
    }
  }

  // The key of the label's cost so far plus completion bound.
  ObjectiveKey key_of(Id id) {
    const Step& step = labels_[id].step;
    const double* values = labels_.values(id);
    for (std::size_t k = 0; k < components_; ++k) {
      const bool ends = step.kind == Step::Kind::kEnd;
      scratch_[k] = values[k] + (ends ? 0 : tables_.bound.at(step.node, k));
    }
    ObjectiveKey key = tables_.path_objective.key(scratch_.data(), compute_cycles(step, values));
    if (query_.measured_capacity) {
      key.second = values[*capacity_use_.slot(*query_.measured_capacity)];
    }
    return without_noise(key);
  }
  // Behind the components, a label has the least time of the tensors in the systolic array.
  double compute_cycles(const Step& step, const double* values) const {
    const double entered = tables_.array ? values[components_] : kInfinity;
    const bool is_known = step.kind == Step::Kind::kEnd && entered < kInfinity;
    return is_known ? entered : tables_.compute_cycles(step.node, entered);
  }
  void offer(Id id) {
    const Step step = labels_[id].step;
    capacity_use_.drop_non_binding(step.node, labels_.values(id));
    const ObjectiveKey key = key_of(id);
    const bool ends = step.kind == Step::Kind::kEnd;
    if (known_.dominates(key) ||
        (!ends && !labels_.join(heads_[tables_.bound.number_of(step.node)]))) {
      labels_.retract();
      return;
    }
    setting_.push({key, id});
    if (ends) {
      known_.insert(key, id);
    }
  }

  // Adds the cost and the bits of an edge to a label. Returns false if its tile does not fit.
  bool charge(Id id, const StepCost& step_cost) {
    double* values = labels_.values(id);
    if (!(step_cost.cost[0] < kInfinity)) {
      return false;
    }
    for (std::size_t k = 0; k < components_; ++k) {
      values[k] += step_cost.cost[k * step_cost.step];
    }
    if (step_cost.edge == BoundaryEdge::kMac) {
      return true;
    }
    if (tables_.array && tables_.array->enters(step_cost.edge)) {
      double& entered = values[components_];
      entered = std::min(entered, tables_.array->cycles(step_cost.edge)[step_cost.tile]);
    }
    return !capacity_use_.takes(step_cost.edge) ||
           capacity_use_.add(step_cost.edge, tables_.costs.bits(step_cost.edge)[step_cost.tile],
                             values);
  }

  // Takes the best label and follows the best of its successors to the end; repeated until one gets
  // there.
  void complete_greedily() {
    for (int i = 0; i < kAttempts && !has_ending(); ++i) {
      std::optional<Queued> at = setting_.pop();
      while (at && labels_[at->label].step.kind != Step::Kind::kEnd) {
        const auto first_new = static_cast<Id>(labels_.size());
        setting_.expand(*this, at->label);
        at = newest_best(first_new);
      }
    }
  }
  // The best label in the queue from `first_new` on.
  std::optional<Queued> newest_best(Id first_new) const {
    std::optional<Queued> best;
    for (const Queued& queued : setting_.queue()) {
      if (queued.label >= first_new && (!best || *best < queued)) {
        best = queued;
      }
    }
    return best;
  }

  SearchTables& tables_;
  const StateGraph& graph_;
  const LabelQuery& query_;
  std::size_t components_;
  // A label's values: components; with a systolic array its time; bits used of capacities.
  CapacityUse capacity_use_;
  Setting setting_;
  Setting::Labels& labels_;
  // Per node: head of the list of its labels. From calloc(), because a search touches few nodes,
  // and untouched pages cost nothing.
  struct Free {
    void operator()(Id* ids) const { std::free(ids); }
  };
  std::unique_ptr<Id[], Free> heads_;
  std::vector<double> scratch_;
  Incumbent known_;  // tags are labels
};

}  // namespace

LabelResult search_labels(SearchTables& tables, const LabelQuery& query, const Deadline& deadline) {
  return LabelSearch(tables, query, deadline).run();
}

}  // namespace mapsim::exact
