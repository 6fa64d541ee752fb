// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/label_search.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "mapper/label_search/capacity_use.hpp"

namespace mapsim::exact {

namespace {

using Id = LabelStore::Id;

constexpr int kAttempts = 32;        // to complete a label greedily
constexpr std::int64_t kTick = 256;  // labels between two looks at the clock

class LabelSearch {
 public:
  LabelSearch(Instance& instance, const LabelQuery& query, const Deadline& deadline)
      : instance_{instance},
        graph_{instance.graph},
        query_{query},
        deadline_{deadline},
        held_{&deadline},
        components_{instance.costs.components()},
        rooms_(instance, query.measured_room, components_ + (instance.array ? 1 : 0)),
        labels_(instance.bound.places(), rooms_.width()),
        scratch_(components_),
        known_{query.known.without_tags()} {}

  LabelResult run() {
    start();
    while (!queue_.empty()) {
      const Queued top = pop();
      if (known_.covers(top.key)) {
        if (known_.is_front()) {
          continue;
        }
        break;
      }
      const bool ends = labels_.step(top.label).kind == Step::Kind::kEnd;
      if (ends && !known_.is_front()) {
        return finish(top.key);
      }
      if (ends || labels_.is_dominated(top.label)) {
        continue;
      }
      if (is_over(top.key)) {
        push(top);
        complete_greedily();
        stopped_ = true;
        return finish(top.key);
      }
      expand(top.label);
    }
    return finish(known_.limit());
  }

 private:
  struct Queued {
    Key key;
    Id label = 0;
    // Heaps have the largest on top: smaller keys first, of equal ones the newest.
    friend bool operator<(const Queued& a, const Queued& b) {
      return a.key != b.key ? a.key > b.key : a.label < b.label;
    }
  };

  void push(const Queued& queued) {
    queue_.push_back(queued);
    std::push_heap(queue_.begin(), queue_.end());
  }
  Queued pop() {
    std::pop_heap(queue_.begin(), queue_.end());
    const Queued top = queue_.back();
    queue_.pop_back();
    return top;
  }

  bool has_ending() const {
    return std::any_of(
        known_.points().begin(), known_.points().end(),
        [](const Incumbent::Point& point) { return point.tag != Incumbent::kNoTag; });
  }
  bool is_over(const Key& bound) {
    if (expanded_ >= query_.labels) {
      return true;
    }
    if (expanded_ < next_tick_) {
      return false;
    }
    next_tick_ = expanded_ + kTick;
    if (query_.tick) {
      query_.tick(bound, expanded_ - ticked_);
      ticked_ = expanded_;
    }
    return deadline_.over() || !has_memory();
  }
  // For as many labels as now, once more: vectors double.
  bool has_memory() {
    try {
      held_.grow_to(2 * (labels_.bytes() + queue_.capacity() * sizeof(Queued)));
    } catch (const OutOfBudget&) {
      is_out_of_memory_ = true;
    }
    return !is_out_of_memory_;
  }

  LabelResult finish(const Key& bound) const {
    // Labels in the queue of a front need no less energy than this one, but perhaps less time.
    const Key least{bound.first, known_.is_front() ? 0 : bound.second};
    LabelResult result{{}, least, expanded_, stopped_, is_out_of_memory_};
    for (const Incumbent::Point& point : known_.points()) {
      if (point.tag != Incumbent::kNoTag) {
        result.endings.push_back({point.key, labels_.trace(point.tag)});
      }
    }
    return result;
  }

  void start() {
    for (const std::size_t residency : graph_.starts()) {
      const Node node{0, residency, instance_.unrolled.lattices.front().size() - 1};
      const Id id = labels_.extend(LabelStore::kNone, {Step::Kind::kStart, node, 0});
      if (instance_.array) {
        labels_.values(id)[components_] = kInfinity;
      }
      if (occupy_start(graph_, residency, rooms_.slots(), labels_.values(id))) {
        offer(id);
      } else {
        labels_.retract();
      }
    }
  }

