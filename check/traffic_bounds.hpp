// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "check/boundary_use.hpp"
#include "check/edge_costs.hpp"

namespace mapsim::check {

// Lower bounds of the costs of edges with imperfect factors, over all loops that may lead to the
// tile. docs/certificates.md gives the argument.
class TrafficBounds : public EdgeCosts {
 public:
  TrafficBounds(const Graph& graph, const Lattice& lattice, Tracked tracked);

 private:
  std::vector<double> make_bits(std::size_t edge) override;
  std::vector<double> make_plain(std::size_t edge) override;
  std::vector<double> make_sliding(std::size_t edge, DimId dim) override;
  std::vector<double> make_last(std::size_t edge) override;
  // Per tile of `bits`. `run`: right below a loop over that dim, which starts at the tile.
  std::vector<double> costs(std::size_t edge, std::optional<DimId> run,
                            const std::vector<double>& bits) const;
  std::vector<double> volumes(const BoundaryUse& of, const std::vector<Use>& uses,
                              std::optional<DimId> run, std::size_t tiles) const;
  void multiply_window(const BoundaryUse& of, const Rank& rank, const std::vector<Use>& uses,
                       std::optional<DimId> run, std::vector<double>& values) const;
  std::vector<std::int64_t> tile_extents(const BoundaryEdge& of, DimId d) const;
  double met(const BoundaryUse& of, std::size_t fanouts, bool first) const;

  std::vector<BoundaryUse> boundaries_;  // per edge
  // Per tile, the number of its bins of the rank's own dims
  std::map<const Rank*, std::vector<std::uint32_t>> index_;
};

// A lower bound of the visits of a tile along dim d, which does not move it: `size` elements of the
// dim are cut into tiles of up to `extent`, and the fanouts from `crossed` on are still to split
// them.
std::int64_t least_visits(const std::vector<ParallelLoops>& fanouts, DimId d, std::int64_t size,
                          std::int64_t extent, std::size_t crossed, const std::vector<Use>& uses);

}  // namespace mapsim::check
