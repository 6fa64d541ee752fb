// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/tensor_bound.hpp"

#include <algorithm>

namespace mapsim::exact {

TensorBound::TensorBound(const StateGraph& graph, const Unrolled& unrolled, TensorId t,
                         double operations, const Deadline* deadline)
    : held_{deadline},
      graph_{graph},
      unrolled_{unrolled},
      tensor_{t},
      moves_{graph.moves(t)},
      operations_{operations},
      least_(graph.stages(), std::vector<double>(residences().size(), kInfinity)) {
  std::size_t entries = 0;
  std::size_t longest = 0;
  for (std::size_t stage = 0; stage < graph.stages(); ++stage) {
    first_.push_back(entries);
    entries += lattice(stage).size() * residences().size();
    longest = std::max(longest, lattice(stage).size());
  }
  held_.fill(to_go_, entries, kInfinity);
  held_.fill(nowhere_, longest, kInfinity);
}

void TensorBound::find_to_go(EdgeCosts& costs) {
  for (std::size_t stage = graph_.stages(); stage-- > 0;) {
    find_to_go(stage, costs);
  }
}

void TensorBound::find_cost_so_far(EdgeCosts& costs) {
  held_.fill(so_far_, to_go_.size(), kInfinity);
  for (std::size_t stage = 0; stage < graph_.stages(); ++stage) {
    find_cost_so_far(stage, costs);
    for (std::size_t residence = 0; residence < residences().size(); ++residence) {
      least_[stage][residence] =
          least_sum(so_far(stage, residence), to_go(stage, residence), lattice(stage).size());
    }
  }
}

// StateGraph::locked() for this tensor alone.
DimSet TensorBound::locked(std::size_t stage, std::size_t residence) const {
  return residences()[residence].stage > stage ? graph_.problem().workload().tensors[tensor_].dims()
                                               : DimSet{};
}

// Reuses the memory that is already allocated.
void TensorBound::make_halfway(std::size_t stage) {
  const DivisorLattice& tiles = lattice(stage);
  halfway_.resize(std::max(halfway_.size(), residences().size()), PerDim<Halfway>(tiles.dims()));
  for (std::size_t residence = 0; residence < residences().size(); ++residence) {
    for (const DimId d : moves_.slides) {
      Halfway& loops = halfway_[residence][d];
      const std::size_t size = tiles.loops(d).size() * (tiles.size() / tiles.positions(d).size());
      held_.fill(loops.values, size, 0.0);
      loops.values.resize(size);
      loops.known = false;
      held_.fill(nowhere_, size, kInfinity);
    }
  }
}

// Extends sliding-window edges by one more boundary edge: those under way (`in`), and those that
// begin or end at the row.
void TensorBound::extend(const DivisorLattice& tiles, DimId dim, LoopEnd end, const double* row,
                         const Halfway& in, const std::vector<double>& cost, Halfway& out) const {
  extend_loops(tiles, dim, end, row, in.known ? in.values.data() : nowhere_.data(), cost.data(),
               out.values.data(), out.known);
  out.known = true;
}

void TensorBound::copy_behind(std::size_t stage, EdgeCosts& costs) {
  const bool last = stage + 1 == graph_.stages();
  for (std::size_t residence = 0; residence < residences().size(); ++residence) {
    double* here = &to_go_[row(stage, residence)];
    if (last && moves_.ends[residence]) {
      for (const std::size_t tile : lattice(stage).ones()) {
        const std::size_t access = moves_.accesses[residence];
        here[tile] = access == TensorMoves::kNone ? 0 : costs.mac({access}, tile)[0] - operations_;
      }
    } else if (!last) {
      const double* next = to_go(stage + 1, residence);
      const auto fanout = graph_.end_of(stage).fanout;
      lattice(stage).in_pieces([&](std::size_t first, std::size_t end) {
        for (std::size_t tile = first; tile < end; ++tile) {
          here[tile] = next[fanout ? unrolled_.crossings[*fanout][tile] : tile];
        }
      });
    }
  }
}

// From the innermost residence outwards. A sliding-window edge may keep the tensor at several
// residences in turn.
void TensorBound::find_to_go(std::size_t stage, EdgeCosts& costs) {
  copy_behind(stage, costs);
  const DivisorLattice& tiles = lattice(stage);
  make_halfway(stage);
  for (std::size_t residence = residences().size(); residence-- > 0;) {
    held_.check();
    double* here = &to_go_[row(stage, residence)];
    for (const TensorMoves::Edge& edge : moves_.edges[stage]) {
      if (edge.from != residence || costs.is_left_out(edge.edge)) {
        continue;
      }
      const double* below = to_go(stage, edge.to);
      take_least_sum(here, below, costs.plain(edge.edge).data(), tiles.size());
      for (const DimId d : moves_.slides) {
        extend(tiles, d, LoopEnd::kTo, below, halfway_[edge.to][d], costs.sliding(edge.edge, d),
               halfway_[residence][d]);
      }
    }
    const DimSet fixed = locked(stage, residence);
    for (const DimId d : moves_.slides) {
      if (halfway_[residence][d].known && !fixed.contains(d)) {
        end_loops(tiles, d, LoopEnd::kFrom, halfway_[residence][d].values.data(), here);
      }
    }
    for (const DimId d : tiles.ids()) {
      if (!fixed.contains(d)) {
        relax_neutral(tiles, d, here);
      }
    }
  }
}

void TensorBound::copy_before(std::size_t stage) {
  for (std::size_t residence = 0; residence < residences().size(); ++residence) {
    double* here = &so_far_[row(stage, residence)];
    const Residence& at = residences()[residence];
    if (stage == 0) {
      here[lattice(0).size() - 1] =
          !at.latch && at.level == graph_.space().entry().source(tensor_) ? 0 : kInfinity;
      continue;
    }
    const double* before = so_far(stage - 1, residence);
    const auto fanout = graph_.end_of(stage - 1).fanout;
    lattice(stage - 1).in_pieces([&](std::size_t first, std::size_t end) {
      for (std::size_t tile = first; tile < end; ++tile) {
        double& there = here[fanout ? unrolled_.crossings[*fanout][tile] : tile];
        there = std::min(there, before[tile]);
      }
    });
  }
}

// From the outermost residence inwards.
void TensorBound::find_cost_so_far(std::size_t stage, EdgeCosts& costs) {
  copy_before(stage);
  const DivisorLattice& tiles = lattice(stage);
  make_halfway(stage);
  for (std::size_t residence = 0; residence < residences().size(); ++residence) {
    held_.check();
    double* here = &so_far_[row(stage, residence)];
    const DimSet fixed = locked(stage, residence);
    for (const DimId d : moves_.slides) {
      if (halfway_[residence][d].known) {
        end_loops(tiles, d, LoopEnd::kTo, halfway_[residence][d].values.data(), here);
      }
    }
    for (const DimId d : tiles.ids()) {
      if (!fixed.contains(d)) {
        spread_neutral(tiles, d, here);
      }
    }
    for (const TensorMoves::Edge& edge : moves_.edges[stage]) {
      if (edge.from != residence || costs.is_left_out(edge.edge)) {
        continue;
      }
      take_least_sum(&so_far_[row(stage, edge.to)], here, costs.plain(edge.edge).data(),
                     tiles.size());
      for (const DimId d : moves_.slides) {
        extend(tiles, d, LoopEnd::kFrom, fixed.contains(d) ? nowhere_.data() : here,
               halfway_[residence][d], costs.sliding(edge.edge, d), halfway_[edge.to][d]);
      }
    }
  }
}

}  // namespace mapsim::exact
