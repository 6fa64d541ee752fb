// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "check/graph.hpp"
#include "check/rungs.hpp"
#include "check/tolls.hpp"

namespace mapsim::check {

// How the instances of a used fanout above a child count: each, the first one, or as one.
enum class Use : std::uint8_t { kSum, kFirst, kMerge };

// Of a boundary, what it takes to bound its flow, and what that costs.
struct BoundaryUse {
  BoundaryCost cost;
  TensorId tensor{};
  bool slides = false;      // below a loop over a window dim only what is new comes
  bool returns = false;     // sums without a window: those met before come down again
  std::size_t crossed = 0;  // used fanouts crossed when it is made
  std::size_t above = 0;    // used fanouts above the child
  double distinct = 0;      // elements of the tensor
  std::vector<Use> outer, inner, busy_outer, busy_inner;  // per fanout above the child
  std::size_t outer_fanouts = 0;                          // above the outer stand
  double tile_width = 1;                                  // bits of an element in its room
  // `met`: at most so many distinct sums are met, which cross without coming down first.
  EndFlow flow(double crossing, double met) const {
    return {crossing, returns ? std::max(0.0, crossing - met) : 0};
  }
};
BoundaryUse boundary_of(const Graph& graph, const BoundaryEdge& edge, Tracked tracked);

// What edges cost in an imperfect space at least, per tile of bins, whatever loops have led
// there. docs/certificates.md has why.
class Shares {
 public:
  Shares(const Graph& graph, const ExtentBins& bins, Tracked tracked);

  std::size_t components() const { return components_; }
  const BoundaryUse& boundary(std::size_t edge) const { return boundaries_[edge]; }
  // Component k of tile T at [k * tiles + T]. `bits`: of the tiles, as below.
  std::vector<double> plain(std::size_t edge, const std::vector<double>& bits) const;
  // Of a sliding tile right below a loop over `dim` that starts from T, whichever tile it ends in.
  std::vector<double> sliding(std::size_t edge, DimId dim) const;
  // Bits of the tile, per tile, at least; infinite where it does not fit its room alone, or the
  // rules.
  std::vector<double> bits(std::size_t edge) const;
  // Placings into the compute units and the operations themselves.
  std::vector<double> end(const std::vector<std::size_t>& edges) const;

 private:
  std::vector<double> costs(std::size_t edge, std::optional<DimId> run,
                            const std::vector<double>& bits) const;
  std::vector<double> volumes(const BoundaryUse& of, const std::vector<Use>& uses,
                              std::optional<DimId> run, std::size_t tiles) const;
  void multiply_window(const BoundaryUse& of, const Rank& rank, const std::vector<Use>& uses,
                       std::optional<DimId> run, std::vector<double>& values) const;
  std::vector<std::int64_t> tile_extents(const BoundaryEdge& of, DimId d) const;
  double met(const BoundaryUse& of, std::size_t fanouts, bool first) const;

  const Graph& graph_;
  const ExtentBins& bins_;
  Tracked tracked_;
  std::size_t components_;
  std::vector<BoundaryUse> boundaries_;
  std::map<const Rank*, std::vector<std::uint32_t>> index_;  // per tile, of the rank's own bins
};

// Steps of the loops over d that an irrelevant tile is moved by, at least, where tiles of up to
// `extent` hold `size` elements of a dim in all: fanouts from `crossed` on are still to split them.
std::int64_t least_visits(const std::vector<Spread>& spreads, DimId d, std::int64_t size,
                          std::int64_t extent, std::size_t crossed, const std::vector<Use>& uses);

}  // namespace mapsim::check
