// SPDX-License-Identifier: Apache-2.0
#include "costmodel/nest.hpp"

#include <algorithm>
#include <array>

namespace mapsim {

Workload with_bounds(Workload workload, const PerDim<std::int64_t>& bounds) {
  for (const DimId d : workload.dims.ids()) {
    workload.dims[d].bound = bounds[d];
  }
  return workload;
}

PerDim<std::int64_t> bounds_of(const Workload& workload) {
  PerDim<std::int64_t> extents(workload.dims.size());
  for (const DimId d : workload.dims.ids()) {
    extents[d] = workload.dims[d].bound;
  }
  return extents;
}

PerDim<std::int64_t> Nest::extents_at(const Workload& workload, std::size_t position) const {
  PerDim<std::int64_t> extents = bounds_of(workload);
  for (std::size_t i = 0; i < position; ++i) {
    extents[loops[i].dim] = loops[i].extent;
  }
  return extents;
}

Nest make_nest(const Workload& workload, const Mapping& mapping) {
  Nest nest;
  make_nest(workload, mapping, nest);
  return nest;
}

namespace {

// ceil(a / b), by a 32-bit division where that will do: it is several times faster.
std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  if (a <= INT32_MAX && b <= INT32_MAX) {
    const auto narrow_a = static_cast<std::uint32_t>(a);
    const auto narrow_b = static_cast<std::uint32_t>(b);
    return (narrow_a + narrow_b - 1) / narrow_b;
  }
  return (a + b - 1) / b;
}

// Appends loops as the nest is read from the outside in.
class Builder {
 public:
  Builder(const Workload& workload, Nest& nest) : nest_{nest}, extents_{bounds_of(workload)} {
    nest_.loops.clear();
    nest_.keeps.clear();
    nest_.placements.resize(workload.tensors.size());
    for (auto& placements : nest_.placements) {
      placements.resize(0);
    }
    nest_.innermost.resize(workload.dims.size());
    for (std::size_t& loop : nest_.innermost) {
      loop = kNoLoop;
    }
  }

  void keep(const Keep& keep) {
    nest_.keeps.push_back({keep.level, keep.tensors, nest_.loops.size()});
    for (const TensorId t : nest_.placements.ids()) {
      if (keep.tensors.contains(t)) {
        nest_.placements[t].push_back({keep.level, nest_.loops.size()});
      }
    }
    joinable_ = false;
  }
  void temporal(const Temporal& loop) {
    if (joinable_ && !nest_.loops.empty() && nest_.loops.back().dim == loop.dim) {
      nest_.loops.back().extent = loop.extent;
      extents_[loop.dim] = loop.extent;
    } else if (loop.extent != extents_[loop.dim]) {
      push({loop.dim, extents_[loop.dim], loop.extent, std::nullopt, Axis::kX});
      joinable_ = true;
    }
  }
  void parallel(const Parallel& loop) {
    if (loop.extent != extents_[loop.dim]) {
      push({loop.dim, extents_[loop.dim], loop.extent, loop.fanout, loop.axis});
      joinable_ = false;
    }
  }
  void finish() {
    nest_.perfect = true;
    nest_.parallel = DimSet{};
    for (NestLoop& loop : nest_.loops) {
      loop.bound = divide_up(loop.outer, loop.extent);
      if (loop.fanout) {
        nest_.parallel.insert(loop.dim);
      }
      nest_.perfect = nest_.perfect && loop.outer == loop.bound * loop.extent;
    }
    place_instances();
  }

 private:
  // Outer loops over an axis are further apart.
  void place_instances() {
    std::array<std::array<std::int64_t, 2>, kMaxFanouts> used{};
    for (std::size_t i = nest_.loops.size(); i-- > 0;) {
      NestLoop& loop = nest_.loops[i];
      if (loop.fanout) {
        std::int64_t& inside = used[index_of(*loop.fanout)][static_cast<std::size_t>(loop.axis)];
        loop.stride = std::max<std::int64_t>(inside, 1);
        inside = loop.stride * loop.bound;
      }
    }
  }
  void push(NestLoop loop) {
    loop.previous = nest_.innermost[loop.dim];
    nest_.innermost[loop.dim] = nest_.loops.size();
    extents_[loop.dim] = loop.extent;
    nest_.loops.push_back(loop);
  }

  Nest& nest_;
  PerDim<std::int64_t> extents_;
  bool joinable_ = false;  // the node before is a temporal loop
};

}  // namespace

void make_nest(const Workload& workload, const Mapping& mapping, Nest& nest) {
  Builder builder(workload, nest);
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* keep = std::get_if<Keep>(&node)) {
      builder.keep(*keep);
    } else if (const auto* temporal = std::get_if<Temporal>(&node)) {
      builder.temporal(*temporal);
    } else {
      builder.parallel(std::get<Parallel>(node));
    }
  }
  builder.finish();
}

}  // namespace mapsim
