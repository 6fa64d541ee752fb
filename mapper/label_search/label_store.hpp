// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mapper/bounds/moves.hpp"

namespace mapsim::exact {

// What a label remembers of the loops further out where the cost of an edge is a function of its
// ends, as it is with perfect factors: nothing.
struct NoHistory {};

// A partial path: its last step, and the label that it extends.
template <class History>
struct Label : History {
  Step step;
  std::int64_t before = -1;
  std::int64_t next = -1;  // in the list of labels that are compared with it
  bool dominated = false;
};

// Of two labels in one list: are they at one node, and may whatever follows the other follow this
// one, at no more cost? Each history has this function; lists of perfect factors are of one node.
inline bool may_stand_for(const Label<NoHistory>&, const Label<NoHistory>&) { return true; }

// The labels of a search, each with `width` values: components so far, then used capacities.
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
  // Of its tables, as far as they are in use.
  std::size_t bytes() const {
    return labels_.capacity() * sizeof(Label<History>) + values_.capacity() * sizeof(double);
  }

  // A new one, with the values of the one that it extends, to be amended; the newest of all.
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
  // Takes the newest back.
  void retract() {
    labels_.pop_back();
    values_.resize(values_.size() - width_);
  }
  // Dominance. False: a label in the list is no worse than the newest in any way, which stays out.
  // Else the newest joins the list, and strikes out what it is no worse than. `head`: 1 + the
  // newest label of the list, 0: none.
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
  // From the start to a label.
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
  // Energies (the first value) that were added in another order differ in their last bits: 1e-13.
  // Bits and cycles are whole numbers.
  bool is_no_worse(Id a, Id b) const {
    if (!may_stand_for((*this)[a], (*this)[b])) {
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
