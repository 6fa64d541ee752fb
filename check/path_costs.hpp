// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "check/goal.hpp"
#include "check/instance_bounds.hpp"
#include "check/residence.hpp"
#include "check/reuse.hpp"
#include "costmodel/fusion/branch.hpp"

namespace mapsim::check {

// A tensor's properties in an unrolling.
struct MovedTensor {
  TensorId id{};
  const Tensor* tensor = nullptr;
  bool output = false;
  bool plain = false;       // every element crosses once: sums with a window
  bool two_widths = false;  // sums are wider while they are partial, and not plain
  bool latched = false;
  bool slides = false;  // some rank has several dims of more than one index
  double distinct = 1;  // elements
  double narrow = 0;    // bits that an element moves; `wide`: of a partial sum
  double wide = 0;
  double stored = 1;                  // at least: the share of a width that a level stores
  std::vector<Residence> residences;  // from the outside in
  double bits_at(const Residence& at) const;
};

// No residence, or no level.
inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

// Do these of the tensors (as bits) have phases (phases.hpp): does at most one slide, and no sum
// that has a window?
bool have_phases(const std::vector<MovedTensor>& moved, std::size_t tensors);

// A step of a tensor inwards; without a level it leads to the register or the compute units.
struct PathStep {
  const MovedTensor* moved = nullptr;
  LevelId from{};
  bool from_final = false;
  std::optional<LevelId> to;
};

// Lower bounds on the elements that cross the two ends of a step. Networks that add sums on their
// way reduce the elements at the outer end.
struct Crossings {
  double child = 0;
  double parent = 0;
};

// Lower bounds of what the steps of tensors cost, and of the elements that cross them
// (tensor_paths.hpp).
class PathCosts {
 public:
  // All arguments outlive this.
  PathCosts(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges,
            const BranchEntry& entry);

  const InstanceBounds& instances() const { return instances_; }
  double operations() const { return operations_; }
  MovedTensor describe(TensorId t) const;

  // What crosses in any case, and because of stays of at most `stay` operations at the inner end,
  // if the tensors in `outer` move further out.
  Crossings crossings(const PathStep& step, const SharedCapacities& capacities, TensorSet outer,
                      double stay) const;
  // The same, if it is known that `child` elements cross at the inner end.
  Crossings raised(const PathStep& step, const Crossings& known, double child) const;

  // Energy at the two ends [pJ]: with the networks between them at the inner end, and of `parent`
  // elements at the outer one. Infinite: sums that are not final arrive where they have to be.
  double at_child(const PathStep& step, double child) const;
  double at_parent(const PathStep& step, double parent) const;
  double of(const PathStep& step, const Crossings& crossings) const {
    return crossings.child < kInfinity
               ? at_child(step, crossings.child) + at_parent(step, crossings.parent) +
                     partial_additions(step, crossings)
               : kInfinity;
  }
  // The compute units' accesses to a level.
  double service(const PathStep& step) const;

  // Adds a tensor's tile at a residence to the capacity of its role, or to the shared one. `roles`:
  // of the capacities.
  void add_tile(const MovedTensor& moved, std::size_t residence, std::vector<Role>& roles,
                SharedCapacities& capacities) const;

 private:
  bool adds(const PathStep& step, FanoutId f) const;
  double least_share(const PathStep& step) const;
  double arriving(const PathStep& step, double child) const;
  double networks(const PathStep& step, double child) const;
  double partial_additions(const PathStep& step, const Crossings& crossings) const;

  const Problem& problem_;
  const Arch& arch_;
  const Rules& rules_;
  const ChoiceRanges& ranges_;
  const BranchEntry& entry_;
  InstanceBounds instances_;
  double operations_;
};

}  // namespace mapsim::check
