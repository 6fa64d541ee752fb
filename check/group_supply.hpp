// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "check/group_bound.hpp"
#include "costmodel/fusion/group_counts.hpp"

namespace mapsim::check {

// The path of each tensor to a branch: through these levels of the group, innermost last.
struct Supply {
  PerTensor<std::vector<LevelId>> kept;
  std::optional<bool> final_sums;  // of an output of two widths that a level of the group gets
};

// Per intermediate, the levels that are left for its scope; one: it is decided.
using LevelsLeft = std::vector<std::vector<LevelId>>;

// The places where a group of einsums may keep tensors, with their cost and capacity.
class GroupSupply {
 public:
  // All outlive it. `piece`: the group as a chain of its own.
  GroupSupply(const Arch& arch, const EinsumChain& piece, const FusedSpace& space,
              const GroupContext& around, const BranchBounds& bounds);

  // Levels outside of all fanouts, but the outermost.
  const std::vector<LevelId>& levels() const { return levels_; }
  // Does each einsum but the last pass its output on within the group, at a level that may keep it?
  bool is_group() const { return is_group_; }
  const LevelsLeft& scope_levels() const { return scope_levels_; }
  // All choices among the levels left, as far as they matter to an einsum: levels of others'
  // intermediates stay open if there is a choice.
  std::vector<ScopeLevels> decisions(std::size_t e, const LevelsLeft& left) const;
  const std::vector<Supply>& supplies(std::size_t e) const { return supplies_[e]; }
  const Problem& problem(std::size_t e) const { return problems_[e]; }

  Branch supplied(std::size_t e, const EnteredBranch& entered, const Supply& supply,
                  const ScopeLevels& levels) const;
  double elements(std::size_t e, TensorId t) const;  // of the whole tensor
  // Adds to `charged` the cost of `moved` elements entering the k-th level of a supply.
  void charge(std::size_t e, TensorId t, const Supply& supply, std::size_t k, double moved,
              std::vector<double>& charged) const;
  // `is_final`: do sums arrive there final? If unknown, the least width counts.
  void take_tile(std::size_t e, TensorId t, LevelId level, double tile,
                 std::optional<bool> is_final, TakenBits& taken) const;
  // Bits taken by surroundings and intermediates while an einsum runs. `final_sums`: per producer.
  TakenBits taken_by_scopes(std::size_t e, const ScopeLevels& levels,
                            const std::vector<LiveSet>& held,
                            const std::vector<std::optional<bool>>& final_sums) const;
  // May `moved` elements enter the k-th level of a supply? No, if the sums around the group are
  // final (narrow) and some would arrive there more than once, or the other way round.
  bool may_cross(std::size_t e, TensorId t, std::size_t k, double moved) const;

 private:
  const Workload& einsum(std::size_t e) const { return piece_.einsums[e]; }
  bool is_passed(std::size_t e, TensorId t) const {
    return piece_.intermediate_of({e, t}).has_value();
  }
  std::vector<std::vector<LevelId>> ways_of(std::size_t e, TensorId t) const;
  std::vector<Supply> list_supplies(std::size_t e) const;

  const Arch& arch_;
  const EinsumChain& piece_;
  const GroupContext& around_;
  const BranchBounds& bounds_;
  std::vector<Problem> problems_;
  std::vector<LevelId> levels_;
  bool is_group_ = false;
  LevelsLeft scope_levels_;
  std::vector<std::vector<Supply>> supplies_;  // per einsum
};

}  // namespace mapsim::check
