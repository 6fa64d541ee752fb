// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "mapper/exact/skeleton.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim::exact {

// Energy that no mapping can do without [pJ]: the operations, every element once through the
// outermost level, and the compute units' accesses to whichever level could serve them most
// cheaply.
double energy_floor(const Mapspace& space);

// The same of the nests of one group with perfect factors, whatever their tiles: each tensor comes
// to the level that serves the compute units over every boundary on its way
// (Skeleton::least_paid), and its accesses there are shared by no more instances than the unrolling
// has; sums are added up in the networks between, come back to be added to, and are final only when
// each leaves once. Infinite: nothing can serve a tensor. docs/decisions/0031.
double energy_floor(const Skeleton& skeleton, const UnrollingGroup& group);

}  // namespace mapsim::exact
