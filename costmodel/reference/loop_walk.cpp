// SPDX-License-Identifier: Apache-2.0
#include "costmodel/reference/loop_walk.hpp"

#include <algorithm>
#include <utility>

namespace mapsim {

LoopWalk::LoopWalk(const Workload& workload, const Mapping& mapping)
    : keeps_(workload.tensors.size()), whole_{whole_tile(workload)} {
  PerDim<std::int64_t> outer(workload.dims.size());
  for (const DimId d : workload.dims.ids()) {
    outer[d] = workload.dims[d].bound;
  }
  const auto add_loop = [&](WalkLoop loop) {
    const std::int64_t above = std::exchange(outer[loop.dim], loop.extent);
    loop.bound = (above + loop.extent - 1) / loop.extent;
    loops_.push_back(loop);
  };
  for (const MappingNode& node : canonical(workload, mapping).nodes) {
    if (const Keep* keep = std::get_if<Keep>(&node)) {
      for (const TensorId t : workload.tensors.ids()) {
        if (keep->tensors.contains(t)) {
          keeps_[t].push_back({keep->level, loops_.size()});
        }
      }
    } else if (const Temporal* temporal = std::get_if<Temporal>(&node)) {
      add_loop({temporal->dim, temporal->extent, 1, std::nullopt, Axis::kX});
    } else {
      const Parallel& parallel = std::get<Parallel>(node);
      add_loop({parallel.dim, parallel.extent, 1, parallel.fanout, parallel.axis});
    }
  }
  moment_.assign(loops_.size(), 0);
  first_instance_.assign(loops_.size(), 0);
}

void LoopWalk::enter(const IterationTile& box) {
  whole_ = box;
  moment_.assign(loops_.size(), 0);
}

std::vector<LoopIndices> LoopWalk::instances(std::size_t depth) const {
  std::vector<LoopIndices> all{LoopIndices(loops_.size(), 0)};
  for (std::size_t k = 0; k < depth; ++k) {
    if (!loops_[k].fanout) {
      continue;
    }
    const std::vector<LoopIndices> outside = std::exchange(all, {});
    for (const LoopIndices& instance : outside) {
      for (std::int64_t i = 0; i < loops_[k].bound; ++i) {
        all.push_back(instance);
        all.back()[k] = i;
      }
    }
  }
  return all;
}

std::optional<IterationTile> LoopWalk::tile(std::size_t depth, const LoopIndices& instance) const {
  IterationTile tile = whole_;
  for (std::size_t k = 0; k < depth; ++k) {
    IterationRange& range = tile[loops_[k].dim];
    const std::int64_t offset = (moment_[k] + instance[k]) * loops_[k].extent;
    if (offset >= range.size) {
      return std::nullopt;
    }
    range.begin += offset;
    range.size = std::min(loops_[k].extent, range.size - offset);
  }
  return tile;
}

std::optional<std::size_t> LoopWalk::advance() {
  for (std::size_t k = loops_.size(); k-- > 0;) {
    if (loops_[k].fanout) {
      continue;
    }
    const std::optional<IterationTile> above = tile(k, first_instance_);
    if ((moment_[k] + 1) * loops_[k].extent < (*above)[loops_[k].dim].size) {
      ++moment_[k];
      return k;
    }
    moment_[k] = 0;
  }
  return std::nullopt;
}

}  // namespace mapsim
