// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "check/boundary_use.hpp"
#include "check/lattice.hpp"

namespace mapsim::check {

// A loop over a dim: temporal, or parallel over a used fanout. Parallel loops of one fanout are
// adjacent.
struct ChainLoop {
  static constexpr std::size_t kTime = static_cast<std::size_t>(-1);
  std::int64_t extent = 1;
  std::size_t fanout = kTime;  // index of the used fanout
  friend auto operator<=>(const ChainLoop&, const ChainLoop&) = default;
};
using Chain = std::vector<ChainLoop>;

// `chain` with one more temporal loop. A temporal loop right above is dropped if its extent is a
// multiple, since it does not change the tiles.
Chain with_loop(Chain chain, std::int64_t extent);
// `chain` with the parallel loops of a used fanout over the dim.
Chain with_fanout(Chain chain, const ParallelLoops& loops, std::size_t fanout, DimId d,
                  std::int64_t extent);

// The tiles into which a chain cuts a dim: how many there are of each size.
using Leaves = std::map<std::int64_t, std::int64_t>;
// Counts the tiles of all instances (kSum) or of the first one only; `uses`: per used fanout.
Leaves leaves_of(std::int64_t bound, const Chain& chain, const std::vector<Use>& uses);

// The flow across an edge, below the loop chains of all dims. It is exact, except for fanouts that
// are still to be crossed and for windows that instances share, where it is a lower bound.
class LoopChains {
 public:
  LoopChains(const Graph& graph, const Lattice& lattice, Tracked tracked);
  const BoundaryUse& boundary(std::size_t edge) const { return boundaries_[edge]; }
  // `start`: the edge is right below a loop over that dim, and the dim's chain ends where the loop
  // starts. nullopt: no such loop.
  BoundaryFlow flow(std::size_t edge, const std::vector<Chain>& chains,
                    std::optional<DimId> start = std::nullopt) const;
  // A lower bound of the steps of the first instance.
  double steps(const std::vector<Chain>& chains, std::size_t crossed) const;

 private:
  double volume(const BoundaryUse& of, const std::vector<Use>& uses,
                const std::vector<Chain>& chains, std::optional<DimId> start) const;
  double window(const BoundaryUse& of, const Rank& rank, const std::vector<Use>& uses,
                const std::vector<Chain>& chains, std::optional<DimId> start) const;
  double additions(const BoundaryUse& of, const std::vector<Chain>& chains) const;
  double share(const BoundaryUse& of, std::size_t firsts, const std::vector<Chain>& chains) const;

  const Graph& graph_;
  const Lattice& lattice_;
  std::vector<BoundaryUse> boundaries_;  // per edge
};

}  // namespace mapsim::check
