// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "check/branch_bound.hpp"
#include "check/stop.hpp"

namespace mapsim::check {

// The mapping trees that a certificate of a chain speaks of (docs/fusion.md, What is searched).
struct FusedSpace {
  std::size_t most_einsums = 0;  // in a group
  std::size_t most_loops = 0;    // that a group shares
  bool may_hold = true;          // may an intermediate lie on chip between groups?
};

struct FusedBound {
  double energy = 0;            // [pJ]; no tree needs less, or `enough`
  std::int64_t groups = 0;      // of einsums, with what lies where around them
  std::int64_t classes = 0;     // sets of shared loops
  std::int64_t closed = 0;      // ... by a bound for any order and scopes
  std::int64_t interfaces = 0;  // orders and scopes of the others
  std::int64_t joined = 0;      // interfaces whose branches were fitted beside each other
  std::int64_t branches = 0;    // searches of one einsum
  std::int64_t labels = 0;
};

// The least energy of all mapping trees of a chain, as far as it is below `enough`.
FusedBound bound_trees(const Arch& arch, const EinsumChain& chain, const FusedSpace& space,
                       double enough, Stop stop);

}  // namespace mapsim::check
