// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/index.hpp"
#include "costmodel/mapping.hpp"
#include "costmodel/reference/point_set.hpp"

namespace mapsim {

// A loop of a canonical mapping.
struct WalkLoop {
  DimId dim{};
  std::int64_t extent = 1;         // of the tiles that it makes
  std::int64_t bound = 1;          // nominal number of them, > 1
  std::optional<FanoutId> fanout;  // set: parallel, over the instances of this fanout
  Axis axis = Axis::kX;
};

// A level that keeps a tensor: its tiles are what the first `depth` loops leave.
struct KeptAt {
  LevelId level{};
  std::size_t depth = 0;
};

// One index per loop. A moment has zeros at parallel loops, an instance at temporal ones, so that
// the indices of an instance at a moment are their sum.
using LoopIndices = std::vector<std::int64_t>;

// The loops of a mapping and the clock that runs them: all instances step together, and there are
// as many steps as the first instance has (docs/model.md, rule 1).
class LoopWalk {
 public:
  LoopWalk(const Workload& workload, const Mapping& mapping);

  // Restarts in a box no larger than the workload's; the initial box is the whole.
  void enter(const IterationTile& box);

  const std::vector<WalkLoop>& loops() const { return loops_; }
  const LoopIndices& moment() const { return moment_; }
  const std::vector<KeptAt>& keeps(TensorId tensor) const { return keeps_[tensor]; }

  // Every instance below the first `depth` loops, the first one first.
  std::vector<LoopIndices> instances(std::size_t depth) const;
  // What an instance works on now; nullopt: it is idle. Only the first `depth` loops count.
  std::optional<IterationTile> tile(std::size_t depth, const LoopIndices& instance) const;

  // Goes to the next step; returns which loop advanced (those inside it start anew), or nullopt
  // at the end.
  std::optional<std::size_t> advance();

 private:
  std::vector<WalkLoop> loops_;
  PerTensor<std::vector<KeptAt>> keeps_;
  IterationTile whole_;
  LoopIndices moment_;
  LoopIndices first_instance_;
};

}  // namespace mapsim
