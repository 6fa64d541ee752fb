// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "costmodel/fusion/lines.hpp"
#include "costmodel/reference/point_set.hpp"

namespace mapsim {

// Sets of points of an intermediate, for the simulation of trees.

PointSet common(const PointSet& a, const PointSet& b);

bool is_empty(const IterationBox& box);
IterationTile tile_of(const IterationBox& box);

// The ranges of coordinates of points in a box of this shape; nullopt: the points do not fill these
// ranges.
std::optional<std::vector<IndexRange>> as_box(const PointSet& points,
                                              const std::vector<std::int64_t>& shape);

// The live set by its definition: points made up to a step and needed in it or later, given the
// points that each step of a scope instance needs.
LiveSet live_set(const std::vector<PointSet>& needs);

}  // namespace mapsim
