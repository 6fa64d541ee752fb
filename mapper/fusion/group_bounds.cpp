// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/group_bounds.hpp"

#include <algorithm>
#include <utility>

#include "costmodel/crossing.hpp"
#include "mapper/fusion/interface_classes.hpp"

namespace mapsim::fusion {

using exact::kInfinity;

// Of so many entries of a branch.
LeastPart GroupBounds::part(Branch branch, TakenBits taken, double entries,
                            const std::vector<double>& charged) const {
  const double of_entry = optima_.bound(branch, taken);
  const double value = optima_.bound_of_run(branch, entries, of_entry, charged);
  const double of_entries = value - objective_.value(energy_in(charged), 0);
  return {value, entries, of_entries / entries, std::move(branch), std::move(taken)};
}

// What the group keeps of a tensor crosses each boundary at least once.
std::vector<double> GroupBounds::crossed_once(std::size_t e, const Sourcing& sourcing) const {
  std::vector<double> charged;
  for (const SharedBoundary& boundary : model_.boundaries(e, sourcing)) {
    model_.add_shared(boundary, model_.whole(boundary.use), ports(), charged);
  }
  return charged;
}

double GroupBounds::ideal(double limit, const TakenBits& around) {
  double sum = 0;
  const std::vector<bool> divide = with_boxes_that_divide(model_.piece());
  for (std::size_t e = 0; e < einsums(); ++e) {
    if (!divide[e]) {
      sum += objective_.of_operations(model_.problem(e), operations(e));
      continue;
    }
    EnteredBranch whole;
    whole.bounds = bounds_of(model_.piece().einsums[e]);
    double least = kInfinity;
    model_.for_each_levels(e, model_.scope_levels(), [&](const ScopeLevels& levels) {
      optima_.deadline().check();
      for (const Sourcing& sourcing : model_.sourcings(e)) {
        const std::vector<double> charged = crossed_once(e, sourcing);
        const Branch branch = model_.branch_of(e, whole, sourcing, levels);
        const double spare = limit - sum - objective_.value(energy_in(charged), 0);
        if (spare > 0) {
          optima_.optimum(branch, around, spare * (1 + kGroupSlack));
        }
        least = std::min(least, part(branch, around, 1, charged).value);
      }
    });
    sum += least;
  }
  return sum;
}

// The boxes of a class are those of the interface that holds nothing from step to step.
void GroupBounds::find_part_of_class(const ClassBoxes& boxes, std::size_t e,
                                     const ScopeLevels& levels, LeastPart& least) const {
  const EnteredBranch& box = boxes.branches[e];
  const Workload& einsum = model_.piece().einsums[e];
  const TakenBits by_scopes =
      model_.taken_by_scopes(optima_.capacities(), levels, boxes.held, e, model_.narrowest());
  if (!fits(optima_.capacities(), by_scopes)) {
    return;
  }
  for (const Sourcing& sourcing : model_.sourcings(e)) {
    TakenBits taken = by_scopes;
    std::optional<ChainTensor> before;
    for (const SharedBoundary& boundary : model_.boundaries(e, sourcing)) {
      const Tensor& tensor = einsum.tensors[boundary.use.tensor];
      const bool is_innermost = before != boundary.use;
      take(optima_.capacities(), boundary.child, tensor.role,
           static_cast<double>(footprint(tensor, box.bounds)) *
               model_.bits_of(boundary, is_innermost ? sourcing.final_sums : std::nullopt),
           taken);
      before = boundary.use;
    }
    if (!fits(optima_.capacities(), taken)) {
      continue;
    }
    Branch branch = model_.branch_of(e, box, sourcing, levels);
    const double entries = boxes.runs[e] * operations(e) / branch.operations();
    LeastPart way = part(std::move(branch), std::move(taken), entries, crossed_once(e, sourcing));
    if (way.value < least.value) {
      least = std::move(way);
    }
  }
}

double GroupBounds::of_class(const ClassBoxes& boxes, const LevelChoices& choices,
                             std::optional<LeastPart>& open) {
  double sum = 0;
  for (std::size_t e = 0; e < einsums(); ++e) {
    if (boxes.branches[e].entry.varies()) {
      sum += objective_.of_operations(model_.problem(e), boxes.runs[e] * operations(e));
      continue;
    }
    LeastPart least;
    model_.for_each_levels(e, choices, [&](const ScopeLevels& levels) {
      optima_.deadline().check();
      find_part_of_class(boxes, e, levels, least);
    });
    if (!(least.value < kInfinity)) {
      return kInfinity;
    }
    sum += least.value;
    if (!open && !optima_.is_known(least.branch, least.taken)) {
      open = least;
    }
  }
  return sum;
}

void GroupBounds::find_part_of_interface(const GroupCounts& group, std::size_t e,
                                         const ScopeLevels& levels, LeastPart& least) const {
  const TakenBits taken =
      model_.taken_by_scopes(optima_.capacities(), levels, group.held, e, model_.narrowest());
  if (!fits(optima_.capacities(), taken)) {
    return;
  }
  for (const Sourcing& sourcing : model_.sourcings(e)) {
    std::vector<double> charged;
    for (const SharedBoundary& boundary : model_.boundaries(e, sourcing)) {
      model_.add_shared(boundary, least_moved(group, boundary), ports(), charged);
    }
    LeastPart way = part(model_.branch_of(e, group.branches[e], sourcing, levels), taken,
                         group.branches[e].entries, charged);
    if (way.value < least.value) {
      least = std::move(way);
    }
  }
}

double GroupBounds::of_interface(const GroupCounts& group, const LevelChoices& choices,
                                 std::optional<LeastPart>& open) {
  double sum = 0;
  for (std::size_t e = 0; e < einsums(); ++e) {
    LeastPart least;
    model_.for_each_levels(e, choices, [&](const ScopeLevels& levels) {
      optima_.deadline().check();
      find_part_of_interface(group, e, levels, least);
    });
    if (!(least.value < kInfinity)) {
      return kInfinity;
    }
    sum += least.value;
    if (!open && !optima_.is_known(least.branch, least.taken)) {
      open = least;
    }
  }
  return sum;
}

}  // namespace mapsim::fusion
