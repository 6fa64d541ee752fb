// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/sparse_costs.hpp"

#include <map>

#include "costmodel/sparse/conditions.hpp"

namespace mapsim::exact {

namespace {

// The extents of a tile below `fanouts` used fanouts.
PerDim<std::int64_t> extents_of(const Unrolled& unrolled, const DivisorLattice& lattice,
                                std::size_t tile, std::size_t fanouts) {
  PerDim<std::int64_t> extents(lattice.dims());
  for (const DimId d : extents.ids()) {
    extents[d] = lattice.extent(d, tile);
    for (std::size_t f = fanouts; f < unrolled.used.size(); ++f) {
      extents[d] *= unrolled.factors[f][d];
    }
  }
  return extents;
}

std::vector<std::int64_t> key_of(const PerDim<std::int64_t>& extents) {
  return {extents.begin(), extents.end()};
}

class FlowMaker {
 public:
  FlowMaker(const StateGraph& graph, const Unrolled& unrolled, const BoundaryEdge& edge)
      : model_{*graph.problem().sparse()},
        workload_{graph.problem().workload()},
        edge_{edge},
        parent_{graph.residences(edge.tensor)[edge.from]},
        mac_{edge.to == BoundaryEdge::kMac},
        fanouts_{mac_ ? unrolled.used.size() : graph.residences(edge.tensor)[edge.to].fanouts},
        shared_(workload_.dims.size(), 1) {
    const bool latch = !mac_ && graph.residences(edge.tensor)[edge.to].latch;
    if (!mac_ && !latch) {
      child_ = graph.residences(edge.tensor)[edge.to].level;
    }
    for (std::size_t f = parent_.fanouts; f < fanouts_; ++f) {
      for (const DimId d : shared_.ids()) {
        shared_[d] *=
            graph.problem().is_merged(unrolled.used[f], edge.tensor) ? unrolled.factors[f][d] : 1;
      }
    }
  }

  std::size_t fanouts() const { return fanouts_; }
  bool depends_on_tile() const {
    return model_.has_conditions() || !model_.is_constant(parent_.level, edge_.tensor) ||
           (child_ && !model_.is_constant(*child_, edge_.tensor));
  }

  FlowOfNonzeros make(PerDim<std::int64_t> extents) const {
    const TensorId t = edge_.tensor;
    const TileShape tile = tile_shape(workload_.tensors[t], extents);
    FlowOfNonzeros flow;
    flow.parent = model_.moved(parent_.level, t, tile);
    flow.child = child_ ? model_.moved(*child_, t, tile) : MovedShare{};
    for (const DimId d : extents.ids()) {
      extents[d] *= shared_[d];
    }
    double unskipped = 1;
    for (const BoundCondition& condition : model_.conditions(parent_.level, t)) {
      const double hit = 1 - model_.occupancy(condition.leader)
                                 .empty(tile_shape(workload_.tensors[condition.leader], extents));
      flow.made *= hit;
      unskipped *= condition.act == ZeroAct::kSkip ? hit : 1;
    }
    const auto idle = [&](LevelId level) {
      const StorageSparsity& zeros = model_.machine().levels[level];
      return zeros.gated.count() * (unskipped - flow.made) +
             zeros.skipped.count() * (1 - unskipped);
    };
    flow.parent_idle_pj = idle(parent_.level);
    flow.child_idle_pj = child_ ? idle(*child_) : 0;
    return flow;
  }

 private:
  const SparseModel& model_;
  const Workload& workload_;
  const BoundaryEdge& edge_;
  const Residence& parent_;
  bool mac_;
  std::size_t fanouts_;
  PerDim<std::int64_t> shared_;  // instances that share a transfer
  std::optional<LevelId> child_;
};

}  // namespace

FlowsByTile::FlowsByTile(const StateGraph& graph, const Unrolled& unrolled,
                         const BoundaryEdge& edge) {
  const FlowMaker maker{graph, unrolled, edge};
  if (!maker.depends_on_tile()) {
    return;
  }
  const DivisorLattice& lattice = unrolled.lattices[edge.crossed];
  std::map<std::vector<std::int64_t>, std::uint32_t> known;
  for (std::size_t tile = 0; tile < lattice.size(); ++tile) {
    const PerDim<std::int64_t> extents = extents_of(unrolled, lattice, tile, maker.fanouts());
    const auto [at, fresh] =
        known.try_emplace(key_of(extents), static_cast<std::uint32_t>(flows_.size()));
    if (fresh) {
      flows_.push_back(maker.make(extents));
    }
    index_.push_back(at->second);
  }
}

std::vector<double> stored_bits(const StateGraph& graph, const Unrolled& unrolled,
                                const BoundaryEdge& edge, Bits width) {
  const DivisorLattice& lattice = unrolled.lattices[edge.crossed];
  const Residence& residence = graph.residences(edge.tensor)[edge.to];
  const Tensor& tensor = graph.problem().workload().tensors[edge.tensor];
  std::map<TileShape, double> known;
  std::vector<double> bits;
  for (std::size_t tile = 0; tile < lattice.size(); ++tile) {
    const TileShape shape =
        tile_shape(tensor, extents_of(unrolled, lattice, tile, residence.fanouts));
    const auto [at, fresh] = known.try_emplace(shape, 0);
    if (fresh) {
      at->second = residence.latch ? static_cast<double>(points_of(shape) * width.count())
                                   : graph.problem().sparse()->stored_bits(
                                         residence.level, edge.tensor, shape, width);
    }
    bits.push_back(at->second);
  }
  return bits;
}

}  // namespace mapsim::exact
