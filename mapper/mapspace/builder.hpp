// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "costmodel/mapping.hpp"
#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"

namespace mapsim::nests {

// Where every nest begins: the outermost level keeps every tensor.
Keep outermost_keep(const Workload& workload);

// A mapping in the making, from the outside in, in canonical order. Begins with the outermost level
// keeping everything.
class NestBuilder {
 public:
  // All of them outlive the nest.
  NestBuilder(const Mapspace& space, const Placements& placements, const Unrolling& unrolling);

  void add_loop(DimId dim, std::int64_t factor);
  void add_loop_to(DimId dim, std::int64_t extent);
  // False: a tile there is one that a rule forbids.
  bool add_point(const Point& point);
  const Mapping& mapping() const { return mapping_; }
  const PerDim<std::int64_t>& extents() const { return extents_; }  // of the tile so far

  // To go back to where the nest has been.
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
  PerDim<std::int64_t> left_;  // to temporal loops; imperfect: 1, whoever builds bars them
};

}  // namespace mapsim::nests
