// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"

namespace mapsim::nests {

// Per stage (before the first used fanout, between two, behind the last): how many extents of a
// domain its loops pass.
using Extents = std::vector<std::size_t>;

mpz_class factorial(std::size_t n);

// The keeps and fanouts in the stages of a nest with imperfect factors, independent of its loops
// (docs/mapspace.md). They depend on the unrolling only through its used fanouts.
class ExtentStages {
 public:
  ExtentStages(const Mapspace& space, const UnrollingClass& unrolling_class);

  const Placements& placements() const { return placements_; }
  std::size_t size() const { return arrangements_.size(); }
  // The number of a stage's ends at which a used fanout stands.
  std::size_t ends(std::size_t stage) const;
  // By number of the stage's own points: the ways to distribute its keeps so that no point is
  // empty.
  const std::vector<mpz_class>& arrangements(std::size_t stage) const {
    return arrangements_[stage];
  }
  // The ways to choose positions of a stage's own points: between two extents, and before the first
  // or behind the last one where no fanout stands.
  mpz_class barriers(std::size_t stage, std::size_t extents, std::size_t points) const;
  // The ways to put keeps and barriers into a stage with this number of extents.
  mpz_class ways(std::size_t stage, std::size_t extents) const;

 private:
  Placements placements_;
  std::vector<std::vector<mpz_class>> arrangements_;
  // Per stage: ways if the fanouts at its ends stand at one point
  std::vector<mpz_class> at_one_point_;
};

// Per tile at which a dim can cross the used fanouts: how many of its extents are passed in each
// stage. `own`: the part of the unrolling that concerns the dim.
std::vector<Extents> splits(const Mapspace& space, const std::vector<FanoutId>& used,
                            const Unrolling& own, DimId dim);
// The same, one by one, until visit(), or go_on() where a tile has no block for every instance,
// returns false. Returns false if one did.
bool visit_splits(const Mapspace& space, const std::vector<FanoutId>& used, const Unrolling& own,
                  DimId dim, const std::function<bool(const Extents&)>& visit,
                  const std::function<bool()>& go_on);
Unrolling of_dim(const Unrolling& unrolling, DimId dim);

// r! / prod a_p!, where r is the number of extents of the dim and a_p that of stage p: how many
// ways there are to assign r distinguishable extents to the stages of a split.
mpz_class weight_of_split(const Mapspace& space, DimId dim, const Extents& split);

}  // namespace mapsim::nests
