// SPDX-License-Identifier: Apache-2.0
#include "mapper/nests/builder.hpp"

namespace mapsim::nests {

NestBuilder::NestBuilder(const Problem& problem, const Placements& placements,
                         const Unrolling& unrolling)
    : problem_{&problem}, placements_{&placements}, unrolling_{&unrolling} {
  TensorSet all;
  for (const TensorId t : problem.workload().tensors.ids()) {
    all.insert(t);
  }
  for (const Dim& dim : problem.workload().dims) {
    extents_.push_back(dim.bound);
  }
  mapping_.nodes.emplace_back(Keep{LevelId{0}, all});
}

void NestBuilder::add_loop(DimId dim, std::int64_t factor) {
  add_loop_to(dim, extents_[dim] / factor);
}

void NestBuilder::add_loop_to(DimId dim, std::int64_t extent) {
  extents_[dim] = extent;
  mapping_.nodes.emplace_back(Temporal{dim, extent});
}

void NestBuilder::add_keeps(const Point& point, std::size_t begin, std::size_t end) {
  for (std::size_t level = begin; level < end; ++level) {
    const auto id = static_cast<LevelId>(level);
    if (!point.keeps[id].empty()) {
      mapping_.nodes.emplace_back(Keep{id, point.keeps[id]});
    }
  }
}

void NestBuilder::add_point(const Point& point) {
  std::size_t level = 1;
  for (std::size_t used = point.first_fanout; used < point.end_fanout; ++used) {
    const FanoutId fanout = placements_->used_fanouts()[used];
    const std::size_t below = problem_->arch().levels_above[fanout];
    add_keeps(point, level, below);
    level = below;
    for (const Unroll& unroll : *unrolling_) {
      if (unroll.fanout == fanout) {
        extents_[unroll.dim] = (extents_[unroll.dim] + unroll.factor - 1) / unroll.factor;
        mapping_.nodes.emplace_back(
            Parallel{unroll.dim, extents_[unroll.dim], fanout, unroll.axis});
      }
    }
  }
  add_keeps(point, level, point.keeps.size());
}

void NestBuilder::cut(const Mark& mark) {
  mapping_.nodes.resize(mark.nodes);
  extents_ = mark.extents;
}

}  // namespace mapsim::nests
