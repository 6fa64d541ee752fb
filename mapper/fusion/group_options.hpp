// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "mapper/fusion/branch_optima.hpp"
#include "mapper/fusion/group_model.hpp"

namespace mapsim::fusion {

inline constexpr double kGroupSlack = 1e-6;  // so that what a cutoff rules out stays ruled out

// A tensor kept in the shared part, above the loops from `position` on.
struct SharedKeep {
  ChainTensor use;  // of the group's chain
  LevelId level{};
  std::size_t position = 0;
  double moved = 0;  // elements that cross into it
};

// An option of a branch: which of its tensors the group keeps, and where.
struct BranchOption {
  std::vector<SharedKeep> keeps;
  std::vector<double> charged;  // of shared keeps: a resource vector
  TakenBits resident;           // ... while any branch runs
  Branch branch;                // if time counts: the run, with `charged`
  double entries = 0;           // of the branch
  double bound = 0;             // shared keeps included
  std::optional<bool> final_sums;
  // The bound is `scale` times the value of the branch, plus `fixed`.
  double scale = 1;
  double fixed = 0;
};

// The options of an einsum that fit together with an interface's scopes, least bound first.
std::vector<BranchOption> options_of(const GroupModel& model, BranchOptima& optima,
                                     const GroupCounts& group, const ScopeLevels& levels,
                                     std::size_t e);
// The bound of an option if `taken` is occupied.
double bound_of(const BranchOption& option, BranchOptima& optima, const TakenBits& taken);

// Energy [pJ] of a resource vector, which may be empty.
inline double energy_in(const std::vector<double>& charged) {
  return charged.empty() ? 0 : charged[0];
}
// The least number of elements that cross, over all positions at which a tensor may be kept.
double least_moved(const GroupCounts& group, const SharedBoundary& boundary);

}  // namespace mapsim::fusion
