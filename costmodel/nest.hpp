// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/index.hpp"
#include "costmodel/mapping.hpp"

namespace mapsim {

inline constexpr std::size_t kNoLoop = std::numeric_limits<std::size_t>::max();

// A loop with a nominal bound above 1.
struct NestLoop {
  DimId dim{};
  std::int64_t outer = 1;          // nominal extent of the tile that it cuts
  std::int64_t extent = 1;         // of its tiles
  std::optional<FanoutId> fanout;  // set: a parallel loop, over instances of this fanout
  Axis axis = Axis::kX;
  std::size_t previous = kNoLoop;  // the next loop out over the same dim
  std::int64_t bound = 1;          // ceil(outer / extent), > 1
  std::int64_t stride = 1;         // parallel: instances along the axis from one index to the next
};

// The place where a tensor is kept: its tile is the part that the loops before `position` leave.
struct Placement {
  LevelId level{};
  std::size_t position = 0;  // number of loops above
};

// A keep node that a mapping has at `position`.
struct KeepAt {
  LevelId level{};
  TensorSet tensors;
  std::size_t position = 0;  // number of loops above
};

// A mapping in the form for counting: loops and keeps are separate, loops with bound 1 are dropped,
// adjacent loops over one dim are joined.
struct Nest {
  std::vector<NestLoop> loops;                                    // outermost first
  std::vector<KeepAt> keeps;                                      // outermost first
  PerTensor<IdArray<LevelId, Placement, kMaxLevels>> placements;  // outermost first
  PerDim<std::size_t> innermost;  // per dim: its innermost loop, or kNoLoop
  DimSet parallel;                // dims that some parallel loop cuts
  bool perfect = true;            // every extent divides the one above

  // The innermost loop over `dim` among the first `position`, or kNoLoop.
  std::size_t last_before(DimId dim, std::size_t position) const {
    std::size_t i = innermost[dim];
    while (i != kNoLoop && i >= position) {
      i = loops[i].previous;
    }
    return i;
  }

  // Nominal extents of the tile below the first `position` loops.
  PerDim<std::int64_t> extents_at(const Workload& workload, std::size_t position) const;
};

// The whole problem as a tile: the bound of each dim.
PerDim<std::int64_t> bounds_of(const Workload& workload);
// The same einsum with other bounds.
Workload with_bounds(Workload workload, const PerDim<std::int64_t>& bounds);

Nest make_nest(const Workload& workload, const Mapping& mapping);
// The same into a reused nest; allocates nothing once it is large enough.
void make_nest(const Workload& workload, const Mapping& mapping, Nest& nest);

}  // namespace mapsim
