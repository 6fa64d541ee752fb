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

// A lower bound of a nest's energy by decomposition: every tensor takes the path that is cheapest
// for it alone (TensorBound). A nest consists of one path per tensor, and its energy is the sum of
// theirs and of the operations. So the sum of the tensors' least costs never overestimates it, and
// along an edge to_go() falls by at most the edge's cost. docs/decisions/0038-per-tensor-bound.md.
class PerTensorBound {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

 public:
  // Computes the cost to go, and makes all tables of `costs`, as one task per tensor: idle threads
  // of the caller's team take part, also in find_cost_so_far().
  PerTensorBound(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs);
  // The least energy of a whole nest [pJ].
  double root() const;
  // Computes the cost so far, which is infinite until then.
  void find_cost_so_far(EdgeCosts& costs);

  // The sum over all tensors [pJ].
  double to_go(std::size_t stage, std::size_t residency, std::size_t tile) const;
  // sum[i] = the cost so far at tiles[i] [pJ]
  void add_cost_so_far(std::size_t stage, std::size_t residency,
                       std::span<const std::uint32_t> tiles, std::vector<double>& sum) const;

  // Per row, the tiles at which the cost so far plus the cost to go is at most `most` [pJ],
  // ascending.
  class Selection {
   public:
    Selection(const PerTensorBound& per_tensor, double most);
    // The result is valid until the next call.
    std::span<const std::uint32_t> tiles(std::size_t stage, std::size_t residency);

   private:
    // Tiles that remain possible by the sums of one tensor and those after it in the order of
    // tensors.
    struct Part {
      std::size_t residence = kNone;  // residence of that tensor
      double rest = 0;                // least sum of the tensors before it
      std::vector<std::uint32_t> tiles;
      std::vector<double> sums;  // per tile: of the tensors of the part, and the operations
    };
    void start(std::size_t stage);
    void extend(std::size_t i);

    const PerTensorBound& per_tensor_;
    HeldMemory held_;
    double most_;
    std::size_t stage_ = kNone;
    std::vector<Part> parts_;  // one per tensor, and an empty one
  };

 private:
  template <class Visit>
  void for_each_tensor(const Visit& visit) const;
  std::size_t tiles(std::size_t stage) const {
    return unrolled_.lattices[graph_.crossed(stage)].size();
  }

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  const Deadline* deadline_;
  double operations_;
  std::deque<TensorBound> tensors_;  // per tensor
};

}  // namespace mapsim::exact
