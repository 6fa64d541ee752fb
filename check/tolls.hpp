// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "check/geometry.hpp"
#include "check/graph.hpp"
#include "costmodel/boundary_cost.hpp"

namespace mapsim::check {

// What the boundaries of a case cost, per tile: the components of resource_vector.hpp. Infinite
// where the tile does not fit its room alone, or where the sums are not as wide as the stand says.
// Flows are from the formulas of docs/model.md for perfect factors.
class EdgeCosts {
 public:
  EdgeCosts(const Graph& graph, const Case& at, const Tiles& tiles, Tracked tracked);
  ~EdgeCosts();

  std::size_t components() const { return components_; }
  // Component k of tile T at [k * tiles + T], wherever the loops above leave the tile.
  const std::vector<double>& plain(std::size_t edge);
  // Right below a loop over `dim`: component k of run r of the loop at
  // [(k * runs + r) * rests + rest], `rest` counting the tiles that differ in other dims.
  const std::vector<double>& sliding(std::size_t edge, DimId dim);
  // Bits that the tile takes in its room.
  const std::vector<double>& bits(std::size_t edge);
  // Placings into the compute units and the operations themselves.
  std::vector<double> end(const std::vector<std::size_t>& edges);

 private:
  // How often it happens, over every instance and over the first one.
  enum class Use : std::uint8_t { kSum, kFirst, kMerge };
  struct Volume;
  struct Terms;
  struct Window;
  struct End;
  struct Network;

  // A loop over `dim` from digit `from`, the tile sliding along it; no dim: none.
  struct Step {
    std::size_t dim = static_cast<std::size_t>(-1);
    std::int64_t from = 1;  // extent where the loop starts
  };

  const Terms& terms(std::size_t edge);
  Terms make_terms(std::size_t index);
  BoundaryCost cost_of(const BoundaryEdge& edge, bool has_child) const;
  Padding whole_tiles(const BoundaryEdge& edge) const;
  void add_met(const BoundaryEdge& edge, std::size_t outer, std::size_t inner, Terms& made);
  void add_networks(const BoundaryEdge& edge, bool together, Terms& made);
  double networks_pj(const Terms& of, double entering, double trips, std::size_t tile,
                     const Step& step) const;
  Volume make_volume(TensorId t, std::size_t crossed, const std::vector<Use>& uses, bool together);
  Volume make_met(TensorId t, std::size_t crossed, const std::vector<Use>& uses, std::size_t above);
  const std::vector<double>& table(TensorId t, std::size_t rank, int what, const Sharing& sharing);
  const std::vector<std::uint32_t>& rank_index(TensorId t, std::size_t rank);
  const std::vector<double>& trips(TensorId t);
  bool allows(TensorId t, const Residence& residence, std::size_t tile) const;
  void multiply_points(const BoundaryEdge& edge, std::size_t r, std::size_t above,
                       std::vector<double>& values);
  double volume(const Volume& of, double trips, std::size_t tile, const Step& step) const;
  void pay(const Terms& of, double trips, std::size_t tile, Step step, double* out,
           std::size_t stride) const;

  const Graph& graph_;
  const Case& at_;
  const Tiles& tiles_;
  Tracked tracked_;
  std::size_t components_;
  std::vector<std::unique_ptr<Terms>> terms_;
  std::vector<std::vector<double>> plain_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> sliding_;
  std::vector<std::vector<double>> bits_;
  PerTensor<std::vector<double>> trips_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> rank_index_;
  std::map<std::tuple<std::size_t, std::size_t, int, Sharing>, std::vector<double>> tables_;
};

}  // namespace mapsim::check
