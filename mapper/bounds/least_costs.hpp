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
#include "mapper/graph/boundary_terms.hpp"
#include "mapper/graph/imperfect_tiles.hpp"
#include "mapper/graph/tile_counts.hpp"

namespace mapsim::imperfect {

// What edges cost at least with imperfect factors, whatever the loops outside them: every loop
// leads from the bound straight to its tile, so that it makes the fewest tiles: no chain of loops
// to the same tile costs less (docs/decisions/0008-imperfect-factors.md). In a coarse lattice a bin
// costs what its largest extent does and fits if its smallest one does: the number of tiles never
// grows with an extent, footprints never shrink. The points of a window P + R, summed over n x m
// tiles, are P m + R n - n m: they grow with n, as m <= R, and with m, as n <= P.
class LeastCosts {
 public:
  // `terms`: of each edge. Tables are counted within the deadline: else OutOfBudget.
  LeastCosts(const exact::StateGraph& graph, const Tiles& tiles, const std::vector<Terms>& terms,
             std::size_t components, const Deadline& deadline);
  using Row = std::vector<double>;

  std::size_t components() const { return components_; }
  // Of an edge at every tile, [component * tiles + tile]: infinite where the tile does not fit.
  // Given the dim of a run, the index is the tile from which the run starts; the tile below may be
  // any that fits.
  const Row& costs(std::size_t edge, std::size_t run);
  // The same at single tiles, whether or not they fit.
  struct Table {
    const double* values = nullptr;
    const Projection* seen = nullptr;
    double at(std::size_t tile) const { return values[seen->of_tile(tile)]; }
  };
  Table table(std::size_t edge, std::size_t run, std::size_t component);
  // Bits that the tile of an edge takes; infinite where a rule forbids it.
  Table bits(std::size_t edge);
  // What it may take at most, a finite number.
  double limit(std::size_t edge) const {
    return std::min(terms_[edge].limit, std::numeric_limits<double>::max());
  }
  // Makes a row infinite where the tile of an edge does not fit.
  void keep_fitting(std::size_t edge, double* row);
  // Makes every table that moves use, so that threads may ask for them.
  void prepare();
  // The tables of all tiles go.
  void forget_tables();
  // What crosses at least when a tensor is placed at a tile, after a run or without one, given what
  // is known of how many tiles there were.
  BoundaryFlow least(std::size_t edge, std::size_t tile, Run run, const Counts& counts,
                     const PerDim<Counts::Id>& known) const;

 private:
  std::optional<Allowed> allowed(std::size_t edge, DimId d) const;
  const Projection& projection(TensorId t);
  const Projection& footprint_projection(TensorId t);
  const Projection& make_projection(std::optional<Projection>& projection, DimSet dims);
  const Row& charged(std::size_t edge, std::size_t run);
  const Row& footprint(std::size_t edge);
  const Row& flow(TensorId t, const exact::Sharing& sharing, std::size_t run);
  std::int64_t visits(DimId d, std::int64_t extent, const exact::Sharing& sharing) const;
  std::int64_t together(DimId d, const exact::Sharing& sharing) const;
  void multiply_visits(TensorId t, const exact::Sharing& sharing, Row& flow);
  double window(const Rank& rank, const exact::Sharing& sharing, std::size_t run,
                const std::array<std::size_t, 2>& bins) const;
  template <class Value>
  void multiply(const exact::TileIndex& tiles, const Rank& rank, Row& row,
                const Value& value) const;
  double crossing(TensorId t, const exact::Sharing& sharing, std::size_t run, std::size_t tile,
                  const Counts& counts, const PerDim<Counts::Id>& known) const;
  struct Met {
    double parent = 0, child = 0, busy_parent = 0, busy_child = 0;
  };
  Met met(const Terms& terms) const;
  static double least_reduction_energy(const Terms& terms, const Met& met,
                                       const BoundaryFlow& flow);
  static BoundaryFlow bound(const Terms& terms, const Met& met, BoundaryFlow flow);
  double constant(TensorId t, const exact::Sharing& sharing) const;
  double met(TensorId t, const exact::Sharing& sharing) const;
  void grow(Row& row, std::size_t size, double value);

  const exact::StateGraph& graph_;
  const Tiles& tiles_;
  const std::vector<Terms>& terms_;
  std::size_t components_;
  Held held_;
  std::map<std::tuple<std::size_t, std::size_t>, Row> costs_;
  PerTensor<std::optional<Projection>> projections_, footprint_projections_;
  // On the projections of their tensors.
  std::map<std::tuple<std::size_t, std::size_t>, Row> charged_;
  std::map<std::tuple<TensorId, exact::Sharing, std::size_t>, Row> flows_;
  std::vector<Row> footprints_;
};

}  // namespace mapsim::imperfect
