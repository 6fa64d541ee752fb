// SPDX-License-Identifier: Apache-2.0
#include "tests/costmodel/shrink.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace mapsim {
namespace {

void add_without_nodes(const RandomCase& from, std::vector<RandomCase>& smaller) {
  for (std::size_t i = 0; i < from.mapping.nodes.size(); ++i) {
    RandomCase next = from;
    next.mapping.nodes.erase(next.mapping.nodes.begin() + static_cast<std::ptrdiff_t>(i));
    smaller.push_back(std::move(next));
  }
}

void add_smaller_keeps(const RandomCase& from, std::vector<RandomCase>& smaller) {
  for (std::size_t i = 0; i < from.mapping.nodes.size(); ++i) {
    for (const TensorId t : from.workload.tensors.ids()) {
      RandomCase next = from;
      Keep* keep = std::get_if<Keep>(&next.mapping.nodes[i]);
      if (keep != nullptr && keep->tensors.contains(t)) {
        keep->tensors.erase(t);
        smaller.push_back(std::move(next));
      }
    }
  }
}

void add_smaller_bounds(const RandomCase& from, std::vector<RandomCase>& smaller) {
  for (const DimId d : from.workload.dims.ids()) {
    const std::int64_t bound = from.workload.dims[d].bound;
    for (const std::int64_t less : {std::int64_t{1}, bound / 2, bound - 1}) {
      if (less < 1 || less >= bound) {
        continue;
      }
      RandomCase next = from;
      next.workload.dims[d].bound = less;
      for (MappingNode& node : next.mapping.nodes) {
        if (Temporal* loop = std::get_if<Temporal>(&node); loop != nullptr && loop->dim == d) {
          loop->extent = std::min(loop->extent, less);
        }
        if (Parallel* loop = std::get_if<Parallel>(&node); loop != nullptr && loop->dim == d) {
          loop->extent = std::min(loop->extent, less);
        }
      }
      smaller.push_back(std::move(next));
    }
  }
}

void add_plainer_machines(const RandomCase& from, std::vector<RandomCase>& smaller) {
  const auto add = [&](auto change) {
    RandomCase next = from;
    change(next);
    if (!(next == from)) {
      smaller.push_back(std::move(next));
    }
  };
  add([](RandomCase& c) { c.arch.compute.register_reuse = {}; });
  for (const LevelId l : from.arch.levels.ids()) {
    add([l](RandomCase& c) { c.arch.levels[l].sliding = true; });
  }
  for (const FanoutId f : from.arch.fanouts.ids()) {
    add([f](RandomCase& c) { c.arch.fanouts[f].forwarding = true; });
    add([f](RandomCase& c) { c.arch.fanouts[f].spatial_reduction = false; });
    add([f](RandomCase& c) { c.arch.fanouts[f].multicast = {}; });
  }
  for (const TensorId t : from.workload.tensors.ids()) {
    for (std::size_t r = 0; r < from.workload.tensors[t].ranks.size(); ++r) {
      for (std::size_t i = 0; i < from.workload.tensors[t].ranks[r].terms.size(); ++i) {
        add([=](RandomCase& c) { c.workload.tensors[t].ranks[r].terms[i].coefficient = 1; });
      }
    }
  }
}

}  // namespace

RandomCase shrink(RandomCase failing, const std::function<bool(const RandomCase&)>& fails) {
  bool smaller_found = true;
  while (smaller_found) {
    std::vector<RandomCase> smaller;
    add_smaller_bounds(failing, smaller);
    add_without_nodes(failing, smaller);
    add_smaller_keeps(failing, smaller);
    add_plainer_machines(failing, smaller);
    const auto found = std::find_if(smaller.begin(), smaller.end(), [&](const RandomCase& next) {
      return check_structure(next.arch, next.workload, next.mapping).empty() && fails(next);
    });
    smaller_found = found != smaller.end();
    if (smaller_found) {
      failing = std::move(*found);
    }
  }
  return failing;
}

}  // namespace mapsim
