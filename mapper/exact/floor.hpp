// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <utility>
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
// when each leaves once. Of two tensors that one level serves, one comes there again and again:
// while its element stays, it meets only what the room holds of the other. docs/decisions/0031,
// 0036.
class EnergyFloor {
 public:
  explicit EnergyFloor(const Skeleton& skeleton);  // outlives the floor
  // Infinite: nothing can serve a tensor.
  double of(const UnrollingGroup& group) const;

 private:
  // Where tensors stand: the levels and, behind them, the latches of the compute units.
  using PerNode = std::array<double, kMaxLevels + 1>;
  struct Leg {
    std::size_t from = 0;  // nodes
    std::size_t to = 0;
    friend auto operator<=>(const Leg&, const Leg&) = default;
  };
  // Where one tensor may go, whatever the unrolling.
  struct Route {
    double once = 0;  // its elements
    bool output = false;
    bool slides = false;       // a window
    std::vector<Leg> legs;     // ascending
    std::vector<bool> serves;  // by node: the compute units
  };
  class OfGroup;
  bool meet_once(TensorId one, TensorId other) const;

  const Skeleton* skeleton_;
  PerTensor<Route> routes_;
  std::vector<std::pair<TensorId, TensorId>> pairs_;  // two elements of which meet once at most
};

}  // namespace mapsim::exact
