// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "check/entry.hpp"
#include "check/residence.hpp"
#include "check/rules.hpp"
#include "check/stop.hpp"
#include "workloads/chain.hpp"

namespace mapsim::check {

// Bits taken of each capacity, in the order of BranchBounds::capacities().
using TakenBits = std::vector<double>;

TakenBits sum_of(TakenBits a, const TakenBits& b);

// Elements of a tensor in a box.
double elements_of(const Workload& einsum, TensorId t, const PerDim<std::int64_t>& box);
// Where groups may keep tensors: outside of every fanout.
bool is_above_arrays(const Arch& arch, LevelId level);

// A branch of a mapping tree: the nest of one einsum, and how it is entered.
struct Branch {
  std::size_t einsum = 0;
  PerDim<std::int64_t> bounds;  // of the largest box
  NestEntry entry;
};

// Rules that allow every nest with perfect factors.
Rules free_rules(const Problem& problem);

// What branches need at least, of energy [pJ] per mean entry: all their nests are searched by the
// checker's own search of one einsum (unrolling_bound.hpp). Bounds that are known answer later
// questions: a branch needs no less where more is taken, and a box that divides a larger one needs
// no less per operation, since its nest with loops around it is one of the larger.
class BranchBounds {
 public:
  // Both outlive it.
  BranchBounds(const Arch& arch, const EinsumChain& chain, Stop stop);

  // No nest of the branch needs less; or `enough`, if none needs less than that.
  double least(const Branch& branch, const TakenBits& taken, double enough);
  // The same as far as it is known.
  double known(const Branch& branch, const TakenBits& taken) const;
  // Is that what its best nest needs?
  bool is_settled(const Branch& branch, const TakenBits& taken) const;
  // As much as is taken, rounded down: what is known of that serves many.
  TakenBits rounded(const TakenBits& taken) const;

  struct CapacityOf {
    LevelId level{};
    std::optional<Role> role;
    double bits = 0;  // of one instance, that tiles may use
  };
  const std::vector<CapacityOf>& capacities() const { return capacities_; }
  void take(LevelId level, Role role, double bits, TakenBits& taken) const;
  bool fits(const TakenBits& taken) const;

  std::int64_t searches() const { return searches_; }
  std::int64_t labels() const { return labels_; }

 private:
  using Key = std::vector<std::int64_t>;
  struct Known {
    PerDim<std::int64_t> bounds;
    TakenBits taken;
    double value = 0;
    bool is_optimum = false;
  };
  static Key family(const Branch& branch);
  static Key key_of(const Branch& branch);
  Arch remaining(const TakenBits& taken) const;

  const Arch& arch_;
  const EinsumChain& chain_;
  Stop stop_;
  std::vector<CapacityOf> capacities_;
  std::map<Key, std::vector<Known>> known_;     // of equal branches: per entry
  std::map<Key, std::vector<Known>> families_;  // of boxes of one size: per operation
  std::int64_t searches_ = 0;
  std::int64_t labels_ = 0;
};

}  // namespace mapsim::check
