// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/best_first.hpp"

#include <algorithm>
#include <utility>

namespace mapsim::branch {

using exact::Incumbent;

namespace {

constexpr std::uint32_t kOpen = FactorBox::kNone;  // a way that is not chosen yet

}  // namespace

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
  if (classes_.is_by_way()) {
    std::fill_n(tuples.front().ways.begin(), trees_.size(), kOpen);
  }
  for (std::size_t f = 0; f < trees_.size(); ++f) {
    std::vector<Tuple> longer;
    for (const Tuple& tuple : tuples) {
      for (const std::optional<std::uint32_t> root : {trees_[f].idle(), trees_[f].busy()}) {
        if (root) {
          longer.push_back(tuple);
          longer.back().choices[f] = *root;
        }
      }
    }
    tuples = std::move(longer);
  }
  for (const Tuple& tuple : tuples) {
    if (const std::optional<Entry> entry = entry_of(tuple)) {
      queue_.push(*this, *entry, {});
    }
  }
}

std::optional<BestFirst::Tuple> BestFirst::next(const Incumbent& known,
                                                const std::function<bool()>& over, bool in_haste) {
  const std::optional<Entry> found = queue_.next(*this, known, over, in_haste);
  return found ? std::optional(found->tuple) : std::nullopt;
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

// Splits the box whose choices differ most; once there is a choice for each fanout, chooses a way
// of the outermost fanout that has none. Leaves out what holds no class.
std::vector<BestFirst::Entry> BestFirst::split(const Entry& entry) {
  std::size_t widest = trees_.size();
  for (std::size_t f = 0; f < trees_.size(); ++f) {
    const FactorBox& box = trees_[f][entry.tuple.choices[f]];
    if (box.choice == FactorBox::kNone &&
        (widest == trees_.size() ||
         box.spread > trees_[widest][entry.tuple.choices[widest]].spread)) {
      widest = f;
    }
  }
  std::vector<Entry> parts;
  Tuple tuple = entry.tuple;
  const auto add = [&] {
    if (const std::optional<Entry> part = entry_of(tuple)) {
      parts.push_back(*part);
    }
  };
  if (widest < trees_.size()) {
    const std::uint32_t whole = entry.tuple.choices[widest];
    trees_[widest].split(whole);
    for (const std::uint32_t half : {trees_[widest][whole].left, trees_[widest][whole].right}) {
      tuple.choices[widest] = half;
      add();
    }
    return parts;
  }
  const auto open = static_cast<std::size_t>(
      std::find(tuple.ways.begin(), tuple.ways.end(), kOpen) - tuple.ways.begin());
  const std::uint32_t choice = trees_[open][tuple.choices[open]].choice;
  const auto ways = static_cast<std::uint32_t>(
      classes_.choices()[static_cast<FanoutId>(open)][choice].assignments);
  for (tuple.ways[open] = 0; tuple.ways[open] < ways; ++tuple.ways[open]) {
    add();
  }
  return parts;
}

// nullopt: the boxes hold no class, or a class for which another one stands by symmetry.
std::optional<BestFirst::Entry> BestFirst::entry_of(const Tuple& boxes) {
  Entry entry{{}, 0, true, boxes};
  PackedFactors common;
  exact::UnrollingBound::Boxes of_fanouts;
  for (std::size_t f = 0; f < trees_.size(); ++f) {
    const FactorBox& box = trees_[f][boxes.choices[f]];
    if (!classes_.primes().multiply(common, box.common)) {
      return std::nullopt;
    }
    of_fanouts.push_back(&box);
    entry.is_class = entry.is_class && box.choice != FactorBox::kNone && boxes.ways[f] != kOpen;
  }
  if (!entry.is_class) {
    entry.key = bounds_.of(of_fanouts);
    return entry;
  }
  for (std::size_t f = 0; f < trees_.size(); ++f) {
    entry.tuple.choices[f] = trees_[f][boxes.choices[f]].choice;
  }
  if (!symmetry_.is_first(entry.tuple)) {
    return std::nullopt;
  }
  const exact::ClassBounds::Bound bound =
      bounds_.of(classes_.unrolling_class(entry.tuple, recent_));
  entry.key = bound.key;
  entry.cycles = bound.cycles;
  return entry;
}

}  // namespace mapsim::branch
