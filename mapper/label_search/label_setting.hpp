// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "mapper/deadline.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/label_search/label_store.hpp"

// Label setting in best-first order (A*): the loop that all label searches share. Labels wait in a
// queue, ordered by the objective of cost so far plus completion bound, so the first label at the
// end that is taken from the queue is optimal. Searches differ in what labels remember of the loops
// further out (their history), and therefore in the steps that may follow a label:
//
// - nothing: perfect factors (label_search.cpp), and a bound for imperfect ones;
// - tile counts: a closer bound for imperfect factors;
// - the whole chain of loops: the cost of an imperfect mapping (history_search.hpp).

namespace mapsim::exact {

template <class History>
class LabelSetting {
 public:
  using Labels = LabelStore<History>;
  using Id = typename Labels::Id;
  struct Queued {
    ObjectiveKey key;
    Id label = 0;
    // std::push_heap puts the largest first: here the smallest key, among equal keys the newest
    // label.
    friend bool operator<(const Queued& a, const Queued& b) {
      return a.key != b.key ? a.key > b.key : a.label < b.label;
    }
  };
  // Called now and then with the least key in the queue and the number of labels expanded since the
  // last call.
  using Tick = std::function<void(const ObjectiveKey& least, std::int64_t labels)>;

  // `width`: values per label. `deadline` limits time and memory.
  LabelSetting(std::size_t width, const Deadline& deadline, Tick tick = nullptr)
      : labels{width}, deadline_{deadline}, held_{&deadline}, tick_{std::move(tick)} {}

  Labels labels;

  void push(const Queued& queued) {
    queue_.push_back(queued);
    std::push_heap(queue_.begin(), queue_.end());
  }
  std::optional<Queued> pop() {
    if (queue_.empty()) {
      return std::nullopt;
    }
    std::pop_heap(queue_.begin(), queue_.end());
    const Queued top = queue_.back();
    queue_.pop_back();
    return top;
  }
  bool is_empty() const { return queue_.empty(); }
  const ObjectiveKey& least() const { return queue_.front().key; }
  const std::vector<Queued>& queue() const { return queue_; }

  // Expands labels in the order of their keys. Returns the first label that reaches the end and
  // that `search` accepts. Returns nothing if the queue has no label of use left, or if the search
  // was stopped: `most` labels have been expanded in all, or time or memory is over. A stopped
  // search leaves its best label in the queue.
  //
  // `search` has: is_of_use(key), false if the incumbent rules the key out; is_last(key), true if
  // no label with this or a later key is of use; accepts(goal), false if the search goes on
  // after this goal; and expand(label).
  template <class Search>
  std::optional<Queued> run(Search& search, std::int64_t most) {
    is_stopped_ = false;
    while (const std::optional<Queued> top = pop()) {
      if (search.is_last(top->key)) {
        break;
      }
      if (labels[top->label].dominated || !search.is_of_use(top->key)) {
        continue;
      }
      if (labels[top->label].step.kind == Step::Kind::kEnd) {
        if (search.accepts(*top)) {
          return top;
        }
        continue;
      }
      if (is_over(top->key, most)) {
        push(*top);
        is_stopped_ = true;
        return std::nullopt;
      }
      expand(search, top->label);
    }
    return std::nullopt;
  }
  template <class Search>
  void expand(Search& search, Id label) {
    ++expanded_;
    search.expand(label);
  }

  std::int64_t expanded() const { return expanded_; }
  bool is_stopped() const { return is_stopped_; }  // before the proof was complete
  bool is_out_of_memory() const { return is_out_of_memory_; }

 private:
  static constexpr std::int64_t kTick = 256;  // labels between two polls of the deadline

  bool is_over(const ObjectiveKey& least, std::int64_t most) {
    if (expanded_ >= most) {
      return true;
    }
    if (expanded_ < next_tick_) {
      return false;
    }
    next_tick_ = expanded_ + kTick;
    if (tick_) {
      tick_(least, expanded_ - ticked_);
      ticked_ = expanded_;
    }
    return deadline_.over() || !has_memory();
  }
  // Is there memory for twice as many labels as now? Vectors double when they grow.
  bool has_memory() {
    try {
      held_.grow_to(2 * (labels.bytes() + queue_.capacity() * sizeof(Queued)));
    } catch (const OutOfBudget&) {
      is_out_of_memory_ = true;
    }
    return !is_out_of_memory_;
  }

  const Deadline& deadline_;
  HeldMemory held_;
  Tick tick_;
  std::vector<Queued> queue_;  // a heap
  std::int64_t expanded_ = 0;
  std::int64_t next_tick_ = 0;
  std::int64_t ticked_ = 0;
  bool is_stopped_ = false;
  bool is_out_of_memory_ = false;
};

}  // namespace mapsim::exact
