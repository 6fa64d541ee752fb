// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/rebuild.hpp"

#include <algorithm>

#include "mapper/mapspace/builder.hpp"

namespace mapsim::exact {

namespace {

class Rebuilder {
 public:
  Rebuilder(const StateGraph& graph, const Unrolled& unrolled, const Unrolling& unrolling)
      : graph_{graph}, unrolled_{unrolled}, unrolling_{unrolling} {
    const Workload& workload = graph.problem().workload();
    extents_ = bounds_of(workload);
    if (!graph.space().entry().is_of_branch()) {
      mapping_.nodes.emplace_back(nests::outermost_keep(workload));
    }
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
          cross(before.stage);
          break;
        case Step::Kind::kKeep:
          keep(before, graph_.keep_moves(before.stage, before.residency)[steps[i].move].edge);
          break;
        case Step::Kind::kSlidingEdge: {
          loop(before, steps[i].node);
          const auto& sliding_edge =
              graph_.sliding_edges(before.stage, before.residency)[steps[i].move];
          for (const std::size_t edge : sliding_edge.edges) {
            keep(before, edge);
          }
          break;
        }
      }
    }
    return graph_.space().entry().is_of_branch() ? mapping_
                                                 : canonical(graph_.problem().workload(), mapping_);
  }

 private:
  struct Pending {
    std::size_t stage = 0;
    Keep keep;
  };

  void loop(const Node& from, const Node& to) {
    const DivisorLattice& lattice = unrolled_.lattices[graph_.crossed(from.stage)];
    for (const DimId d : extents_.ids()) {
      const std::int64_t before = lattice.extent(d, from.tile);
      const std::int64_t after = lattice.extent(d, to.tile);
      if (before != after) {
        // The extent includes the factors of fanouts further in
        extents_[d] = extents_[d] / before * after;
        mapping_.nodes.emplace_back(Temporal{d, extents_[d]});
      }
    }
  }

  void keep(const Node& at, std::size_t index) {
    const BoundaryEdge& edge = graph_.edges()[index];
    const Residence& residence = graph_.residences(edge.tensor)[edge.to];
    if (residence.latch) {
      return;  // the register of a compute unit is no node of a mapping
    }
    const Keep keep{residence.level, TensorSet{edge.tensor}};
    if (residence.stage > at.stage) {
      pending_.push_back({residence.stage, keep});
    } else {
      mapping_.nodes.emplace_back(keep);
    }
  }

  void cross(std::size_t stage) {
    if (const auto fanout = graph_.end_of(stage).fanout) {
      for (const Unroll& unroll : unrolling_) {
        if (unroll.fanout == unrolled_.used[*fanout]) {
          extents_[unroll.dim] /= unroll.factor;
          mapping_.nodes.emplace_back(
              Parallel{unroll.dim, extents_[unroll.dim], unroll.fanout, unroll.axis});
        }
      }
    }
    for (const Pending& pending : pending_) {
      if (pending.stage == stage + 1) {
        mapping_.nodes.emplace_back(pending.keep);
      }
    }
  }

  const StateGraph& graph_;
  const Unrolled& unrolled_;
  const Unrolling& unrolling_;
  PerDim<std::int64_t> extents_;
  std::vector<Pending> pending_;
  Mapping mapping_;
};

// Merges the loops over a dim between two keeps or fanouts into the innermost one, for spaces with
// one_loop_per_dim. The search covers the wider space, which loses nothing: moving a loop inwards
// to the next loop over its dim adds no access. Tiles that stay while the inner loop runs now stay
// for both, a window slides on, and all other loops stand between the same two tiles as before.
Mapping with_one_loop_per_dim(const Mapping& mapping) {
  Mapping merged;
  DimSet inner;
  for (auto node = mapping.nodes.rbegin(); node != mapping.nodes.rend(); ++node) {
    const auto* loop = std::get_if<Temporal>(&*node);
    if (loop != nullptr && inner.contains(loop->dim)) {
      continue;
    }
    inner = loop != nullptr ? inner | DimSet{loop->dim} : DimSet{};
    merged.nodes.push_back(*node);
  }
  std::reverse(merged.nodes.begin(), merged.nodes.end());
  return merged;
}

}  // namespace

Mapping rebuild(const StateGraph& graph, const Unrolled& unrolled, const Unrolling& unrolling,
                const std::vector<Step>& steps) {
  const Mapping mapping = Rebuilder(graph, unrolled, unrolling).follow(steps);
  return graph.space().constraints().one_loop_per_dim ? with_one_loop_per_dim(mapping) : mapping;
}

}  // namespace mapsim::exact
