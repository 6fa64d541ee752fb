// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nest.hpp"

namespace mapsim {

namespace {

PerDim<std::int64_t> bounds(const Workload& workload) {
  PerDim<std::int64_t> extents(workload.dims.size());
  for (const DimId d : workload.dims.ids()) {
    extents[d] = workload.dims[d].bound;
  }
  return extents;
}

}  // namespace

PerDim<std::int64_t> Nest::extents_at(const Workload& workload, std::size_t position) const {
  PerDim<std::int64_t> extents = bounds(workload);
  for (std::size_t i = 0; i < position; ++i) {
    extents[loops[i].dim] = loops[i].extent;
  }
  return extents;
}

Nest make_nest(const Workload& workload, const Mapping& mapping) {
  Nest nest;
  nest.loops.reserve(mapping.nodes.size());
  nest.placements = decltype(nest.placements)(workload.tensors.size());
  PerDim<std::int64_t> extents = bounds(workload);
  bool joinable = false;  // the node before is a temporal loop
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* keep = std::get_if<Keep>(&node)) {
      for (const TensorId t : workload.tensors.ids()) {
        if (keep->tensors.contains(t)) {
          nest.placements[t].push_back({keep->level, nest.loops.size()});
        }
      }
      joinable = false;
    } else if (const auto* temporal = std::get_if<Temporal>(&node)) {
      std::int64_t& extent = extents[temporal->dim];
      if (temporal->extent == extent) {
        continue;
      }
      if (joinable && nest.loops.back().dim == temporal->dim) {
        nest.loops.back().extent = temporal->extent;
      } else {
        nest.loops.push_back({temporal->dim, extent, temporal->extent, std::nullopt, Axis::kX});
      }
      extent = temporal->extent;
      joinable = true;
    } else {
      const auto& parallel = std::get<Parallel>(node);
      std::int64_t& extent = extents[parallel.dim];
      if (parallel.extent == extent) {
        continue;
      }
      nest.loops.push_back({parallel.dim, extent, parallel.extent, parallel.fanout, parallel.axis});
      extent = parallel.extent;
      joinable = false;
    }
  }
  for (const NestLoop& loop : nest.loops) {
    nest.perfect = nest.perfect && loop.outer % loop.extent == 0;
  }
  return nest;
}

}  // namespace mapsim
