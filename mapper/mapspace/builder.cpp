// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/builder.hpp"

namespace mapsim::nests {

Keep outermost_keep(const Workload& workload) {
  Keep keep{LevelId{0}, {}};
  for (const TensorId t : workload.tensors.ids()) {
    keep.tensors.insert(t);
  }
  return keep;
}

NestBuilder::NestBuilder(const Mapspace& space, const Placements& placements,
                         const Unrolling& unrolling)
    : space_{&space}, placements_{&placements}, unrolling_{&unrolling} {
  const Problem& problem = space.problem();
  for (const Dim& dim : problem.workload().dims) {
    extents_.push_back(dim.bound);
  }
  left_ = extents_;
  for (const Unroll& unroll : unrolling) {
    left_[unroll.dim] /= unroll.factor;
  }
  if (space.constraints().factors.imperfect) {
    left_ = PerDim<std::int64_t>(extents_.size(), 1);
  }
  mapping_.nodes.emplace_back(outermost_keep(problem.workload()));
}

void NestBuilder::add_loop(DimId dim, std::int64_t factor) {
  left_[dim] /= factor;
  add_loop_to(dim, extents_[dim] / factor);
}

void NestBuilder::add_loop_to(DimId dim, std::int64_t extent) {
  extents_[dim] = extent;
  mapping_.nodes.emplace_back(Temporal{dim, extent});
}

bool NestBuilder::add_keeps(const Point& point, std::size_t begin, std::size_t end) {
  bool fits = true;
  for (std::size_t level = begin; level < end; ++level) {
    const auto id = static_cast<LevelId>(level);
    if (!point.keeps[id].empty()) {
      mapping_.nodes.emplace_back(Keep{id, point.keeps[id]});
      fits =
          fits && fits_rules(space_->constraints().extents, id, point.keeps[id], extents_, left_);
    }
  }
  return fits;
}

bool NestBuilder::add_point(const Point& point) {
  bool fits = true;
  std::size_t level = 1;
  for (std::size_t used = point.first_fanout; used < point.end_fanout; ++used) {
    const FanoutId fanout = placements_->used_fanouts()[used];
    const std::size_t below = space_->problem().arch().levels_above[fanout];
    fits = add_keeps(point, level, below) && fits;
    level = below;
    for (const Unroll& unroll : *unrolling_) {
      if (unroll.fanout == fanout) {
        extents_[unroll.dim] = (extents_[unroll.dim] + unroll.factor - 1) / unroll.factor;
        mapping_.nodes.emplace_back(
            Parallel{unroll.dim, extents_[unroll.dim], fanout, unroll.axis});
      }
    }
  }
  return add_keeps(point, level, point.keeps.size()) && fits;
}

void NestBuilder::cut(const Mark& mark) {
  mapping_.nodes.resize(mark.nodes);
  extents_ = mark.extents;
  left_ = mark.left;
}

}  // namespace mapsim::nests
