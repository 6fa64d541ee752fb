// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "costmodel/crossing.hpp"
#include "mapper/graph/boundary_coefficients.hpp"
#include "mapper/graph/extent_lattice.hpp"

namespace mapsim::imperfect {

// A loop of a chain: the extent of its tiles, and whether it is temporal or parallel.
struct Link {
  static constexpr std::size_t kTemporal = static_cast<std::size_t>(-1);
  std::int64_t extent = 1;
  std::size_t fanout = kTemporal;  // index of the used fanout of a parallel loop
  friend auto operator<=>(const Link&, const Link&) = default;
};

// LoopChains: per dim the loops that a nest has so far, outermost first, each chain known by a
// number. A temporal loop is dropped if the extent of the next loop divides its own, since the
// tiles are then the same. So chains that make the same tiles often share a number.
class LoopChains {
 public:
  using Id = std::uint32_t;
  explicit LoopChains(const ExtentLattice& tiles);

  const std::vector<Link>& links(DimId d, Id id) const { return chains_[d][id]; }
  Id none() const { return 0; }
  Id loop(DimId d, Id id, std::int64_t extent);  // adds a temporal loop to `extent`
  Id cross(DimId d, Id id, std::size_t fanout);  // adds the parallel loops of a used fanout
  Id drop_loops(DimId d, Id id);  // drops the temporal loops behind the last parallel one
  std::int64_t extent(DimId d, Id id) const {  // of the tiles in which the chain ends
    const auto& links = chains_[d][id];
    return links.empty() ? tiles_->bound(d) : links.back().extent;
  }

 private:
  Id find(DimId d, std::vector<Link> links);

  const ExtentLattice* tiles_;
  PerDim<std::vector<std::vector<Link>>> chains_;
  PerDim<std::map<std::vector<Link>, Id>> ids_;
};

// The exact flow across a boundary whose tile is `tile`, below given chains: the closed form of
// costmodel/crossing.hpp, with one more loop per dim from the end of its chain to the tile. Returns
// false if the keep is deferred and its tile cannot cross the fanouts. The flow is exact if the
// keep is deferred past no parallel loop over a dim that its tensor lacks, or past one of a dim
// whose tiles are all full. Otherwise it is a lower bound (BoundaryFlow::is_bound).
class ExactFlows {
 public:
  ExactFlows(const Workload& workload, const ExtentLattice& tiles, LoopChains& chains)
      : workload_{workload}, tiles_{tiles}, chains_{chains} {}
  bool at(const BoundaryCoefficients& coefficients, std::size_t tile,
          const PerDim<LoopChains::Id>& ids, SlidingLoop slide, BoundaryFlow& flow);
  // A lower bound of the temporal steps of the first instance over one dim, if its chain goes on
  // straight to extent 1.
  std::int64_t steps(DimId d, LoopChains::Id id);

 private:
  void add_chain(DimId d, LoopChains::Id id);
  void add(DimId d, std::int64_t extent, std::size_t fanout);
  bool divides(DimId d) const;
  bool add_ahead(const BoundaryCoefficients& coefficients, DimId d, bool relevant);
  double volume(const BoundaryCoefficients& coefficients, const exact::Sharing& sharing,
                bool slides);

  const Workload& workload_;
  const ExtentLattice& tiles_;
  LoopChains& chains_;
  std::vector<NestLoop> loops_;
  std::vector<std::size_t> fanouts_;  // per loop: its fanout, or Link::kTemporal
  std::vector<LoopUse> uses_;
  PerDim<std::int64_t> reached_;
  std::size_t moving_ = kNoLoop;
  bool is_bound_ = false;
};

}  // namespace mapsim::imperfect
