// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/rebuild.hpp"

#include "mapper/nests/builder.hpp"

namespace mapsim::exact {

namespace {

class Rebuilder {
 public:
  Rebuilder(const Skeleton& skeleton, const Unrolled& unrolled, const Unrolling& unrolling)
      : skeleton_{skeleton}, unrolled_{unrolled}, unrolling_{unrolling} {
    const Workload& workload = skeleton.problem().workload();
    extents_ = bounds_of(workload);
    mapping_.nodes.emplace_back(nests::outermost_keep(workload));
  }

  Mapping follow(const std::vector<Step>& steps) {
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const Node& before = steps[i - 1].node;
      switch (steps[i].kind) {
        case Step::Kind::kStart:
        case Step::Kind::kEnd:
          break;
        case Step::Kind::kLoop:
          loop(before, steps[i].node);
          break;
        case Step::Kind::kCross:
          cross(before.phase);
          break;
        case Step::Kind::kPlace:
          place(before, skeleton_.places(before.phase, before.pointers)[steps[i].move].placing);
          break;
        case Step::Kind::kJump: {
          loop(before, steps[i].node);
          const auto& jump = skeleton_.jumps(before.phase, before.pointers)[steps[i].move];
          for (const std::size_t placing : jump.placings) {
            place(before, placing);
          }
          break;
        }
      }
    }
    return canonical(skeleton_.problem().workload(), mapping_);
  }

 private:
  struct Pending {
    std::size_t phase = 0;
    Keep keep;
  };

  void loop(const Node& from, const Node& to) {
    const Lattice& lattice = unrolled_.lattices[skeleton_.crossed(from.phase)];
    for (const DimId d : extents_.ids()) {
      const std::int64_t before = lattice.extent(d, from.tile);
      const std::int64_t after = lattice.extent(d, to.tile);
      if (before != after) {
        extents_[d] = extents_[d] / before * after;  // the factors of fanouts below stay in it
        mapping_.nodes.emplace_back(Temporal{d, extents_[d]});
      }
    }
  }

  void place(const Node& at, std::size_t index) {
    const Placing& placing = skeleton_.placings()[index];
    const Stop& stop = skeleton_.stops(placing.tensor)[placing.to];
    if (stop.latch) {
      return;  // the compute unit's own; no node
    }
    const Keep keep{stop.level, TensorSet{placing.tensor}};
    if (stop.phase > at.phase) {
      pending_.push_back({stop.phase, keep});
    } else {
      mapping_.nodes.emplace_back(keep);
    }
  }

  void cross(std::size_t phase) {
    if (const auto fanout = skeleton_.event_after(phase).fanout) {
      for (const Unroll& unroll : unrolling_) {
        if (unroll.fanout == unrolled_.used[*fanout]) {
          extents_[unroll.dim] /= unroll.factor;
          mapping_.nodes.emplace_back(
              Parallel{unroll.dim, extents_[unroll.dim], unroll.fanout, unroll.axis});
        }
      }
    }
    for (const Pending& pending : pending_) {
      if (pending.phase == phase + 1) {
        mapping_.nodes.emplace_back(pending.keep);
      }
    }
  }

  const Skeleton& skeleton_;
  const Unrolled& unrolled_;
  const Unrolling& unrolling_;
  PerDim<std::int64_t> extents_;
  std::vector<Pending> pending_;
  Mapping mapping_;
};

}  // namespace

Mapping rebuild(const Skeleton& skeleton, const Unrolled& unrolled, const Unrolling& unrolling,
                const std::vector<Step>& steps) {
  return Rebuilder(skeleton, unrolled, unrolling).follow(steps);
}

}  // namespace mapsim::exact
