// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "mapper/bounds/moves.hpp"

namespace mapsim::exact {

// The labels of a search, each with `width` values (paid components, then used rooms), and for each
// node the list of those that stand there.
class LabelStore {
 public:
  using Id = std::int64_t;
  static constexpr Id kNone = -1;

  LabelStore(std::size_t nodes, std::size_t width)
      : width_{width}, heads_{static_cast<Id*>(std::calloc(nodes, sizeof(Id)))} {
    if (heads_ == nullptr && nodes > 0) {
      throw std::bad_alloc{};
    }
  }

  const Step& step(Id label) const { return labels_[index(label)].step; }
  double* values(Id label) { return &values_[index(label) * width_]; }
  const double* values(Id label) const { return &values_[index(label) * width_]; }
  bool is_dominated(Id label) const { return labels_[index(label)].dominated; }

  std::size_t size() const { return labels_.size(); }
  // Of its tables, as far as they are in use.
  std::size_t bytes() const {
    return labels_.capacity() * sizeof(Label) + values_.capacity() * sizeof(double);
  }
  // A new label after `before`, with its values copied, to be amended; the newest of all.
  Id extend(Id before, Step step);
  // Takes the newest label back.
  void retract();
  // Is there a label at `node` that has paid no more and uses no more? If not, the new one joins
  // the node's list and strikes out what it dominates.
  bool dominated(Id label, std::size_t node);
  // From the start to `label`.
  std::vector<Step> trace(Id label) const;

 private:
  struct Label {
    Step step;
    Id before = kNone;  // the label that it extends
    Id next = kNone;    // in its node's list
    bool dominated = false;
  };
  static std::size_t index(Id label) { return static_cast<std::size_t>(label); }
  bool no_worse(Id a, Id b) const;

  std::size_t width_;
  // Per node: 1 + the newest label of its list; 0: none. From calloc(), since a search touches few
  // nodes and the others' pages then cost nothing.
  struct Free {
    void operator()(Id* ids) const { std::free(ids); }
  };
  std::unique_ptr<Id[], Free> heads_;
  std::vector<Label> labels_;
  std::vector<double> values_;
};

}  // namespace mapsim::exact
