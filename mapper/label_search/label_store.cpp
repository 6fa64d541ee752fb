// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/label_store.hpp"

#include <algorithm>

namespace mapsim::exact {

LabelStore::Id LabelStore::extend(Id before, Step step) {
  const auto id = static_cast<Id>(labels_.size());
  labels_.push_back({step, before, kNone, false});
  values_.resize(values_.size() + width_);
  if (before != kNone) {
    std::copy_n(values(before), width_, values(id));
  }
  return id;
}

void LabelStore::retract() {
  labels_.pop_back();
  values_.resize(values_.size() - width_);
}

bool LabelStore::dominated(Id label, std::size_t node) {
  const Id head = heads_[node] - 1;
  for (Id other = head; other != kNone; other = labels_[index(other)].next) {
    if (!is_dominated(other) && no_worse(other, label)) {
      return true;
    }
  }
  for (Id other = head; other != kNone; other = labels_[index(other)].next) {
    if (!is_dominated(other) && no_worse(label, other)) {
      labels_[index(other)].dominated = true;
    }
  }
  labels_[index(label)].next = head;
  heads_[node] = label + 1;
  return false;
}

bool LabelStore::no_worse(Id a, Id b) const {
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

std::vector<Step> LabelStore::trace(Id label) const {
  std::vector<Step> steps;
  for (; label != kNone; label = labels_[index(label)].before) {
    steps.push_back(step(label));
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace mapsim::exact
