// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/care.hpp"

namespace mapsim::balanced {

using exact::Skeleton;

namespace {

DimSet all_but(const Workload& workload, DimSet some) {
  DimSet others;
  for (const DimId d : workload.dims.ids()) {
    if (!some.contains(d)) {
      others.insert(d);
    }
  }
  return others;
}

DimSet unrolled_dims(const Tiles& tiles, std::size_t fanout) {
  DimSet dims;
  for (const Unroll& unroll : tiles.unrolls(fanout)) {
    dims.insert(unroll.dim);
  }
  return dims;
}

}  // namespace

DimSet single_dims(const Tensor& tensor) {
  DimSet dims;
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() == 1) {
      dims.insert(rank.terms.front().dim);
    }
  }
  return dims;
}

std::vector<DimSet> dims_that_matter(const Skeleton& skeleton, const Tiles& tiles) {
  const Workload& workload = skeleton.problem().workload();
  std::vector<DimSet> all(skeleton.phases() * skeleton.pointers());
  for (std::size_t phase = skeleton.phases(); phase-- > 0;) {
    for (std::size_t pointers = skeleton.pointers(); pointers-- > 0;) {
      DimSet& dims = all[phase * skeleton.pointers() + pointers];
      for (const Skeleton::Place& place : skeleton.places(phase, pointers)) {
        const TensorId t = skeleton.placings()[place.placing].tensor;
        dims = dims | all_but(workload, single_dims(workload.tensors[t])) |
               all[phase * skeleton.pointers() + place.target];
      }
      if (phase + 1 < skeleton.phases()) {
        if (const auto behind = skeleton.after_event(phase, pointers)) {
          dims = dims | all[(phase + 1) * skeleton.pointers() + *behind];
        }
        if (const auto fanout = skeleton.event_after(phase).fanout) {
          dims = dims | unrolled_dims(tiles, *fanout);
        }
      }
    }
  }
  return all;
}

}  // namespace mapsim::balanced
