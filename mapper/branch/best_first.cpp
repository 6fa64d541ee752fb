// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/best_first.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::branch {

using exact::Incumbent;
using exact::ObjectiveKey;

BestFirst::BestFirst(const Mapspace& space, const Symmetry& symmetry, exact::ClassBounds& bounds)
    : classes_{space.classes()}, symmetry_{symmetry}, bounds_{bounds} {
  const Workload& workload = space.problem().workload();
  PerTensor<exact::TensorUse> uses;
  for (const Tensor& tensor : workload.tensors) {
    uses.push_back(exact::use_of(workload, tensor));
  }
  for (const FanoutId f : classes_.choices().ids()) {
    trees_.emplace_back(classes_, f, uses);
  }
  begin();
}

// One tuple for each set of fanouts in use.
void BestFirst::begin() {
  std::vector<Tuple> tuples{{}};
  for (std::size_t f = 0; f < trees_.size(); ++f) {
    std::vector<Tuple> longer;
    for (const Tuple& tuple : tuples) {
      for (const std::optional<std::uint32_t> root : {trees_[f].idle(), trees_[f].busy()}) {
        if (root) {
          longer.push_back(tuple);
          longer.back()[f] = *root;
        }
      }
    }
    tuples = std::move(longer);
  }
  for (const Tuple& tuple : tuples) {
    push(entry_of(tuple), {});
  }
}

// If one mapping is searched, no entry behind one beyond the limit matters. A front may have points
// there.
bool BestFirst::is_exhausted(const Incumbent& known) const {
  return queue_.empty() || (!known.is_front() && exact::exceeds(queue_.front().key, known.limit()));
}

std::optional<BestFirst::Tuple> BestFirst::next(const Incumbent& known,
                                                const std::function<bool()>& over) {
  constexpr std::size_t kPoll = 64;  // 0.1 ms
  for (std::size_t i = 0; !is_exhausted(known); ++i) {
    if (i % kPoll == 0 && over()) {
      is_stopped_ = has_begun_;
      return has_begun_ ? std::nullopt : first_class(known);
    }
    const Entry best = pop();
    if (known.rules_out(best.key)) {
      left_out_ = std::min(left_out_, best.key);
    } else if (best.is_class) {
      has_begun_ = true;
      return best.tuple;
    } else {
      for (const std::optional<Entry>& half : split(best)) {
        push(half, known);
      }
    }
  }
  return std::nullopt;
}

std::optional<BestFirst::Tuple> BestFirst::first_class(const Incumbent& known) {
  while (!is_exhausted(known)) {
    for (std::optional<Entry> best = pop(); best;) {
      if (best->is_class) {
        has_begun_ = true;
        return best->tuple;
      }
      auto [one, other] = split(*best);
      if (!one || (other && comes_later(*one, *other))) {
        std::swap(one, other);
      }
      push(other, known);
      best = one && one->key.first < exact::kInfinity ? one : std::nullopt;
    }
  }
  return std::nullopt;
}

ObjectiveKey BestFirst::bound() const {
  return queue_.empty() ? left_out_ : std::min(left_out_, queue_.front().key);
}

// Of equal bounds, boxes come before classes, since they may contain one that comes first.
bool BestFirst::comes_later(const Entry& a, const Entry& b) const {
  if (a.key != b.key || a.is_class != b.is_class) {
    return a.key != b.key ? b.key < a.key : a.is_class;
  }
  if (!a.is_class || a.cycles != b.cycles) {
    return a.is_class ? b.cycles < a.cycles : b.tuple < a.tuple;
  }
  return classes_.comes_before(b.tuple, a.tuple);
}

// Splits the box whose choices differ most.
BestFirst::Halves BestFirst::split(const Entry& entry) {
  std::size_t widest = trees_.size();
  for (std::size_t f = 0; f < trees_.size(); ++f) {
    const FactorBox& box = trees_[f][entry.tuple[f]];
    if (box.choice == FactorBox::kNone &&
        (widest == trees_.size() || box.spread > trees_[widest][entry.tuple[widest]].spread)) {
      widest = f;
    }
  }
  const FactorBox& box = trees_[widest][entry.tuple[widest]];
  Tuple left = entry.tuple;
  Tuple right = entry.tuple;
  left[widest] = box.left;
  right[widest] = box.right;
  return {entry_of(left), entry_of(right)};
}

// nullopt: the boxes hold no class, or a class for which another one stands by symmetry.
std::optional<BestFirst::Entry> BestFirst::entry_of(const Tuple& boxes) {
  Entry entry{{}, 0, true, boxes};
  PackedFactors common;
  exact::UnrollingBound::Boxes of_fanouts;
  for (std::size_t f = 0; f < trees_.size(); ++f) {
    const FactorBox& box = trees_[f][boxes[f]];
    if (!classes_.primes().multiply(common, box.common)) {
      return std::nullopt;
    }
    of_fanouts.push_back(&box);
    entry.is_class = entry.is_class && box.choice != FactorBox::kNone;
  }
  if (!entry.is_class) {
    entry.key = bounds_.of(of_fanouts);
    return entry;
  }
  for (std::size_t f = 0; f < trees_.size(); ++f) {
    entry.tuple[f] = trees_[f][boxes[f]].choice;
  }
  if (!symmetry_.is_first(entry.tuple)) {
    return std::nullopt;
  }
  const exact::ClassBounds::Bound bound = bounds_.of(classes_.unrolling_class(entry.tuple));
  entry.key = bound.key;
  entry.cycles = bound.cycles;
  return entry;
}

void BestFirst::push(const std::optional<Entry>& entry, const Incumbent& known) {
  if (!entry || !(entry->key.first < exact::kInfinity)) {
    return;
  }
  if (known.rules_out(entry->key)) {
    left_out_ = std::min(left_out_, entry->key);
    return;
  }
  queue_.push_back(*entry);
  std::push_heap(queue_.begin(), queue_.end(),
                 [this](const Entry& a, const Entry& b) { return comes_later(a, b); });
}

BestFirst::Entry BestFirst::pop() {
  std::pop_heap(queue_.begin(), queue_.end(),
                [this](const Entry& a, const Entry& b) { return comes_later(a, b); });
  const Entry best = queue_.back();
  queue_.pop_back();
  return best;
}

}  // namespace mapsim::branch
