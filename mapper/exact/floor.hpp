// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "mapper/exact/skeleton.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim::exact {

// Energy that no mapping can do without [pJ]: the operations, every element once through the
// outermost level, and the compute units' accesses to whichever level could serve them most
// cheaply.
double energy_floor(const Mapspace& space);

// The same of the nests of one group, whatever their tiles: each tensor comes to the level that
// serves the compute units over every boundary on its way (Skeleton::least_paid), and its accesses
// there are shared by no more instances than the unrolling has; sums are added up in the networks
// between (balanced factors: as many as is cheapest), come back to be added to, and are final only
// when each leaves once. docs/decisions/0031, 0036.
class EnergyFloor {
 public:
  explicit EnergyFloor(const Skeleton& skeleton);  // outlives the floor
  // Infinite: nothing can serve a tensor.
  double of(const UnrollingGroup& group) const;

 private:
  // A level that may serve the compute units, and the least paid for a tensor to get there [pJ].
  struct Way {
    TensorId tensor{};
    LevelId level{};
    double paid = 0;
  };
  const Skeleton* skeleton_;
  std::vector<Way> ways_;
  PerTensor<double> latched_;  // of what the latches hold; infinite without
};

}  // namespace mapsim::exact
