// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "costmodel/crossing.hpp"
#include "mapper/graph/boundary_terms.hpp"
#include "mapper/graph/imperfect_tiles.hpp"

namespace mapsim::imperfect {

// What a nest has made of one dim so far: its loops, outermost first.
struct Link {
  static constexpr std::size_t kTemporal = static_cast<std::size_t>(-1);
  std::int64_t extent = 1;
  std::size_t fanout = kTemporal;  // a parallel loop: index of its used fanout
  friend auto operator<=>(const Link&, const Link&) = default;
};

// Chains of loops per dim, each known by a number. Chains that make the same tiles of a dim share
// one as far as that is easily seen: a loop is dropped if the next one's extent divides its own.
class Chains {
 public:
  using Id = std::uint32_t;
  explicit Chains(const Tiles& tiles);

  const std::vector<Link>& links(DimId d, Id id) const { return chains_[d][id]; }
  Id none() const { return 0; }
  Id loop(DimId d, Id id, std::int64_t extent);  // a temporal loop to `extent`
  Id cross(DimId d, Id id, std::size_t fanout);  // the parallel loops of a used fanout
  Id drop_loops(DimId d, Id id);                 // those behind the last parallel one
  std::int64_t extent(DimId d, Id id) const {    // of the tiles that it ends in
    const auto& links = chains_[d][id];
    return links.empty() ? tiles_->bound(d) : links.back().extent;
  }

 private:
  Id find(DimId d, std::vector<Link> links);

  const Tiles* tiles_;
  PerDim<std::vector<std::vector<Link>>> chains_;
  PerDim<std::map<std::vector<Link>, Id>> ids_;
};

// What really crosses when a tensor is placed at `tile` behind chains, by the closed form of
// costmodel/crossing.hpp: one more loop leads from the end of each chain to the tile. False: the
// tensor is placed ahead of fanouts that its tile cannot cross. A flow is only a bound if it is
// placed ahead of fanouts over dims that it does not have, and those may share partial tiles yet.
class ExactFlows {
 public:
  ExactFlows(const Workload& workload, const Tiles& tiles, Chains& chains)
      : workload_{workload}, tiles_{tiles}, chains_{chains} {}
  bool at(const Terms& terms, std::size_t tile, const PerDim<Chains::Id>& ids, Run run,
          BoundaryFlow& flow);
  // Temporal steps of the first instance over one dim, once its chain goes on to 1: at least.
  std::int64_t steps(DimId d, Chains::Id id);

 private:
  void add_chain(DimId d, Chains::Id id);
  void add(DimId d, std::int64_t extent, std::size_t fanout);
  bool divides(DimId d) const;
  bool add_ahead(const Terms& terms, DimId d, bool relevant);
  double volume(const Terms& terms, const exact::Sharing& sharing, bool slides);

  const Workload& workload_;
  const Tiles& tiles_;
  Chains& chains_;
  std::vector<NestLoop> loops_;
  std::vector<std::size_t> fanouts_;  // per loop; Link::kTemporal
  std::vector<LoopUse> uses_;
  PerDim<std::int64_t> reached_;
  std::size_t moving_ = kNoLoop;
  bool is_bound_ = false;
};

}  // namespace mapsim::imperfect
