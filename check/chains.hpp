// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "check/rungs.hpp"
#include "check/shares.hpp"

namespace mapsim::check {

// A loop over a dim: temporal, or of a used fanout. Parallel ones of one fanout stand together.
struct Link {
  static constexpr std::size_t kTime = static_cast<std::size_t>(-1);
  std::int64_t extent = 1;
  std::size_t fanout = kTime;  // index of a used one
  friend auto operator<=>(const Link&, const Link&) = default;
};
using Chain = std::vector<Link>;

// `chain` with one more temporal loop. A loop right above whose extent is a multiple makes no
// difference and goes.
Chain with_loop(Chain chain, std::int64_t extent);
// ... with the parallel loops of a used fanout over the dim.
Chain with_spread(Chain chain, const Spread& spread, std::size_t fanout, DimId d,
                  std::int64_t extent);

// How many tiles of which size a chain leaves of a dim.
using Leaves = std::map<std::int64_t, std::int64_t>;
// Of instances that count each (kSum) or as the first one; `uses` per used fanout.
Leaves leaves_of(std::int64_t bound, const Chain& chain, const std::vector<Use>& uses);

// What a boundary moves below these chains: exactly, but for fanouts that are still to come and for
// windows that instances share, where it is at least so much. `start`: below a loop over that dim,
// the chain of which ends where the loop starts; no dim: none.
class ChainCounts {
 public:
  ChainCounts(const Graph& graph, const ExtentBins& bins) : graph_{graph}, bins_{bins} {}
  BoundaryFlow flow(const BoundaryUse& of, const PerDim<Chain>& chains,
                    std::optional<DimId> start = std::nullopt) const;
  // Steps of the first instance, at least.
  double steps(const PerDim<Chain>& chains, std::size_t crossed) const;

 private:
  double volume(const BoundaryUse& of, const std::vector<Use>& uses, const PerDim<Chain>& chains,
                std::optional<DimId> start) const;
  double window(const BoundaryUse& of, const Rank& rank, const std::vector<Use>& uses,
                const PerDim<Chain>& chains, std::optional<DimId> start) const;
  double additions(const BoundaryUse& of, const PerDim<Chain>& chains) const;
  double share(const BoundaryUse& of, std::size_t firsts, const PerDim<Chain>& chains) const;

  const Graph& graph_;
  const ExtentBins& bins_;
};

}  // namespace mapsim::check
