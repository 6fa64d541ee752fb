// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "check/boundary_use.hpp"
#include "check/edge_costs.hpp"
#include "check/geometry.hpp"
#include "check/nonzeros.hpp"

namespace mapsim::check {

// The exact costs of the edges of a case with perfect factors, by the formulas of docs/model.md.
class PerfectCosts : public EdgeCosts {
 public:
  PerfectCosts(const Graph& graph, const BlockedUnrolling& at, const Lattice& lattice,
               Tracked tracked);
  ~PerfectCosts() override;

 private:
  struct Volume;
  struct Coefficients;
  struct Window;
  struct End;
  struct Network;
  class Charger;

  // A loop over `dim` that starts at this extent, with the tile sliding along it; by default no
  // loop.
  struct Step {
    std::size_t dim = static_cast<std::size_t>(-1);
    std::int64_t from = 1;
  };

  std::vector<double> make_bits(std::size_t edge) override;
  std::vector<double> make_plain(std::size_t edge) override;
  std::vector<double> make_sliding(std::size_t edge, DimId dim) override;
  std::vector<double> make_last(std::size_t edge) override;
  const Coefficients& coefficients(std::size_t edge);
  Coefficients make_coefficients(std::size_t edge);
  void add_met(const BoundaryEdge& edge, Coefficients& made);
  void add_networks(const BoundaryEdge& edge, bool together, Coefficients& made);
  double networks_pj(const Coefficients& of, double entering, double visits, std::size_t tile,
                     const Step& step) const;
  Volume volume_of(TensorId t, const std::vector<Use>& uses, const Sharing& sharing, int what);
  Volume make_volume(TensorId t, std::size_t crossed, const std::vector<Use>& uses, bool together);
  Volume make_met(TensorId t, std::size_t crossed, const std::vector<Use>& uses, std::size_t above);
  // `what`: one of these, or a term of the rank, along which the tile slides (gained_points()).
  static constexpr int kUnited = -3;      // united_points(): of the largest entry
  static constexpr int kMeanUnited = -2;  // mean_united_points()
  static constexpr int kMet = -1;         // met_points()
  const std::vector<double>& table(TensorId t, std::size_t rank, int what, const Sharing& sharing);
  const std::vector<std::uint32_t>& rank_index(TensorId t, std::size_t rank);
  const std::vector<double>& visits(TensorId t);
  // Tiles that a tensor's boundaries do not tell apart have one number: they differ only along dims
  // that are ranks of their own, over which elements that cross are neither more nor fewer.
  struct Alike {
    std::vector<std::uint32_t> number;  // per tile
    std::size_t count = 1;
  };
  const Alike& alike(TensorId t);
  bool allows(TensorId t, const Residence& residence, std::size_t tile) const;
  void multiply_points(const BoundaryEdge& edge, std::size_t r, std::size_t above,
                       std::vector<double>& values);
  double volume(const Volume& of, double visits, std::size_t tile, const Step& step) const;
  void charge(const Coefficients& of, double visits, std::size_t tile, const Step& step,
              double* out, std::size_t stride);
  FlowOfNonzeros nonzeros_of(const Coefficients& of, std::size_t tile);
  PerDim<std::int64_t> extents_at(std::size_t above, std::size_t tile) const;

  const BlockedUnrolling& at_;
  std::optional<NonzeroFlows> nonzeros_;  // of a machine that exploits zeros
  std::vector<std::unique_ptr<Coefficients>> coefficients_;
  PerTensor<std::vector<double>> visits_;
  PerTensor<Alike> alike_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> rank_index_;
  std::map<std::tuple<std::size_t, std::size_t, int, Sharing>, std::vector<double>> tables_;
};

}  // namespace mapsim::check
