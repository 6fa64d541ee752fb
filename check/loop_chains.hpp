// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "check/boundary_use.hpp"
#include "check/lattice.hpp"

namespace mapsim::check {

// A loop over a dim: temporal, or of a used fanout. Parallel ones of one fanout stand together.
struct ChainLoop {
  static constexpr std::size_t kTime = static_cast<std::size_t>(-1);
  std::int64_t extent = 1;
  std::size_t fanout = kTime;  // index of a used one
  friend auto operator<=>(const ChainLoop&, const ChainLoop&) = default;
};
using Chain = std::vector<ChainLoop>;

// `chain` with one more temporal loop. A loop right above whose extent is a multiple makes no
// difference and goes.
Chain with_loop(Chain chain, std::int64_t extent);
// ... with the parallel loops of a used fanout over the dim.
Chain with_fanout(Chain chain, const ParallelLoops& loops, std::size_t fanout, DimId d,
                  std::int64_t extent);

// How many tiles of which size a chain leaves of a dim.
using Leaves = std::map<std::int64_t, std::int64_t>;
// Of instances that count each (kSum) or as the first one; `uses` per used fanout.
Leaves leaves_of(std::int64_t bound, const Chain& chain, const std::vector<Use>& uses);

// What an edge moves below the chains of all dims: exactly, but for fanouts that are still to come
// and for windows that instances share, where it is at least so much.
class LoopChains {
 public:
  LoopChains(const Graph& graph, const Lattice& lattice, Tracked tracked);
  const BoundaryUse& boundary(std::size_t edge) const { return boundaries_[edge]; }
  // `start`: right below a loop over that dim, the chain of which ends where the loop starts; no
  // dim: none.
  BoundaryFlow flow(std::size_t edge, const std::vector<Chain>& chains,
                    std::optional<DimId> start = std::nullopt) const;
  // Steps of the first instance, at least.
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
