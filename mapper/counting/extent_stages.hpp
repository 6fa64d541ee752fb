// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <cstddef>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"

namespace mapsim::nests {

// Extents of a domain gone down in each stage: before the first used fanout, between two, behind.
using Extents = std::vector<std::size_t>;

mpz_class factorial(std::size_t n);

// What stands in the stages of an imperfect nest, whatever its loops are: docs/mapspace.md. Depends
// on the unrolling by its used fanouts only.
class ExtentStages {
 public:
  ExtentStages(const Mapspace& space, const UnrollingClass& unrolling_class);

  const Placements& placements() const { return placements_; }
  std::size_t size() const { return arrangements_.size(); }
  // Points of used fanouts at the ends of a stage.
  std::size_t ends(std::size_t stage) const;
  // By the number of a stage's own points: ways to put its keeps so that each has some.
  const std::vector<mpz_class>& arrangements(std::size_t stage) const {
    return arrangements_[stage];
  }
  // Ways to choose the gaps of a stage's own points: between two extents, and before the first or
  // after the last one where no fanout stands.
  mpz_class barriers(std::size_t stage, std::size_t extents, std::size_t points) const;
  // Ways to put keeps and barriers into a stage of so many extents.
  mpz_class ways(std::size_t stage, std::size_t extents) const;

 private:
  Placements placements_;
  std::vector<std::vector<mpz_class>> arrangements_;
  std::vector<mpz_class> at_one_point_;  // per stage: ways if its fanouts stand together
};

// The extents of a dim in each stage, for every tile at which it can cross the used fanouts; `own`:
// what the unrolling does with the dim.
std::vector<Extents> splits(const Mapspace& space, const std::vector<FanoutId>& used,
                            const Unrolling& own, DimId dim);
Unrolling of_dim(const Unrolling& unrolling, DimId dim);

// r! / prod a_p!, r being all extents of the dim: how many of its extents that are told apart go
// with a split.
mpz_class weight_of_split(const Mapspace& space, DimId dim, const Extents& split);

}  // namespace mapsim::nests
