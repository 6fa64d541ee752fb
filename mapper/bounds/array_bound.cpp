// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/array_bound.hpp"

#include <algorithm>

namespace mapsim::exact {

namespace {

// Loops cost nothing: a tile takes the least of the tiles to which its loops lead.
void relax(const DivisorLattice& lattice, DimId dim, const DivisorLattice::Loop& loop,
           const double* below, double* row) {
  const std::size_t stride = lattice.stride(dim);
  const std::size_t block = stride * lattice.positions(dim).size();
  for (std::size_t base = 0; base < lattice.size(); base += block) {
    const double* lower = below + base + loop.to * stride;
    double* upper = row + base + loop.from * stride;
    for (std::size_t i = 0; i < stride; ++i) {
      upper[i] = std::min(upper[i], lower[i]);
    }
  }
}

}  // namespace

ArrayBound::ArrayBound(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                       ArrayTime& array, const CompletionBound& bound)
    : graph_{graph},
      unrolled_{unrolled},
      costs_{costs},
      array_{array},
      bound_{bound},
      nodes_{bound.nodes()},
      held_{costs.deadline()} {
  held_.fill(least_, bound.nodes().size(), kInfinity);
  for (std::size_t stage = graph.stages(); stage-- > 0;) {
    for (std::size_t residency = graph.residencies(); residency-- > 0;) {
      if (graph.reachable(stage, residency)) {
        fill({stage, residency});
      }
    }
  }
}

void ArrayBound::fill(const Row& at) {
  if (!array_.may_enter(at.residency)) {
    if (!array_.has_entered(at.residency)) {
      const std::size_t tiles = unrolled_.lattices[graph_.crossed(at.stage)].size();
      std::fill_n(row(at), tiles, array_.without());
    }
    return;
  }
  if (at.stage + 1 < graph_.stages()) {
    cross(at);
  } else if (graph_.end(at.residency) && !array_.has_entered(at.residency)) {
    end(at);
  }
  keep(at);
  for (const StateGraph::SlidingEdge& each : graph_.sliding_edges(at.stage, at.residency)) {
    sliding_edge(at, each);
  }
  loop(at);
}

void ArrayBound::end(const Row& at) {
  for (const std::size_t tile : unrolled_.lattices[graph_.crossed(at.stage)].ones()) {
    row(at)[tile] = array_.without();
  }
}

void ArrayBound::cross(const Row& at) {
  const auto behind = graph_.after_stage(at.stage, at.residency);
  if (!behind) {
    return;
  }
  const double* below = row({at.stage + 1, *behind});
  double* least = row(at);
  if (const auto fanout = graph_.end_of(at.stage).fanout) {
    const std::vector<std::size_t>& crossing = unrolled_.crossings[*fanout];
    std::transform(crossing.begin(), crossing.end(), least,
                   [below](std::size_t tile) { return below[tile]; });
  } else {
    std::copy_n(below, unrolled_.lattices[graph_.crossed(at.stage)].size(), least);
  }
}

void ArrayBound::keep(const Row& at) {
  const std::size_t tiles = unrolled_.lattices[graph_.crossed(at.stage)].size();
  double* least = row(at);
  for (const StateGraph::KeepMove& keep : graph_.keep_moves(at.stage, at.residency)) {
    if (!bound_.is_live(at.stage, keep.target)) {
      continue;
    }
    const bool enters = array_.enters(keep.edge);
    const std::vector<double>& energy = costs_.plain(keep.edge);
    const double* to_go = bound_.row(0, at.stage, keep.target);
    const double* below = row({at.stage, keep.target});
    const double* now = enters ? array_.cycles(keep.edge).data() : below;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const double best = std::min(now[tile], below[tile]);
      const bool leads_on = energy[tile] < kInfinity && to_go[tile] < kInfinity;
      least[tile] = leads_on ? std::min(least[tile], best) : least[tile];
    }
  }
}

void ArrayBound::sliding_edge(const Row& at, const StateGraph::SlidingEdge& sliding_edge) {
  const DivisorLattice& lattice = unrolled_.lattices[graph_.crossed(at.stage)];
  const auto& loops = lattice.loops(sliding_edge.dim);
  const std::size_t rests = lattice.size() / lattice.positions(sliding_edge.dim).size();
  for (std::size_t loop = 0; loop < loops.size(); ++loop) {
    const auto target = graph_.after_loop(at.stage, sliding_edge.target, sliding_edge.dim,
                                          lattice.factor(sliding_edge.dim, loops[loop]));
    if (!target || !bound_.is_live(at.stage, *target)) {
      continue;
    }
    const double* to_go = bound_.row(0, at.stage, *target);
    const double* below = row({at.stage, *target});
    for (std::size_t rest = 0; rest < rests; ++rest) {
      const std::size_t tile = lattice.from_rest(sliding_edge.dim, rest, loops[loop].to);
      if (!(to_go[tile] < kInfinity)) {
        continue;
      }
      double now = below[tile];
      bool fits = true;
      for (const std::size_t edge : sliding_edge.edges) {
        fits = fits && costs_.sliding(edge, sliding_edge.dim)[loop * rests + rest] < kInfinity;
        now = array_.enters(edge) ? std::min(now, array_.cycles(edge)[tile]) : now;
      }
      if (!fits) {
        continue;
      }
      double& least = row(at)[lattice.from_rest(sliding_edge.dim, rest, loops[loop].from)];
      least = std::min(least, now);
    }
  }
}

void ArrayBound::loop(const Row& at) {
  const DivisorLattice& lattice = unrolled_.lattices[graph_.crossed(at.stage)];
  const DimSet locked = graph_.locked(at.stage, at.residency);
  // Loops to other residencies first, which are complete
  for (const bool neutral : {false, true}) {
    for (const DimId d : lattice.ids()) {
      if (locked.contains(d) || graph_.is_neutral(at.stage, at.residency, d) != neutral) {
        continue;
      }
      for (const DivisorLattice::Loop& loop : lattice.steps(d)) {
        const auto target = graph_.after_loop(at.stage, at.residency, d, lattice.factor(d, loop));
        if (target) {
          relax(lattice, d, loop, row({at.stage, *target}), row(at));
        }
      }
    }
  }
}

}  // namespace mapsim::exact
