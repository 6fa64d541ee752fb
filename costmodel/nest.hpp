// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/index.hpp"
#include "costmodel/mapping.hpp"

namespace mapsim {

// A loop that does something: its nominal bound, ceil(outer / extent), exceeds 1.
struct NestLoop {
  DimId dim{};
  std::int64_t outer = 1;          // nominal extent of the tile that it cuts
  std::int64_t extent = 1;         // of the tiles that it makes
  std::optional<FanoutId> fanout;  // set: a parallel loop, over instances of this fanout
  Axis axis = Axis::kX;
  std::int64_t bound() const { return (outer + extent - 1) / extent; }
};

// Where a tensor is kept: its tile is what the loops before `position` leave of it.
struct Placement {
  LevelId level{};
  std::size_t position = 0;  // number of loops above
};

// A mapping in the form that counting wants: loops and keeps apart, loops that do nothing dropped,
// adjacent loops over one dim joined.
struct Nest {
  std::vector<NestLoop> loops;                                    // outermost first
  PerTensor<IdArray<LevelId, Placement, kMaxLevels>> placements;  // outermost first
  bool perfect = true;  // every extent divides the one above

  // Nominal extents of the tile below the first `position` loops.
  PerDim<std::int64_t> extents_at(const Workload& workload, std::size_t position) const;
};

Nest make_nest(const Workload& workload, const Mapping& mapping);

}  // namespace mapsim
