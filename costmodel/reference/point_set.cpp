// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/point_set.hpp"

#include <algorithm>
#include <iterator>

namespace mapsim {

PointSet without(const PointSet& set, const PointSet& removed) {
  PointSet rest;
  rest.reserve(set.size());
  std::set_difference(set.begin(), set.end(), removed.begin(), removed.end(),
                      std::back_inserter(rest));
  return rest;
}

PointSet united(PointSet points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

IterationTile whole_tile(const Workload& workload) {
  IterationTile tile(workload.dims.size());
  for (const DimId d : workload.dims.ids()) {
    tile[d] = {0, workload.dims[d].bound};
  }
  return tile;
}

std::vector<std::int64_t> box_shape(const Workload& workload, const Tensor& tensor) {
  std::vector<std::int64_t> shape;
  for (const Rank& rank : tensor.ranks) {
    std::int64_t size = 1;
    for (const Term& term : rank.terms) {
      size += term.coefficient * (workload.dims[term.dim].bound - 1);
    }
    shape.push_back(size);
  }
  return shape;
}

Projection::Projection(const Workload& workload, TensorId tensor)
    : Projection{workload, tensor, box_shape(workload, workload.tensors[tensor])} {}

Projection::Projection(const Workload& workload, TensorId tensor,
                       const std::vector<std::int64_t>& shape)
    : ranks_{workload.tensors[tensor].ranks}, strides_(ranks_.size()) {
  for (std::size_t r = ranks_.size(); r-- > 0;) {
    strides_[r] = box_size_;
    box_size_ *= shape[r];
  }
}

PointSet Projection::points(const IterationTile& tile) const {
  PointSet points{0};
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (const Term& term : ranks_[r].terms) {
      const auto [begin, size] = tile[term.dim];
      PointSet sums;
      sums.reserve(points.size() * static_cast<std::size_t>(size));
      for (const std::int64_t point : points) {
        for (std::int64_t i = begin; i < begin + size; ++i) {
          sums.push_back(point + strides_[r] * term.coefficient * i);
        }
      }
      points = std::move(sums);
    }
  }
  return united(std::move(points));
}

std::int64_t Projection::first_point(const IterationTile& tile) const {
  std::int64_t point = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (const Term& term : ranks_[r].terms) {
      point += strides_[r] * term.coefficient * tile[term.dim].begin;
    }
  }
  return point;
}

}  // namespace mapsim
