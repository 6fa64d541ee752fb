// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "mapper/bounds/incumbent.hpp"

namespace mapsim::branch {

// The open nodes of a branch and bound over sets of unrollings, best bound first. A node stands for
// a set, and its bound is at most that of each member; a node of a single class has the bound of
// that class. A class in no node has been generated, or the incumbent has ruled out its node.
//
// `Entry` has `key`, its bound, and `is_class`. `Tree` has split(entry), the nodes of its parts,
// and comes_later(a, b), an order in which smaller keys come first.
template <class Entry>
class BoundQueue {
 public:
  template <class Tree>
  void push(const Tree& tree, const Entry& entry, const exact::Incumbent& known) {
    if (!(entry.key.first < exact::kInfinity)) {
      return;
    }
    if (known.rules_out(entry.key)) {
      left_out_ = std::min(left_out_, entry.key);
      return;
    }
    queue_.push_back(entry);
    std::push_heap(queue_.begin(), queue_.end(), later(tree));
  }

  // The next class. nullopt: the incumbent rules out all that are left, or `over` says that time is
  // up. `in_haste`: if time is up, finds a class even so, though perhaps not the best, by splitting
  // the better half, unless most halves have none.
  template <class Tree>
  std::optional<Entry> next(Tree& tree, const exact::Incumbent& known,
                            const std::function<bool()>& over, bool in_haste) {
    constexpr std::size_t kPoll = 64;  // 0.1 ms
    for (std::size_t i = 0; !is_exhausted(known); ++i) {
      if (i % kPoll == 0 && over()) {
        is_stopped_ = !in_haste;
        return in_haste ? any_class(tree, known) : std::nullopt;
      }
      const Entry best = pop(tree);
      if (known.rules_out(best.key)) {
        left_out_ = std::min(left_out_, best.key);
      } else if (best.is_class) {
        return best;
      } else {
        for (const Entry& part : tree.split(best)) {
          push(tree, part, known);
        }
      }
    }
    return std::nullopt;
  }

  // Did time run out before the next class was found?
  bool is_stopped() const { return is_stopped_; }
  std::size_t size() const { return queue_.size(); }
  // A lower bound of all classes that have not been generated.
  exact::ObjectiveKey bound() const {
    return queue_.empty() ? left_out_ : std::min(left_out_, queue_.front().key);
  }

 private:
  template <class Tree>
  static auto later(const Tree& tree) {
    return [&tree](const Entry& a, const Entry& b) { return tree.comes_later(a, b); };
  }

  // If one mapping is searched, no entry behind one beyond the limit matters. If a front is
  // searched, such entries may still lead to points of the front.
  bool is_exhausted(const exact::Incumbent& known) const {
    return queue_.empty() ||
           (!known.is_front() && exact::exceeds(queue_.front().key, known.limit()));
  }

  template <class Tree>
  std::optional<Entry> any_class(Tree& tree, const exact::Incumbent& known) {
    constexpr std::size_t kMostSplits = 2'000;  // up to a tenth of a second
    for (std::size_t splits = 0; !is_exhausted(known);) {
      if (splits > kMostSplits) {
        is_stopped_ = true;
        return std::nullopt;
      }
      for (std::optional<Entry> best = pop(tree); best; ++splits) {
        if (best->is_class) {
          return best;
        }
        const std::vector<Entry> parts = tree.split(*best);
        const auto least = std::min_element(
            parts.begin(), parts.end(),
            [&tree](const Entry& a, const Entry& b) { return tree.comes_later(b, a); });
        for (auto part = parts.begin(); part != parts.end(); ++part) {
          if (part != least) {
            push(tree, *part, known);
          }
        }
        best = least != parts.end() && least->key.first < exact::kInfinity ? std::optional(*least)
                                                                           : std::nullopt;
      }
    }
    return std::nullopt;
  }

  template <class Tree>
  Entry pop(const Tree& tree) {
    std::pop_heap(queue_.begin(), queue_.end(), later(tree));
    Entry best = std::move(queue_.back());
    queue_.pop_back();
    return best;
  }

  std::vector<Entry> queue_;      // a heap
  exact::ObjectiveKey left_out_;  // the least key of what was ruled out
  bool is_stopped_ = false;
};

}  // namespace mapsim::branch
