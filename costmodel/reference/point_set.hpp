// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "core/index.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Points of one tensor, sorted: each is the row-major index of its coordinates in the tensor's box.
using PointSet = std::vector<std::int64_t>;

inline std::int64_t count_of(const PointSet& points) {
  return static_cast<std::int64_t>(points.size());
}
PointSet without(const PointSet& set, const PointSet& removed);
// Union of any number of sets laid end to end.
PointSet united(PointSet points);

// Iterations begin..begin+size-1 of one dim, and of all.
struct IterationRange {
  std::int64_t begin = 0;
  std::int64_t size = 1;
};
using IterationTile = PerDim<IterationRange>;
IterationTile whole_tile(const Workload& workload);

// The box of coordinates of a tensor: rank r has 1 + sum coefficient * (bound - 1) coordinates.
std::vector<std::int64_t> box_shape(const Workload& workload, const Tensor& tensor);

// Finds the points of one tensor that iterations touch.
class Projection {
 public:
  Projection() = default;
  Projection(const Workload& workload, TensorId tensor);
  // In a box of another shape, which is at least as large.
  Projection(const Workload& workload, TensorId tensor, const std::vector<std::int64_t>& shape);
  std::int64_t box_size() const { return box_size_; }
  // Distinct points that a tile touches; holes of a window are not among them.
  PointSet points(const IterationTile& tile) const;
  // The point of the first iteration of a tile.
  std::int64_t first_point(const IterationTile& tile) const;

 private:
  std::vector<Rank> ranks_;
  std::vector<std::int64_t> strides_;  // row-major, one per rank
  std::int64_t box_size_ = 1;
};

}  // namespace mapsim
