// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mapper/graph/state_graph.hpp"

namespace mapsim::exact {

std::vector<std::size_t> StateGraph::targets(std::size_t row,
                                             const std::vector<bool>& left_out) const {
  std::vector<std::size_t> found;
  const std::size_t stage = row / residencies_;
  const std::size_t residency = row % residencies_;
  const auto is_left_out = [&](std::size_t edge) { return !left_out.empty() && left_out[edge]; };
  const auto reach = [&](std::size_t at_stage, std::optional<std::size_t> at) {
    if (at) {
      found.push_back(at_stage * residencies_ + *at);
    }
  };
  if (stage + 1 < stages()) {
    reach(stage + 1, after_stage(stage, residency));
  }
  for (const KeepMove& keep : keep_moves_[row]) {
    if (!is_left_out(keep.edge)) {
      reach(stage, keep.target);
    }
  }
  const DimSet fixed = locked(stage, residency);
  for (const DimId d : sliding_.ids()) {
    if (fixed.contains(d) || !after_loop(stage, residency, d, 1)) {
      continue;
    }
    // If loops are neutral, loops of all factors lead to the same residency.
    const std::size_t kinds = is_neutral(stage, residency, d) ? 1 : factors_[d].size();
    for (std::size_t i = 0; i < kinds; ++i) {
      reach(stage, after_loop(stage, residency, d, factors_[d][i]));
      for (const SlidingEdge& sliding_edge : sliding_edges_[row]) {
        if (sliding_edge.dim == d &&
            std::none_of(sliding_edge.edges.begin(), sliding_edge.edges.end(), is_left_out)) {
          reach(stage, after_loop(stage, sliding_edge.target, d, factors_[d][i]));
        }
      }
    }
  }
  return found;
}

std::vector<char> StateGraph::reachable_without(const std::vector<bool>& left_out) const {
  std::vector<char> found(stages() * residencies_, 0);
  for (const std::size_t start : starts_) {
    found[start] = 1;
  }
  for (std::size_t row = 0; row < found.size(); ++row) {
    if (found[row] != 0) {
      for (const std::size_t target : targets(row, left_out)) {
        found[target] = 1;
      }
    }
  }
  return found;
}

}  // namespace mapsim::exact
