// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper/exact/bound.hpp"
#include "mapper/exact/costs.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/valuation.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

// Everything that the search of one group of unrollings needs.
struct Instance {
  // Keys beyond `limit` are of no interest.
  Instance(const Skeleton& skeleton, Unrolled unrolled, const Objective& objective, Key limit = {});
  // The best key that the bound allows from the start, if it is not beyond the limit; infinite:
  // nothing fits, or nothing within the limit.
  Key root() const;

  const Skeleton& skeleton;
  Unrolled unrolled;
  Costs costs;
  Valuation valuation;
  Bound bound;
};

}  // namespace mapsim::exact
