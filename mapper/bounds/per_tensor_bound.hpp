// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "mapper/bounds/tensor_bound.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/state_graph.hpp"
#include "mapper/graph/volume.hpp"

namespace mapsim::exact {

// What nests need at least if each tensor takes the way that is best for it alone (TensorBound). A
// nest is a way of each of its tensors, and its energy is the sum of theirs and of the operations:
// so sums over the tensors never overestimate, and to_go() falls along an edge by at most its cost.
// docs/decisions/0038-per-tensor-bound.md.
class PerTensorBound {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 public:
  // Finds what is to go, and makes all tables of costs, a tensor to a task: whatever threads the
  // caller's team has to spare take part, here and below.
  PerTensorBound(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs);
  // The least from the start [pJ].
  double root() const;
  // Finds the cost so far; until then it is infinite.
  void find_cost_so_far(EdgeCosts& costs);

  // Of all tensors.
  double to_go(std::size_t stage, std::size_t residency, std::size_t tile) const;
  // sum[i] = the cost so far at tiles[i]
  void add_cost_so_far(std::size_t stage, std::size_t residency,
                       std::span<const std::uint32_t> tiles, std::vector<double>& sum) const;

  // The tiles, ascending, through which a nest may need no more than `most`, row by row.
  class Selection {
   public:
    Selection(const PerTensorBound& per_tensor, double most);
    // Valid until the next call.
    std::span<const std::uint32_t> tiles(std::size_t stage, std::size_t residency);

   private:
    // Tiles that are possible by what one tensor and those behind it need.
    struct Part {
      std::size_t residence = kNone;  // of the tensor
      double rest = 0;                // what those before it need at least
      std::vector<std::uint32_t> tiles;
      std::vector<double> sums;  // of the tensors of the part, and the operations
    };
    void start(std::size_t stage);
    void extend(std::size_t i);

    const PerTensorBound& per_tensor_;
    double most_;
    std::size_t stage_ = kNone;
    std::vector<Part> parts_;  // per tensor, and one with none
  };

 private:
  template <class Visit>
  void for_each_tensor(const Visit& visit) const;
  std::size_t tiles(std::size_t stage) const {
    return unrolled_.lattices[graph_.crossed(stage)].size();
  }

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  double operations_;
  std::deque<TensorBound> tensors_;  // per tensor
};

}  // namespace mapsim::exact
