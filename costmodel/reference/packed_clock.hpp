// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/reference/loop_walk.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// When the last instance is done, if lanes are packed (docs/sparsity.md#time): the steps that were
// taken are noted by their indices and then joined, loop by loop from the inside out. Lanes take
// steps of other moments, so that no clock can run along with the walk.
class PackedClock {
 public:
  PackedClock(const Arch& arch, const Workload& workload, const LoopWalk& walk);

  // An instance takes a step at a moment of the walk.
  void take_step(const LoopIndices& instance, const LoopIndices& moment);
  double time() const;

 private:
  enum class Joined : std::uint8_t { kSum, kMost, kMean, kBatches };
  // Loops whose indices are joined at once: one, or those that lanes are packed from, which are the
  // last of them.
  struct Group {
    std::vector<std::size_t> loops;
    Joined joined = Joined::kSum;
    std::int64_t indices = 1;
    std::int64_t lanes = 1;  // indices of the last of the loops
  };

  static double joined(const Group& group, const std::vector<double>& times);

  std::vector<WalkLoop> loops_;
  std::vector<Group> groups_;        // outermost first
  std::vector<std::int64_t> taken_;  // steps, by the indices of all groups
};

}  // namespace mapsim
