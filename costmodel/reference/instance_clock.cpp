// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/instance_clock.hpp"

#include <algorithm>

namespace mapsim {

InstanceClock::InstanceClock(const Arch& arch, const LoopWalk& walk)
    : stages_{{0, Balance::kEnd, std::nullopt, {}, {0.0}}} {
  const std::vector<WalkLoop>& loops = walk.loops();
  std::vector<LoopIndices> around{LoopIndices(loops.size(), 0)};
  for (std::size_t begin = 0; begin < loops.size();) {
    std::size_t end = begin + 1;
    while (end < loops.size() && loops[end].fanout == loops[begin].fanout) {
      ++end;
    }
    if (loops[begin].fanout) {
      Stage stage{
          begin, arch.fanouts[*loops[begin].fanout].balance, stages_.back().barrier, {}, {}};
      stage.barrier = stage.balance == Balance::kBarrier ? begin : stage.barrier;
      std::vector<LoopIndices> instances = walk.instances(end);
      for (LoopIndices outer : instances) {
        std::fill(outer.begin() + static_cast<std::ptrdiff_t>(begin), outer.end(), 0);
        const auto at = std::find(around.begin(), around.end(), outer);
        stage.parent.push_back(static_cast<std::size_t>(at - around.begin()));
      }
      stage.times.assign(instances.size(), 0);
      stages_.push_back(stage);
      around = std::move(instances);
    }
    begin = end;
  }
}

void InstanceClock::end_step(std::optional<std::size_t> advanced) {
  for (std::size_t s = stages_.size(); s-- > 1;) {
    if (!advanced || (stages_[s].barrier && *advanced < *stages_[s].barrier)) {
      wait(stages_[s], stages_[s - 1]);
    }
  }
}

void InstanceClock::wait(Stage& stage, Stage& around) {
  std::vector<double> most(around.times.size(), 0);
  std::vector<double> sum(around.times.size(), 0);
  for (std::size_t i = 0; i < stage.times.size(); ++i) {
    const std::size_t parent = stage.parent[i];
    most[parent] = std::max(most[parent], stage.times[i]);
    sum[parent] += stage.times[i];
    stage.times[i] = 0;
  }
  const auto each =
      static_cast<double>(stage.parent.size()) / static_cast<double>(around.times.size());
  for (std::size_t parent = 0; parent < most.size(); ++parent) {
    around.times[parent] += stage.balance == Balance::kIdeal ? sum[parent] / each : most[parent];
  }
}

}  // namespace mapsim
