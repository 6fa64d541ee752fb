// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "costmodel/fusion/shape.hpp"
#include "costmodel/reference/nest_machine.hpp"

namespace mapsim {

// A branch of a tree, for simulate_tree(): the nest of one einsum, walked once per box.
class WalkedBranch {
 public:
  // `projections`: per tensor of the einsum.
  WalkedBranch(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
               const TreeShape& shape, std::size_t einsum,
               const std::vector<Projection>& projections);
  WalkedBranch(const WalkedBranch&) = delete;
  WalkedBranch& operator=(const WalkedBranch&) = delete;

  // The value of a point around the branch; NaN: there is none.
  using Around = std::function<double*(TensorId, std::int64_t)>;
  // Walks one box: reads operands and earlier sums through `around`, writes sums back. Throws
  // SimulationFault if an operand has no value, std::length_error after `max_steps` of all boxes.
  void run(const IterationTile& box, std::int64_t max_steps, const Around& around);
  void forget_sums() { machine_.forget_sums(); }
  std::int64_t steps() const { return machine_.steps(); }
  // Adds the counts of all boxes to those of the einsum in groups: one instance, in totals.
  void add_to(Counts& counts) const;

 private:
  PerTensor<LevelId> around_;  // levels that keep the tensors around the branch
  Problem problem_;
  Workload nominal_;  // with the largest box's bounds
  PerTensor<Projection> projections_;
  NestMachine machine_;
};

}  // namespace mapsim
