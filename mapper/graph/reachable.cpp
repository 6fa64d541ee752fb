// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mapper/graph/state_graph.hpp"

namespace mapsim::exact {

std::vector<char> StateGraph::reachable_without(const std::vector<bool>& left_out) const {
  std::vector<char> found(stages() * residencies_, 0);
  const auto reach = [&](std::size_t stage, std::optional<std::size_t> residency) {
    if (residency) {
      found[stage * residencies_ + *residency] = 1;
    }
  };
  const auto is_whole = [&](const SlidingEdge& sliding_edge) {
    return std::none_of(sliding_edge.edges.begin(), sliding_edge.edges.end(),
                        [&](std::size_t edge) { return left_out[edge]; });
  };
  for (const std::size_t start : starts_) {
    reach(0, start);
  }
  for (std::size_t row = 0; row < found.size(); ++row) {
    const std::size_t stage = row / residencies_;
    const std::size_t residency = row % residencies_;
    if (found[row] == 0) {
      continue;
    }
    if (stage + 1 < stages()) {
      reach(stage + 1, after_stage(stage, residency));
    }
    for (const KeepMove& keep : keep_moves_[row]) {
      if (!left_out[keep.edge]) {
        reach(stage, keep.target);
      }
    }
    const DimSet fixed = locked(stage, residency);
    for (const DimId d : sliding_.ids()) {
      if (fixed.contains(d) || !after_loop(stage, residency, d, 1)) {
        continue;
      }
      const std::size_t kinds = is_neutral(stage, residency, d) ? 1 : factors_[d].size();
      for (std::size_t i = 0; i < kinds; ++i) {
        reach(stage, after_loop(stage, residency, d, factors_[d][i]));
        for (const SlidingEdge& sliding_edge : sliding_edges_[row]) {
          if (sliding_edge.dim == d && is_whole(sliding_edge)) {
            reach(stage, after_loop(stage, sliding_edge.target, d, factors_[d][i]));
          }
        }
      }
    }
  }
  return found;
}

}  // namespace mapsim::exact
