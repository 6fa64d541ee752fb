// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "mapper/fusion/group_options.hpp"

namespace mapsim::fusion {

// A part of a bound: the least that an einsum needs in one way to source its branch, and which
// optimum would say more.
struct LeastPart {
  double value = exact::kInfinity;
  double entries = 1;
  double of_entry = 0;  // the entry's cost for this value
  Branch branch;
  TakenBits taken;
};

// The common data of all interfaces with the same shared loops, in any order, with any scopes.
struct ClassBoxes {
  std::vector<EnteredBranch> branches;
  std::vector<LiveSet> held;  // at least
  std::vector<double> runs;   // per einsum: how often it does all its operations, at least
};

// Lower bounds of a group, each a sum over its einsums. `open`: the first einsum's part of which
// the optimum is not known yet. It says more.
class GroupBounds {
 public:
  GroupBounds(const GroupModel& model, BranchOptima& optima)
      : model_{model}, optima_{optima}, objective_{optima.objective()} {}

  // The bound if each einsum ran once, had all capacities to itself, and found its inputs from
  // others at the best level. Optima of whole einsums bound those of all smaller boxes; they are
  // asked for up to `limit`.
  double ideal(double limit, const TakenBits& around);
  // The bound of a class, or of an interface, with scopes at these levels. Where levels are not
  // decided, each einsum's intermediates are at the levels that are best for it.
  double of_class(const ClassBoxes& boxes, const LevelChoices& choices,
                  std::optional<LeastPart>& open);
  double of_interface(const GroupCounts& group, const LevelChoices& choices,
                      std::optional<LeastPart>& open);
  double operations(std::size_t e) const { return static_cast<double>(model_.problem(e).macs()); }

 private:
  std::span<const Port> ports() const { return objective_.charged_ports(); }
  std::size_t einsums() const { return model_.piece().einsums.size(); }
  std::vector<double> crossed_once(std::size_t e, const Sourcing& sourcing) const;
  LeastPart part(Branch branch, TakenBits taken, double entries,
                 const std::vector<double>& charged) const;
  // The least part of an einsum; each lowers `least` if it finds less.
  void find_part_of_class(const ClassBoxes& boxes, std::size_t e, const ScopeLevels& levels,
                          LeastPart& least) const;
  void find_part_of_interface(const GroupCounts& group, std::size_t e, const ScopeLevels& levels,
                              LeastPart& least) const;

  const GroupModel& model_;
  BranchOptima& optima_;
  const AdditiveObjective& objective_;
};

}  // namespace mapsim::fusion
