// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/fusion/group_counts.hpp"
#include "mapper/deadline.hpp"
#include "mapper/fusion/branch_optima.hpp"
#include "workloads/chain_piece.hpp"

namespace mapsim::fusion {

// A group: einsums first .. last of a chain, one after the other in a sequence. One einsum is a
// group without shared loops.
struct Group {
  std::size_t first = 0;
  std::size_t last = 0;
};

// The surroundings of a group.
struct Surroundings {
  // Per einsum of the group: the levels of the tensors that are not passed within the group.
  std::vector<PerTensor<LevelId>> sources;
  // For an output with two widths that is held outside: do its sums arrive final?
  std::optional<bool> final_sums;
  TakenBits taken;  // by tensors held meanwhile
};

// A way for a branch to get its tensors.
struct Sourcing {
  PerTensor<LevelSet> shared;      // where the group keeps each of them on the way
  std::optional<bool> final_sums;  // of an output that comes to a level of the group, of two widths
};

// A boundary between two levels on a tensor's way from outside the group to a branch.
struct SharedBoundary {
  ChainTensor use;
  LevelId parent{};
  LevelId child{};
};

// Per intermediate, the levels where its scope may lie; of several, none is decided yet.
using LevelChoices = std::vector<LevelSet>;

// The possible branches of a group, and the cost of the group's own keeps. Einsums are numbered
// from the first one of the group.
class GroupModel {
 public:
  // `surroundings` and the deadline outlive it. `only_level`: where the group may keep tensors;
  // none: anywhere. Throws OutOfBudget.
  GroupModel(const Arch& arch, const EinsumChain& chain, const Group& group,
             const Surroundings& surroundings, std::optional<LevelId> only_level,
             const Deadline& deadline);

  // The group as a chain of its own, and the number of its first einsum in the whole one.
  const EinsumChain& piece() const { return piece_; }
  std::size_t first() const { return first_; }
  const Problem& problem(std::size_t e) const { return problems_[e]; }

  // Does each einsum but the last pass its output on within the group?
  bool is_group() const;
  // Where the group may keep tensors: the levels above all arrays, but the outermost.
  const std::vector<LevelId>& levels() const { return levels_; }
  const LevelChoices& scope_levels() const { return scope_levels_; }
  bool has_scope_levels() const {
    return std::none_of(scope_levels_.begin(), scope_levels_.end(),
                        [](LevelSet levels) { return levels.empty(); });
  }
  // Visits all choices for the intermediates that an einsum makes or reads, one by one, since there
  // may be many. Others are decided only if they have no choice.
  template <class Visit>
  void for_each_levels(std::size_t e, const LevelChoices& choices, const Visit& visit) const {
    ScopeLevels levels;
    for_each_levels(e, choices, visit, levels);
  }
  // May shared keeps let `moved` elements cross a boundary? Sums that are held around the group as
  // final ones arrive there once.
  bool may_move(const SharedBoundary& boundary, double moved) const;

  const std::vector<Sourcing>& sourcings(std::size_t e) const { return sourcings_[e]; }
  // Per tensor, the innermost boundary first.
  std::vector<SharedBoundary> boundaries(std::size_t e, const Sourcing& sourcing) const;
  Branch branch_of(std::size_t e, const EnteredBranch& entered, const Sourcing& sourcing,
                   const ScopeLevels& levels) const;
  // Adds the cost of `moved` elements that cross a boundary to a resource vector of energy [pJ] and
  // these ports (none: energy alone).
  void add_shared(const SharedBoundary& boundary, double moved, std::span<const Port> ports,
                  std::vector<double>& components) const;
  // Elements of a tensor.
  double whole(const ChainTensor& use) const;
  // Width of a tensor where a boundary keeps it [b]. Sums are wide unless they arrive final, which
  // `final_sums` says; nullopt: the least width counts.
  double bits_of(const SharedBoundary& boundary, std::optional<bool> final_sums) const;
  // Per einsum: none.
  std::vector<std::optional<bool>> narrowest() const {
    return std::vector<std::optional<bool>>(piece_.einsums.size());
  }
  // Capacity that intermediates and the surroundings take while an einsum runs. `final_sums`: per
  // einsum; nullopt: the least width counts.
  TakenBits taken_by_scopes(const std::vector<FiniteCapacity>& capacities,
                            const ScopeLevels& levels, const std::vector<LiveSet>& held,
                            std::size_t e,
                            const std::vector<std::optional<bool>>& final_sums) const;

 private:
  const Workload& einsum(std::size_t e) const { return piece_.einsums[e]; }
  bool is_passed(const ChainTensor& use) const { return piece_.intermediate_of(use).has_value(); }
  bool has_two_widths(std::size_t e) const;
  bool is_above_arrays(LevelId level) const;
  LevelSet levels_of(const Intermediate& passed) const;
  bool has(std::size_t e, const Intermediate& passed) const;
  bool may_share(const ChainTensor& use, LevelSet levels) const;
  std::vector<Sourcing> list_sourcings(std::size_t e);
  template <class Visit>
  void for_each_levels(std::size_t e, const LevelChoices& choices, const Visit& visit,
                       ScopeLevels& levels) const {
    if (levels.size() == choices.size()) {
      visit(levels);
      return;
    }
    const LevelSet may = choices[levels.size()];
    levels.emplace_back();
    if (may.size() > 1 && !has(e, piece_.intermediates[levels.size() - 1])) {
      for_each_levels(e, choices, visit, levels);
    } else {
      for (const LevelId level : levels_) {
        if (may.contains(level)) {
          levels.back() = level;
          for_each_levels(e, choices, visit, levels);
        }
      }
    }
    levels.pop_back();
  }

  const Arch& arch_;
  EinsumChain piece_;
  std::size_t first_;
  const Surroundings& around_;
  std::vector<Problem> problems_;
  std::vector<LevelId> levels_;
  LevelChoices scope_levels_;
  std::vector<std::vector<Sourcing>> sourcings_;  // per einsum
  HeldMemory held_;                               // of the sourcings
};

}  // namespace mapsim::fusion
