// SPDX-License-Identifier: Apache-2.0
#pragma once
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
  // A level that may serve the compute units, and the least paid for a tensor to get there [pJ].
  struct Way {
    TensorId tensor{};
    LevelId level{};
    double paid = 0;
    double held = 0;            // elements that have room there at once; infinite: all
    std::vector<LevelId> from;  // where it may be kept right before
  };
  // One way of each tensor, and what it costs with the accesses at its end; no way: a latch.
  struct Choice {
    const Way* way = nullptr;
    double cost = 0;
  };
  using Choices = PerTensor<std::vector<Choice>>;
  std::vector<LevelId> parents(TensorId tensor, LevelId level) const;
  bool meet_once(TensorId one, TensorId other) const;
  double refills(const UnrollingGroup& group, const PerTensor<Choice>& chosen) const;
  double refill(const UnrollingGroup& group, const Way& way, double fills) const;
  double combine(const UnrollingGroup& group, const Choices& choices, PerTensor<Choice>& chosen,
                 std::size_t tensor, double best) const;

  const Skeleton* skeleton_;
  std::vector<Way> ways_;
  PerTensor<double> latched_;                         // of what the latches hold; infinite without
  std::vector<std::pair<TensorId, TensorId>> pairs_;  // two elements of which meet once at most
};

}  // namespace mapsim::exact
