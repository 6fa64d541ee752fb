// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/rebuild.hpp"

#include <utility>

#include "mapper/nests/builder.hpp"

namespace mapsim::balanced {

using exact::Node;
using exact::Skeleton;
using exact::Step;

namespace {

class Rebuilder {
 public:
  Rebuilder(const Skeleton& skeleton, const Tiles& tiles) : skeleton_{skeleton}, tiles_{tiles} {
    mapping_.nodes.emplace_back(nests::outermost_keep(skeleton.problem().workload()));
  }

  Mapping follow(const std::vector<Step>& steps) {
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const Node& before = steps[i - 1].node;
      switch (steps[i].kind) {
        case Step::Kind::kStart:
        case Step::Kind::kEnd:
          break;
        case Step::Kind::kLoop:
          loop(before.tile, steps[i].node.tile);
          break;
        case Step::Kind::kCross:
          cross(before);
          break;
        case Step::Kind::kPlace:
          place(before, skeleton_.places(before.phase, before.pointers)[steps[i].move].placing);
          break;
        case Step::Kind::kJump:
          loop(before.tile, steps[i].node.tile);
          for (const std::size_t placing :
               skeleton_.jumps(before.phase, before.pointers)[steps[i].move].placings) {
            place(before, placing);
          }
          break;
      }
    }
    return canonical(skeleton_.problem().workload(), mapping_);
  }

 private:
  void loop(std::size_t from, std::size_t to) {
    for (std::size_t i = 0; i < tiles_.dims(); ++i) {
      const auto d = static_cast<DimId>(i);
      if (tiles_.digit(d, from) != tiles_.digit(d, to)) {
        mapping_.nodes.emplace_back(Temporal{d, tiles_.extent(d, to)});
      }
    }
  }

  void place(const Node& at, std::size_t index) {
    const exact::Placing& placing = skeleton_.placings()[index];
    const exact::Stop& stop = skeleton_.stops(placing.tensor)[placing.to];
    if (stop.latch) {
      return;  // the compute unit's own; no node
    }
    const Keep keep{stop.level, TensorSet{placing.tensor}};
    if (stop.phase > at.phase) {
      pending_.emplace_back(stop.phase, keep);
    } else {
      mapping_.nodes.emplace_back(keep);
    }
  }

  void cross(const Node& at) {
    if (const auto fanout = skeleton_.event_after(at.phase).fanout) {
      PerDim<std::int64_t> extents(tiles_.dims());
      for (const DimId d : extents.ids()) {
        extents[d] = tiles_.extent(d, at.tile);
      }
      for (const Unroll& unroll : tiles_.unrolls(*fanout)) {
        std::int64_t& extent = extents[unroll.dim];
        extent = (extent + unroll.factor - 1) / unroll.factor;
        mapping_.nodes.emplace_back(Parallel{unroll.dim, extent, unroll.fanout, unroll.axis});
      }
    }
    for (const auto& [phase, keep] : pending_) {
      if (phase == at.phase + 1) {
        mapping_.nodes.emplace_back(keep);
      }
    }
  }

  const Skeleton& skeleton_;
  const Tiles& tiles_;
  std::vector<std::pair<std::size_t, Keep>> pending_;  // placed ahead: for the phase that they name
  Mapping mapping_;
};

}  // namespace

Mapping rebuild(const Skeleton& skeleton, const Tiles& tiles, const std::vector<Step>& steps) {
  return Rebuilder(skeleton, tiles).follow(steps);
}

}  // namespace mapsim::balanced
