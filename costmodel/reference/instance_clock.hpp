// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/reference/loop_walk.hpp"

namespace mapsim {

// When instances that skip steps are done, if those of a fanout wait for each other where its
// `balance` says: the definition of docs/sparsity.md#time. Its clocks run from the inside out:
// where instances wait, the time of the last one is added to the clock of the stage around them.
class InstanceClock {
 public:
  InstanceClock(const Arch& arch, const LoopWalk& walk);

  // A compute unit, in the order of walk.instances(), takes a step.
  void take_step(std::size_t unit) { stages_.back().times[unit] += 1; }
  // All instances have finished a step of the walk; this loop advances, or (none) the walk ends.
  void end_step(std::optional<std::size_t> advanced);
  double time() const { return stages_.front().times.front(); }

 private:
  // The instances between a fanout and the next one further in, or a compute unit.
  struct Stage {
    std::size_t first_loop = 0;          // of the fanout
    Balance balance = Balance::kEnd;     // of the fanout
    std::optional<std::size_t> barrier;  // the loops around it that wait, too, are before this one
    std::vector<std::size_t> parent;     // per instance: that of the stage around it
    std::vector<double> times;
  };
  void wait(Stage& stage, Stage& around);

  std::vector<Stage> stages_;  // the first: of the whole machine
};

}  // namespace mapsim
