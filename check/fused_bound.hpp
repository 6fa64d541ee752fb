// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "check/branch_bound.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// The space of mapping trees of a chain's certificate (docs/fusion.md, What is searched).
struct FusedSpace {
  std::size_t most_einsums = 0;         // in a group
  std::size_t most_loops = 0;           // that a group shares
  bool may_hold = true;                 // may an intermediate stay on chip between groups?
  std::optional<LevelId> only_level{};  // where groups keep tensors; none: at any above arrays

  friend bool operator==(const FusedSpace&, const FusedSpace&) = default;
};

struct FusedBound {
  double value = 0;             // a lower bound of all trees, at most `enough`
  std::int64_t groups = 0;      // of einsums, each in one context of the chain
  std::int64_t classes = 0;     // sets of shared loops
  std::int64_t closed = 0;      // ... closed by a bound for all orders and scopes
  std::int64_t interfaces = 0;  // orders and scopes of the other classes
  std::int64_t joined = 0;      // interfaces whose branches were tested for capacity together
  std::int64_t branches = 0;    // searches of one einsum
  std::int64_t labels = 0;
};

// A lower bound of a sum over einsums for all mapping trees of a chain, searched up to `enough`.
FusedBound bound_trees(const Arch& arch, const EinsumChain& chain, const FusedSpace& space,
                       const ObjectiveFunction& function, double enough, Stop stop);

}  // namespace mapsim::check
