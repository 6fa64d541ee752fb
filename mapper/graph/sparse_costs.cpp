// SPDX-License-Identifier: Apache-2.0
#include "mapper/graph/sparse_costs.hpp"

#include <map>
#include <tuple>
#include <utility>

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

// Numbers the tiles of a lattice by their positions along some dims only.
class PositionsAlong {
 public:
  PositionsAlong(const DivisorLattice& lattice, DimSet dims) : lattice_{lattice} {
    for (const DimId d : lattice.ids()) {
      if (dims.contains(d)) {
        dims_.push_back(d);
        size_ *= lattice.positions(d).size();
      }
    }
  }
  std::size_t size() const { return size_; }
  std::size_t of(std::size_t tile) const {
    std::size_t number = 0;
    for (const DimId d : dims_) {
      number = number * lattice_.positions(d).size() + lattice_.digit(d, tile);
    }
    return number;
  }

 private:
  const DivisorLattice& lattice_;
  std::vector<DimId> dims_;
  std::size_t size_ = 1;
};

// Calls fresh(tile, number) for the first tile of each number, and each(number) for all tiles.
// Throws OutOfBudget once the time of `within` is over.
template <class Fresh, class Each>
void for_each_tile(const DivisorLattice& lattice, const PositionsAlong& positions,
                   const HeldMemory& within, const Fresh& fresh, const Each& each) {
  constexpr std::size_t kTilesBetweenChecks = 1024;
  std::vector<bool> known(positions.size(), false);
  for (std::size_t tile = 0; tile < lattice.size(); ++tile) {
    const std::size_t number = positions.of(tile);
    if (!known[number] || tile % kTilesBetweenChecks == 0) {
      within.check();
    }
    if (!known[number]) {
      known[number] = true;
      fresh(tile, number);
    }
    each(number);
  }
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
    const DimSet apart = dims_apart(workload_.tensors[edge.tensor]);
    for (std::size_t f = parent_.fanouts; f < fanouts_; ++f) {
      for (const DimId d : shared_.ids()) {
        const bool serves =
            graph.problem().is_merged(unrolled.used[f], edge.tensor) && !apart.contains(d);
        shared_[d] *= serves ? unrolled.factors[f][d] : 1;
      }
    }
  }

  std::size_t fanouts() const { return fanouts_; }
  bool depends_on_tile() const {
    return model_.has_conditions() || !model_.is_constant(parent_.level, edge_.tensor) ||
           (child_ && !model_.is_constant(*child_, edge_.tensor));
  }

  // Dims on which the flow depends.
  DimSet dims() const {
    DimSet dims = workload_.tensors[edge_.tensor].dims();
    for (const BoundCondition& condition : model_.conditions(parent_.level, edge_.tensor)) {
      dims = dims | workload_.tensors[condition.leader].dims();
    }
    return dims;
  }

  FlowOfNonzeros make(PerDim<std::int64_t> extents) {
    const TensorId t = edge_.tensor;
    FlowOfNonzeros flow;
    std::tie(flow.parent, flow.child) = moved(tile_shape(workload_.tensors[t], extents));
    for (const DimId d : extents.ids()) {
      extents[d] *= shared_[d];
    }
    for (const BoundCondition& condition : model_.conditions(parent_.level, t)) {
      const TensorId leader = condition.leader;
      const double hit = 1 - empty(leader, tile_shape(workload_.tensors[leader], extents));
      flow.made *= hit;
      flow.unskipped *= condition.act == ZeroAct::kSkip ? hit : 1;
    }
    const auto idle = [&](LevelId level) {
      const StorageSparsity& zeros = model_.machine().levels[level];
      return zeros.gated.count() * (flow.unskipped - flow.made) +
             zeros.skipped.count() * (1 - flow.unskipped);
    };
    flow.parent_idle_pj = idle(parent_.level);
    flow.child_idle_pj = child_ ? idle(*child_) : 0;
    return flow;
  }

 private:
  // Many tiles differ only in dims that do not index the tensor.
  std::pair<MovedShare, MovedShare> moved(const TileShape& tile) {
    const auto [at, fresh] = moved_.try_emplace(tile);
    if (fresh) {
      at->second.first = child_ ? model_.moved(parent_.level, edge_.tensor, tile)
                                : model_.taken(parent_.level, edge_.tensor);
      at->second.second = child_ ? model_.moved(*child_, edge_.tensor, tile) : MovedShare{};
    }
    return at->second;
  }
  double empty(TensorId leader, const TileShape& tile) {
    const auto [at, fresh] = empty_.try_emplace({leader, tile});
    if (fresh) {
      at->second = model_.occupancy(leader).empty(tile);
    }
    return at->second;
  }

  const SparseModel& model_;
  const Workload& workload_;
  const BoundaryEdge& edge_;
  const Residence& parent_;
  bool mac_;
  std::size_t fanouts_;
  PerDim<std::int64_t> shared_;  // instances that share a transfer
  std::optional<LevelId> child_;
  std::map<TileShape, std::pair<MovedShare, MovedShare>> moved_;
  std::map<std::pair<TensorId, TileShape>, double> empty_;
};

}  // namespace

FlowsByTile::FlowsByTile(const StateGraph& graph, const Unrolled& unrolled,
                         const BoundaryEdge& edge, HeldMemory& within) {
  FlowMaker maker{graph, unrolled, edge};
  if (!maker.depends_on_tile()) {
    return;
  }
  const DivisorLattice& lattice = unrolled.lattices[edge.crossed];
  const PositionsAlong positions(lattice, maker.dims());
  std::vector<std::uint32_t> flow(positions.size());
  within.take(lattice.size() * sizeof(std::uint32_t));
  index_.reserve(lattice.size());
  for_each_tile(
      lattice, positions, within,
      [&](std::size_t tile, std::size_t number) {
        flow[number] = static_cast<std::uint32_t>(flows_.size());
        flows_.push_back(maker.make(extents_of(unrolled, lattice, tile, maker.fanouts())));
      },
      [&](std::size_t number) { index_.push_back(flow[number]); });
}

std::vector<double> stored_bits(const StateGraph& graph, const Unrolled& unrolled,
                                const BoundaryEdge& edge, Bits width, const HeldMemory& within) {
  const DivisorLattice& lattice = unrolled.lattices[edge.crossed];
  const Residence& residence = graph.residences(edge.tensor)[edge.to];
  const Tensor& tensor = graph.problem().workload().tensors[edge.tensor];
  const PositionsAlong positions(lattice, tensor.dims());
  std::vector<double> stored(positions.size());
  std::vector<double> bits;
  bits.reserve(lattice.size());
  for_each_tile(
      lattice, positions, within,
      [&](std::size_t tile, std::size_t number) {
        const TileShape shape =
            tile_shape(tensor, extents_of(unrolled, lattice, tile, residence.fanouts));
        stored[number] = residence.latch ? static_cast<double>(points_of(shape) * width.count())
                                         : graph.problem().sparse()->stored_bits(
                                               residence.level, edge.tensor, shape, width);
      },
      [&](std::size_t number) { bits.push_back(stored[number]); });
  return bits;
}

}  // namespace mapsim::exact
