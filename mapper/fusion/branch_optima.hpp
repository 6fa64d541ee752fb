// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "costmodel/fusion/branch.hpp"
#include "costmodel/fusion/taken_bits.hpp"
#include "costmodel/mapping.hpp"
#include "mapper/deadline.hpp"
#include "mapper/fusion/additive.hpp"
#include "mapper/label_search/label_search.hpp"
#include "workloads/chain.hpp"

namespace mapsim::fusion {

struct BranchOptimum {
  double value = exact::kInfinity;  // of the objective; infinite: nothing fits
  std::vector<MappingNode> nest;
  TakenBits used;    // by the nest's tiles
  double least = 0;  // of the mappings ruled out
};

// A point of the front of a branch's run.
struct BranchPoint {
  double energy = 0;  // with leakage [pJ]
  double cycles = 0;
  std::vector<MappingNode> nest;
};

// The optima of branches. Each is found once, by the search of a single einsum
// (mapper/label_search/), whose graph is entered at another tile and residency. A branch depends on
// the tile where it begins, and not on the loops that lead there, so a group of fused einsums asks
// for the same branches many times. Values are those of the mean entry, with fractions of cycles,
// or those of the run (BranchEntry::run), which depends on how often the loops enter it.
class BranchOptima {
 public:
  // All arguments outlive the object. Searches throw OutOfBudget at the deadline. The objective is
  // additive (AdditiveObjective).
  BranchOptima(const Arch& arch, const EinsumChain& chain, const Objective& objective,
               const Deadline& deadline);

  const AdditiveObjective& objective() const { return objective_; }
  // The optimum if other tensors take `taken` of the capacities. nullptr: its value is at least
  // `cutoff`, which bound() returns from now on.
  const BranchOptimum* optimum(const Branch& branch, const TakenBits& taken, double cutoff);
  // For a run: the front of energy and latency of all nests below the cutoff, and perhaps of
  // others. The objective includes latency.
  const std::vector<BranchPoint>& front(const Branch& branch, const TakenBits& taken,
                                        double cutoff);
  // A lower bound of the branch's value with `taken` occupied, from known results. It is cheap.
  double bound(const Branch& branch, const TakenBits& taken);
  // The same for a run of `entries`, of which one has a value of at least `of_entry`; `charged`:
  // see BranchEntry::Run.
  double bound_of_run(const Branch& branch, double entries, double of_entry,
                      const std::vector<double>& charged) const;
  // Is the optimum known for the branch if only `base` is taken?
  bool is_known(const Branch& branch, const TakenBits& base) const;

  const Deadline& deadline() const { return deadline_; }
  const std::vector<FiniteCapacity>& capacities() const { return capacities_; }
  std::int64_t searches() const { return searches_; }
  std::int64_t labels() const { return labels_; }

 private:
  struct Found {
    TakenBits taken;
    BranchOptimum optimum;
    bool is_bound = false;  // the value is only a lower bound
  };
  // The optimum of a box bounds those of smaller boxes: a larger box needs no more per operation,
  // since a nest of the smaller one with loops around it is a nest of the larger.
  struct PerOperation {
    PerDim<std::int64_t> bounds;
    TakenBits taken;
    double value = 0;
  };
  const Found* find(const Branch& branch, const TakenBits& taken) const;
  template <class Visit>
  double search(const Branch& branch, const TakenBits& taken, const Objective& objective,
                exact::LabelQuery& query, const Visit& visit);
  BranchOptimum search(const Branch& branch, const TakenBits& taken, double cutoff);
  std::vector<BranchPoint> search_front(const Branch& branch, const TakenBits& taken,
                                        double cutoff);

  const Arch& arch_;
  const EinsumChain& chain_;
  AdditiveObjective objective_;
  const Deadline& deadline_;
  std::vector<FiniteCapacity> capacities_;
  HeldMemory held_{&deadline_};  // of the results
  std::map<BranchKey, std::deque<Found>> found_;
  struct FoundFront {
    double cutoff = 0;
    std::vector<BranchPoint> points;
  };
  std::map<std::pair<BranchKey, TakenBits>, FoundFront> fronts_;
  std::map<BranchKey, std::vector<PerOperation>> families_;  // the largest value first
  std::int64_t searches_ = 0;
  std::int64_t labels_ = 0;
};

}  // namespace mapsim::fusion
