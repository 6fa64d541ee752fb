// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <cstddef>
#include <vector>

#include "mapper/mapspace.hpp"
#include "mapper/nests/placement.hpp"

namespace mapsim::nests {

// Rungs of a ladder gone down in each phase: before the first used fanout, between two, behind.
using Rungs = std::vector<std::size_t>;

mpz_class factorial(std::size_t n);

// What stands in the phases of a balanced nest, whatever its loops are: docs/mapspace.md. Depends
// on the unrolling by its used fanouts only.
class RungPhases {
 public:
  RungPhases(const Mapspace& space, const UnrollingGroup& group);

  const Placements& placements() const { return placements_; }
  std::size_t size() const { return arrangements_.size(); }
  // Points of used fanouts at the ends of a phase.
  std::size_t ends(std::size_t phase) const;
  // By the number of a phase's own points: ways to put its keeps so that each has some.
  const std::vector<mpz_class>& arrangements(std::size_t phase) const {
    return arrangements_[phase];
  }
  // Ways to choose the gaps of a phase's own points: between two rungs, and before the first or
  // after the last one where no fanout stands.
  mpz_class barriers(std::size_t phase, std::size_t rungs, std::size_t points) const;
  // Ways to put keeps and barriers into a phase of so many rungs.
  mpz_class ways(std::size_t phase, std::size_t rungs) const;

 private:
  Placements placements_;
  std::vector<std::vector<mpz_class>> arrangements_;
  std::vector<mpz_class> at_one_point_;  // per phase: ways if its fanouts stand together
};

// The rungs of a dim in each phase, for every tile at which it can cross the used fanouts; `own`:
// what the unrolling does with the dim.
std::vector<Rungs> splits(const Mapspace& space, const std::vector<FanoutId>& used,
                          const Unrolling& own, DimId dim);
Unrolling of_dim(const Unrolling& unrolling, DimId dim);

// r! / prod a_p!, r being all rungs of the dim: how many of its rungs that are told apart go with a
// split.
mpz_class weight_of_split(const Mapspace& space, DimId dim, const Rungs& split);

}  // namespace mapsim::nests
