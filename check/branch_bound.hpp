// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "check/boxes.hpp"
#include "check/chain_objective.hpp"
#include "check/residence.hpp"
#include "check/rules.hpp"
#include "check/stop.hpp"
#include "costmodel/fusion/branch.hpp"
#include "costmodel/fusion/taken_bits.hpp"
#include "workloads/chain.hpp"

namespace mapsim::check {

// Most tiles along a loop that a group of einsums shares; the searched space has the same limit.
constexpr std::int64_t kMostTilesOfSharedLoop = 65'536;

// Elements of a tensor in a box.
double elements_of(const Workload& einsum, TensorId t, const PerDim<std::int64_t>& box);
// Does the level lie outside of every fanout? Groups may keep tensors only there.
bool is_above_arrays(const Arch& arch, LevelId level);

// Rules that allow every nest with perfect factors.
Rules free_rules(const Problem& problem);

// Lower bounds of a sum over einsums for branches, by the checker's own search of a single einsum
// (unrolling_bound.hpp): of the mean entry, in fractions of cycles, or of the run if the branch has
// one (BranchEntry::Run). A bound holds for other branches, too: if more capacity is taken, a
// branch needs no less; and a box that divides a larger one needs no less per operation, because
// its nest with loops around it is a nest of the larger box.
class BranchBounds {
 public:
  // All outlive it.
  BranchBounds(const Arch& arch, const EinsumChain& chain, const ChainObjective& objective,
               Stop stop);

  // A lower bound of all nests of the branch; it is searched up to `enough`.
  double least(const Branch& branch, const TakenBits& taken, double enough);
  // Learns what the closed form says of all nests of the branch: much less work, and often enough.
  void glance(const Branch& branch, const TakenBits& taken);
  // Has glance() or least() dealt with this branch, in the capacities that `taken` leaves?
  bool is_seen(const Branch& branch, const TakenBits& taken) const;
  // The same bound as far as it is known already, without a search.
  double known(const Branch& branch, const TakenBits& taken) const;
  // Is known() the value of the branch's best nest?
  bool is_decided(const Branch& branch, const TakenBits& taken) const;
  // A lower bound of a run of `entries`, given a lower bound `of_entry` of the mean entry and costs
  // `charged` elsewhere.
  double of_run(const Branch& branch, double entries, double of_entry,
                const std::vector<double>& charged) const;
  // `taken`, rounded down, so that one bound serves many branches.
  TakenBits rounded(const TakenBits& taken) const;

  const std::vector<FiniteCapacity>& capacities() const { return capacities_; }
  const ChainObjective& objective() const { return objective_; }

  // Once stopped, bounds do not change any more.
  bool is_stopped() const { return stop_.is_set(); }
  std::int64_t searches() const { return searches_; }
  std::int64_t labels() const { return labels_; }

 private:
  struct Known {
    PerDim<std::int64_t> bounds;
    TakenBits taken;
    double value = 0;
    bool is_optimum = false;
  };

  void learn(const Branch& branch, const TakenBits& taken, double value, bool is_optimum);
  // The ranges of all unrollings of a branch, which depend on its box alone.
  using AllRanges = std::optional<ChoiceRanges>;
  const AllRanges& ranges_of(const Branch& branch, const std::function<AllRanges()>& find);

  const Arch& arch_;
  const EinsumChain& chain_;
  const ChainObjective& objective_;
  Stop stop_;
  std::vector<FiniteCapacity> capacities_;
  std::vector<Problem> problems_;                     // per einsum
  std::map<BranchKey, AllRanges> ranges_;             // by box
  std::map<BranchKey, std::vector<Known>> known_;     // of equal branches: per entry
  std::map<BranchKey, std::vector<Known>> families_;  // of boxes of one size: per operation
  std::int64_t searches_ = 0;
  std::int64_t labels_ = 0;
};

}  // namespace mapsim::check