  // The best that can become of a label.
  Key key_of(Id id) {
    const Step& step = labels_.step(id);
    const double* values = labels_.values(id);
    for (std::size_t k = 0; k < components_; ++k) {
      const bool ends = step.kind == Step::Kind::kEnd;
      scratch_[k] = values[k] + (ends ? 0 : instance_.bound.at(step.node, k));
    }
    Key key = instance_.valuation.key(scratch_.data(), compute_cycles(step, values));
    if (query_.measured_room) {
      key.second = values[*rooms_.slot(*query_.measured_room)];
    }
    return without_noise(key);
  }
  // Behind the components a label has the least time of a tensor that is in the systolic array.
  double compute_cycles(const Step& step, const double* values) const {
    const double entered = instance_.array ? values[components_] : kInfinity;
    const bool is_known = step.kind == Step::Kind::kEnd && entered < kInfinity;
    return is_known ? entered : instance_.compute_cycles(step.node, entered);
  }
  void offer(Id id) {
    const Step step = labels_.step(id);
    rooms_.forget(step.node, labels_.values(id));
    const Key key = key_of(id);
    const bool ends = step.kind == Step::Kind::kEnd;
    if (known_.covers(key) || (!ends && labels_.dominated(id, instance_.bound.place(step.node)))) {
      labels_.retract();
      return;
    }
    push({key, id});
    if (ends) {
      known_.insert(key, id);
    }
  }

  void expand(Id id) {
    ++expanded_;
    const Node at = labels_.step(id).node;
    const auto of_interest = [this](const Node& node) {
      return instance_.bound.at(node, 0) < kInfinity;
    };
    for_each_move(graph_, instance_.unrolled, instance_.costs, at, of_interest,
                  [&](const Step& step, std::span<const Payment> payments) {
                    const Id next = labels_.extend(id, step);
                    bool fits = true;
                    for (const Payment& payment : payments) {
                      fits = fits && pay(next, payment);
                    }
                    if (fits) {
                      offer(next);
                    } else {
                      labels_.retract();
                    }
                  });
  }

  // Adds costs and room to label `id`; false: it does not fit.
  bool pay(Id id, const Payment& payment) {
    double* values = labels_.values(id);
    if (!(payment.cost[0] < kInfinity)) {
      return false;
    }
    for (std::size_t k = 0; k < components_; ++k) {
      values[k] += payment.cost[k * payment.step];
    }
    if (payment.edge == BoundaryEdge::kMac) {
      return true;
    }
    if (instance_.array && instance_.array->enters(payment.edge)) {
      double& entered = values[components_];
      entered = std::min(entered, instance_.array->cycles(payment.edge)[payment.tile]);
    }
    const auto room = graph_.room_of(graph_.edges()[payment.edge]);
    if (room && rooms_.slot(*room)) {
      double& used = values[*rooms_.slot(*room)];
      used += instance_.costs.bits(payment.edge)[payment.tile];
      return used <= graph_.rooms()[*room].bits;
    }
    return true;
  }

  // The best labels, each with the best of what it leads to, until there is an ending.
  void complete_greedily() {
    for (int i = 0; i < kAttempts && !has_ending() && !queue_.empty(); ++i) {
      std::optional<Queued> at = pop();
      while (at && labels_.step(at->label).kind != Step::Kind::kEnd) {
        const std::size_t queued = queue_.size();
        const auto first_new = static_cast<Id>(labels_.size());
        expand(at->label);
        at = newest_best(queued, first_new);
      }
    }
  }
  // The best in the queue of the labels from `first_new` on.
  std::optional<Queued> newest_best(std::size_t queued_before, Id first_new) const {
    std::optional<Queued> best;
    for (std::size_t i = 0; i < queue_.size() && queue_.size() > queued_before; ++i) {
      if (queue_[i].label >= first_new && (!best || *best < queue_[i])) {
        best = queue_[i];
      }
    }
    return best;
  }

  Instance& instance_;
  const StateGraph& graph_;
  const LabelQuery& query_;
  const Deadline& deadline_;
  Held held_;
  std::size_t components_;
  // Values of a label: components, of a systolic array its time, bits used of rooms.
  CapacityUse rooms_;
  LabelStore labels_;
  std::vector<double> scratch_;
  std::vector<Queued> queue_;  // a heap
  Incumbent known_;            // tags: labels
  bool stopped_ = false;
  bool is_out_of_memory_ = false;
  std::int64_t expanded_ = 0;
  std::int64_t next_tick_ = 0;
  std::int64_t ticked_ = 0;
};

}  // namespace

LabelResult search_labels(Instance& instance, const LabelQuery& query, const Deadline& deadline) {
  return LabelSearch(instance, query, deadline).run();
}

}  // namespace mapsim::exact
