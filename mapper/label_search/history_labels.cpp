// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/history_labels.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::imperfect {

Labels::Id Labels::add(Label label) {
  const Id before = label.before;
  labels_.push_back(std::move(label));
  values_.resize(values_.size() + width_, 0.0);
  if (before != kNone) {
    std::copy_n(values_.begin() + before * static_cast<Id>(width_), width_,
                values_.end() - static_cast<Id>(width_));
  }
  return static_cast<Id>(labels_.size()) - 1;
}

void Labels::retract() {
  labels_.pop_back();
  values_.resize(values_.size() - width_);
}

std::uint64_t Labels::hash(const Label& label) {
  std::uint64_t h = label.step.node.tile;
  const auto mix = [&h](std::uint64_t x) {
    h = (h ^ x) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 29;
  };
  mix(label.step.node.stage);
  mix(label.step.node.residency);
  mix(label.begun);
  for (const Chains::Id id : label.chains) {
    mix(id);
  }
  return h;
}

bool Labels::alike(const Label& a, const Label& b) {
  return a.step.node.tile == b.step.node.tile && a.step.node.residency == b.step.node.residency &&
         a.step.node.stage == b.step.node.stage && a.begun == b.begun && a.chains == b.chains;
}

// Also: whatever may follow b may follow a.
bool Labels::no_worse(Id a, Id b) const {
  const Label& x = (*this)[a];
  const Label& y = (*this)[b];
  const auto within = [](DimSet inner, DimSet outer) { return (inner & outer) == inner; };
  if ((x.owed != 0 && x.owed != y.owed) || (y.run != Run::kNone && x.run != y.run) ||
      !within(x.settled, y.settled) || !within(x.barred, y.barred) || !within(x.open, y.open) ||
      !within(x.since, y.since) || (y.at_point && !x.at_point) || (y.placed && !x.placed) ||
      x.next_dim > y.next_dim || x.steps > y.steps) {
    return false;
  }
  const double* p = values(a);
  const double* q = values(b);
  if (p[0] > q[0] * (1 + 1e-13)) {
    return false;
  }
  for (std::size_t k = 1; k < width_; ++k) {
    if (p[k] > q[k]) {
      return false;
    }
  }
  return true;
}

bool Labels::newest_is_dominated() {
  const Id id = static_cast<Id>(labels_.size()) - 1;
  const auto [entry, is_new] = heads_.try_emplace(hash(labels_.back()), kNone);
  Id& head = entry->second;
  for (Id other = head; other != kNone; other = (*this)[other].next) {
    if (!(*this)[other].dominated && alike((*this)[other], labels_.back()) && no_worse(other, id)) {
      return true;
    }
  }
  for (Id other = head; other != kNone; other = (*this)[other].next) {
    Label& known = labels_[static_cast<std::size_t>(other)];
    known.dominated = known.dominated || (alike(known, labels_.back()) && no_worse(id, other));
  }
  labels_.back().next = head;
  head = id;
  return false;
}

std::vector<exact::Step> Labels::trace(Id id) const {
  std::vector<exact::Step> steps;
  for (; id != kNone; id = (*this)[id].before) {
    steps.push_back((*this)[id].step);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace mapsim::imperfect
