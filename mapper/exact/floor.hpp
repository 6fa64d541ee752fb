// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "mapper/exact/group_floor.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/mapspace.hpp"

namespace mapsim::exact {

// Energy that no mapping can do without [pJ]: the operations, every element once through the
// outermost level, and the compute units' accesses to whichever level could serve them most
// cheaply.
double energy_floor(const Mapspace& space);

// Bits that pass each port of the skeleton in any mapping, at least: every element leaves the
// outermost level once (a sum comes there), if one instance of it has them all.
std::vector<double> least_port_bits(const Skeleton& skeleton);

// The least energy of the nests of one group, whatever their tiles: of all ways that tensors may
// take, the cheapest by GroupFloor. docs/decisions/0031, 0036, 0039.
class EnergyFloor {
 public:
  explicit EnergyFloor(const Skeleton& skeleton);  // outlives the floor
  // Infinite: nothing can serve a tensor.
  double of(const UnrollingGroup& group) const;
  // The least of all groups in the boxes.
  double of(const GroupFloor::Boxes& boxes) const;
  // As GroupFloor::patterns() has them.
  std::vector<Pattern> patterns(const UnrollingGroup& group, const KeyOf& key_of,
                                const Incumbent& known, bool first_only) const;
  // Per placing of the skeleton: has no nest of the pattern it?
  std::vector<bool> placings_outside(const Pattern& pattern) const;

 private:
  RouteLeg leg_of(const Placing& placing) const;
  std::vector<FloorWeights> weights_of_figures(const UnrollingGroup& group) const;

  const Skeleton* skeleton_;
  PerTensor<Route> routes_;
  std::vector<TensorPair> pairs_;
};

}  // namespace mapsim::exact
