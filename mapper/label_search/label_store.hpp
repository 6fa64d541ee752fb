// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mapper/label_search/steps.hpp"

namespace mapsim::exact {

// The history of labels with perfect factors: empty, because the cost of an edge depends only on
// its ends.
struct NoHistory {};

// A label: a partial path, by its last step and the label that it extends.
template <class History>
struct Label : History {
  Step step;
  std::int64_t before = -1;
  std::int64_t next = -1;  // in the list of labels that are compared with this one; -1: none
  bool dominated = false;
};

// Dominance, the part of the history: are both labels at one node, and may every continuation of
// the second one follow the first one at no more cost? Each type of history has such a function.
// With perfect factors all labels of a list are at one node.
inline bool may_dominate(const Label<NoHistory>&, const Label<NoHistory>&) { return true; }

// The labels of a search. Each has `width` values: the components of its cost so far, then its use
// of capacities.
template <class History>
class LabelStore {
 public:
  using Id = std::int64_t;
  static constexpr Id kNone = -1;

  explicit LabelStore(std::size_t width) : width_{width} {}

  const Label<History>& operator[](Id id) const { return labels_[index(id)]; }
  Label<History>& newest() { return labels_.back(); }
  double* values(Id id) { return &values_[index(id) * width_]; }
  const double* values(Id id) const { return &values_[index(id) * width_]; }
  std::size_t size() const { return labels_.size(); }
  // Memory of its tables [B].
  std::size_t bytes() const {
    return labels_.capacity() * sizeof(Label<History>) + values_.capacity() * sizeof(double);
  }

  // Appends a label, the newest. It gets the values of the label that it extends, for the caller to
  // amend.
  Id add(Label<History> label) {
    const auto id = static_cast<Id>(labels_.size());
    const Id before = label.before;
    labels_.push_back(std::move(label));
    values_.resize(values_.size() + width_);
    if (before != kNone) {
      std::copy_n(values(before), width_, values(id));
    }
    return id;
  }
  // Removes the newest label.
  void retract() {
    labels_.pop_back();
    values_.resize(values_.size() - width_);
  }
  // Dominance. If a label of the list is no worse than the newest in any value, returns false; the
  // caller then retracts the newest. Otherwise the newest joins the list, and the labels that it is
  // no worse than are marked as dominated. `head`: 1 + the newest label of the list. So 0 is an
  // empty list, and zeroed memory (calloc) is a table of empty lists.
  bool join(Id& head) {
    const Id id = static_cast<Id>(labels_.size()) - 1;
    for (Id other = head - 1; other != kNone; other = (*this)[other].next) {
      if (!(*this)[other].dominated && is_no_worse(other, id)) {
        return false;
      }
    }
    for (Id other = head - 1; other != kNone; other = (*this)[other].next) {
      if (!(*this)[other].dominated && is_no_worse(id, other)) {
        labels_[index(other)].dominated = true;
      }
    }
    labels_.back().next = head - 1;
    head = id + 1;
    return true;
  }
  // The steps from the start to a label.
  std::vector<Step> trace(Id id) const {
    std::vector<Step> steps;
    for (; id != kNone; id = (*this)[id].before) {
      steps.push_back((*this)[id].step);
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

 private:
  static std::size_t index(Id id) { return static_cast<std::size_t>(id); }
  // Is label `a` no worse than `b`? Energies (the first value) may differ by a relative 1e-13,
  // since equal sums added in different orders differ in their last bits. Bits and cycles are whole
  // numbers and compare exactly.
  bool is_no_worse(Id a, Id b) const {
    if (!may_dominate((*this)[a], (*this)[b])) {
      return false;
    }
    const double* x = values(a);
    const double* y = values(b);
    if (x[0] > y[0] * (1 + 1e-13)) {
      return false;
    }
    for (std::size_t k = 1; k < width_; ++k) {
      if (x[k] > y[k]) {
        return false;
      }
    }
    return true;
  }

  std::size_t width_;
  std::vector<Label<History>> labels_;
  std::vector<double> values_;
};

}  // namespace mapsim::exact
