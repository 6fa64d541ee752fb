// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"

namespace mapsim::nests {

// The first node of every nest: the outermost level keeps every tensor.
Keep outermost_keep(const Workload& workload);

// Builds a mapping from the outside in, in canonical order. It begins with the outermost level
// keeping every tensor.
class NestBuilder {
 public:
  // All arguments outlive the builder.
  NestBuilder(const Mapspace& space, const Placements& placements, const Unrolling& unrolling);

  void add_loop(DimId dim, std::int64_t factor);
  void add_loop_to(DimId dim, std::int64_t extent);
  // Returns false if a rule forbids the extents of a tile that the point keeps.
  bool add_point(const Point& point);
  const Mapping& mapping() const { return mapping_; }
  const PerDim<std::int64_t>& extents() const { return extents_; }  // of the tile so far

  // A position to which the builder can go back.
  struct Mark {
    std::size_t nodes = 0;
    PerDim<std::int64_t> extents, left;
  };
  Mark mark() const { return {mapping_.nodes.size(), extents_, left_}; }
  void cut(const Mark& mark);

 private:
  bool add_keeps(const Point& point, std::size_t begin, std::size_t end);

  const Mapspace* space_;
  const Placements* placements_;
  const Unrolling* unrolling_;
  Mapping mapping_;
  PerDim<std::int64_t> extents_;
  // Left to temporal loops; imperfect factors: 1, callers check the rules themselves
  PerDim<std::int64_t> left_;
};

}  // namespace mapsim::nests
