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
  Instance(const Skeleton& skeleton, Unrolled unrolled, const Objective& objective);
  // The best key that the bound allows from the start; infinite: nothing fits.
  Key root() const;

  const Skeleton& skeleton;
  Unrolled unrolled;
  Costs costs;
  Bound bound;
  Valuation valuation;
};

}  // namespace mapsim::exact
