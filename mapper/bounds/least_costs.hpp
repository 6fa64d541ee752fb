// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "mapper/deadline.hpp"
#include "mapper/graph/boundary_coefficients.hpp"
#include "mapper/graph/extent_lattice.hpp"
#include "mapper/graph/tile_counts.hpp"

namespace mapsim::imperfect {

// The least cost of each edge with imperfect factors, over all loops that may stand outside of it.
//
// The least cost is that of a single loop per dim, from the bound straight to the tile: it makes
// the fewest tiles, so no chain of loops to the same tile costs less
// (docs/decisions/0008-imperfect-factors.md).
//
// In a coarse lattice a bin costs as much as its largest extent, and fits if its smallest extent
// does. Both only lower the cost, because a larger extent never makes more tiles, and a smaller one
// never needs more capacity. The points of a window P + R, summed over n x m tiles, are P m + R n -
// n m; they grow with n, as m <= R, and with m, as n <= P.
class LeastCosts {
 public:
  // `coefficients`: of each edge. Tables count towards the deadline's memory: OutOfBudget is thrown
  // beyond it.
  LeastCosts(const exact::StateGraph& graph, const ExtentLattice& tiles,
             const std::vector<BoundaryCoefficients>& coefficients, std::size_t components,
             const Deadline& deadline);
  using Row = std::vector<double>;

  std::size_t components() const { return components_; }
  // The cost of an edge at every tile: [component * tiles + tile]. With `slide` =
  // SlidingLoop::kNone it is infinite where the tile does not fit. With a dim as `slide` it is the
  // cost right below a loop over that dim: indexed by the tile where the loop starts, valid for
  // every tile where it may end; the capacity is not tested.
  const Row& costs(std::size_t edge, std::size_t slide);
  // The same values at single tiles, whether or not they fit.
  struct Table {
    const double* values = nullptr;
    const Projection* seen = nullptr;
    double at(std::size_t tile) const { return values[seen->of_tile(tile)]; }
  };
  Table table(std::size_t edge, std::size_t slide, std::size_t component);
  // Bits of capacity that the tile of an edge takes; infinite where a rule forbids the tile.
  Table bits(std::size_t edge);
  // The bits that it may take; finite.
  double limit(std::size_t edge) const {
    return std::min(coefficients_[edge].limit, std::numeric_limits<double>::max());
  }
  // Sets the entries of a row to infinity where the tile of an edge does not fit.
  void keep_fitting(std::size_t edge, double* row);
  // Makes all tables of edges in moves. Afterwards threads may read them at once.
  void prepare();
  // Frees the tables over all tiles; those over projections stay.
  void forget_tables();
  // The least flow across the boundary of an edge at a tile, right below the loop `slide` if there
  // is one, given the tile counts that a label knows.
  BoundaryFlow least(std::size_t edge, std::size_t tile, SlidingLoop slide,
                     const TileCounts& counts, const PerDim<TileCounts::Id>& known) const;

 private:
  std::optional<Allowed> allowed(std::size_t edge, DimId d) const;
  const Projection& projection(TensorId t);
  const Projection& footprint_projection(TensorId t);
  const Projection& make_projection(std::optional<Projection>& projection, DimSet dims);
  const Row& charged(std::size_t edge, std::size_t slide);
  const Row& footprint(std::size_t edge);
  const Row& flow(TensorId t, const exact::Sharing& sharing, std::size_t slide);
  std::int64_t visits(DimId d, std::int64_t extent, const exact::Sharing& sharing) const;
  std::int64_t together(DimId d, const exact::Sharing& sharing) const;
  void multiply_visits(TensorId t, const exact::Sharing& sharing, Row& flow);
  double window(const Rank& rank, const exact::Sharing& sharing, std::size_t slide,
                const std::array<std::size_t, 2>& bins) const;
  template <class Value>
  void multiply(const exact::TileIndex& tiles, const Rank& rank, Row& row,
                const Value& value) const;
  double crossing(TensorId t, const exact::Sharing& sharing, std::size_t slide, std::size_t tile,
                  const TileCounts& counts, const PerDim<TileCounts::Id>& known) const;
  struct Met {
    double parent = 0, child = 0, busy_parent = 0, busy_child = 0;
  };
  Met met(const BoundaryCoefficients& coefficients) const;
  static double least_reduction_energy(const BoundaryCoefficients& coefficients, const Met& met,
                                       const BoundaryFlow& flow);
  static BoundaryFlow bound(const BoundaryCoefficients& coefficients, const Met& met,
                            BoundaryFlow flow);
  double constant(TensorId t, const exact::Sharing& sharing) const;
  double met(TensorId t, const exact::Sharing& sharing) const;
  void grow(Row& row, std::size_t size, double value);

  const exact::StateGraph& graph_;
  const ExtentLattice& tiles_;
  const std::vector<BoundaryCoefficients>& coefficients_;
  std::size_t components_;
  HeldMemory held_;
  std::map<std::tuple<std::size_t, std::size_t>, Row> costs_;
  PerTensor<std::optional<Projection>> projections_, footprint_projections_;
  // Tables over the projection onto the dims on which the values of their tensor depend.
  std::map<std::tuple<std::size_t, std::size_t>, Row> charged_;
  std::map<std::tuple<TensorId, exact::Sharing, std::size_t>, Row> flows_;
  std::vector<Row> footprints_;
};

}  // namespace mapsim::imperfect
