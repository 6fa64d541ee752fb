// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "costmodel/fusion/group_counts.hpp"
#include "mapper/fusion/branch_optima.hpp"
#include "workloads/chain_piece.hpp"

namespace mapsim::fusion {

// A group: einsums first .. last of a chain, one after the other in a sequence. One einsum is a
// group without shared loops.
struct Group {
  std::size_t first = 0;
  std::size_t last = 0;
};

// What surrounds a group.
struct Surroundings {
  // Per einsum of the group: the levels of the tensors that are not passed within the group.
  std::vector<PerTensor<LevelId>> sources;
  // For an output with two widths that is held outside: do its sums arrive final?
  std::optional<bool> final_sums;
  TakenBits taken;  // by what is held meanwhile
};

// A way for a branch to get its tensors: those in `shared` are in the group's level.
struct Sourcing {
  TensorSet shared;
  std::optional<bool> final_sums;  // of an output in the group's level, of two widths
};

// The possible branches of a group, and the cost of the group's own keeps. Einsums are numbered
// from the first one of the group.
class GroupModel {
 public:
  // `surroundings` outlive it.
  GroupModel(const Arch& arch, const EinsumChain& chain, const Group& group,
             const Surroundings& surroundings);

  // The group as a chain of its own, and the number of its first einsum in the whole one.
  const EinsumChain& piece() const { return piece_; }
  std::size_t first() const { return first_; }
  const Problem& problem(std::size_t e) const { return problems_[e]; }

  // Does each einsum but the last pass its output on within the group?
  bool is_group() const;
  // May its intermediates be kept at the level, which lies above all arrays?
  bool may_share(LevelId level) const;
  // May a shared keep let so many elements of the tensor cross? Sums that are held around the group
  // as final ones arrive there once.
  bool may_move(const ChainTensor& use, double moved) const;
  // The level of scopes and shared keeps, to which the functions below refer.
  void set_level(LevelId level) { level_ = level; }
  LevelId level() const { return level_; }

  std::vector<Sourcing> sourcings(std::size_t e) const;
  std::vector<TensorId> shared_tensors(std::size_t e, const Sourcing& sourcing) const;
  Branch branch_of(std::size_t e, const EnteredBranch& entered, const Sourcing& sourcing) const;
  // Adds the cost of `moved` elements that cross into the group's level to a resource vector of
  // energy [pJ] and these ports (none: energy alone).
  void add_shared(const ChainTensor& use, double moved, std::span<const Port> ports,
                  std::vector<double>& components) const;
  // Elements of a tensor.
  double whole(const ChainTensor& use) const;
  // Width of a tensor in the group's level [b].
  static double bits_of(const Tensor& tensor, bool is_output, const Sourcing& sourcing);
  // Per einsum: none.
  std::vector<std::optional<bool>> narrowest() const {
    return std::vector<std::optional<bool>>(piece_.einsums.size());
  }
  // Capacity that intermediates and the surroundings take while an einsum runs. `final_sums`: per
  // einsum; nullopt: the least width counts.
  TakenBits taken_by_scopes(const std::vector<FiniteCapacity>& capacities,
                            const std::vector<LiveSet>& held, std::size_t e,
                            const std::vector<std::optional<bool>>& final_sums) const;

 private:
  const Workload& einsum(std::size_t e) const { return piece_.einsums[e]; }
  bool is_passed(const ChainTensor& use) const { return piece_.intermediate_of(use).has_value(); }
  bool has_two_widths(std::size_t e) const;
  bool may_share(const ChainTensor& use) const;

  const Arch& arch_;
  EinsumChain piece_;
  std::size_t first_;
  const Surroundings& around_;
  std::vector<Problem> problems_;
  LevelId level_{};
};

}  // namespace mapsim::fusion
