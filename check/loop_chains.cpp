// SPDX-License-Identifier: Apache-2.0
#include "check/loop_chains.hpp"

#include <algorithm>
#include <array>

#include "check/geometry.hpp"
#include "check/traffic_bounds.hpp"
#include "core/arithmetic.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

namespace {

std::int64_t extent_of(const Chain& chain, std::int64_t bound) {
  return chain.empty() ? bound : chain.back().extent;
}

}  // namespace

Chain with_loop(Chain chain, std::int64_t extent) {
  while (!chain.empty() && chain.back().fanout == ChainLoop::kTime &&
         chain.back().extent % extent == 0) {
    chain.pop_back();
  }
  chain.push_back({extent});
  return chain;
}

Chain with_fanout(Chain chain, const ParallelLoops& loops, std::size_t fanout, DimId d,
                  std::int64_t extent) {
  for (const auto& [dim, instances] : loops.loops) {
    if (dim == d) {
      extent = ceil_div(extent, instances);
      chain.push_back({extent, fanout});
    }
  }
  return chain;
}

Leaves leaves_of(std::int64_t bound, const Chain& chain, const std::vector<Use>& uses) {
  Leaves leaves{{bound, 1}};
  for (const ChainLoop& loop : chain) {
    Leaves inner;
    const bool first = loop.fanout != ChainLoop::kTime && uses[loop.fanout] != Use::kSum;
    for (const auto& [size, count] : leaves) {
      if (first) {
        inner[std::min(size, loop.extent)] += count;
        continue;
      }
      if (size >= loop.extent) {
        inner[loop.extent] += count * (size / loop.extent);
      }
      if (size % loop.extent > 0) {
        inner[size % loop.extent] += count;
      }
    }
    leaves = std::move(inner);
  }
  return leaves;
}

LoopChains::LoopChains(const Graph& graph, const Lattice& lattice, Tracked tracked)
    : graph_{graph}, lattice_{lattice} {
  for (const BoundaryEdge& edge : graph.edges()) {
    boundaries_.push_back(boundary_of(graph, edge, tracked));
  }
}

// Elements along the dims that are alone in their rank; for the first instance at least its share.
double LoopChains::share(const BoundaryUse& of, std::size_t firsts,
                         const std::vector<Chain>& chains) const {
  std::vector<Use> uses(lattice_.fanouts().size(), Use::kSum);
  std::fill_n(uses.begin(), firsts, Use::kFirst);
  double share = 1;
  for (const Rank& rank : graph_.problem().workload().tensors[of.tensor].ranks) {
    if (rank.terms.size() != 1) {
      continue;
    }
    const DimId d = rank.terms.front().dim;
    double elements = 0;
    for (const auto& [size, count] : leaves_of(lattice_.bound(d), chains[index_of(d)], uses)) {
      elements += static_cast<double>(size * count);
    }
    for (std::size_t f = of.crossed; f < firsts; ++f) {
      elements /= static_cast<double>(lattice_.fanouts()[f].factor(d));
    }
    share *= elements;
  }
  return share;
}

double LoopChains::window(const BoundaryUse& of, const Rank& rank, const std::vector<Use>& uses,
                          const std::vector<Chain>& chains, std::optional<DimId> start) const {
  // Per dim: how many coordinates along it are present at once, and how often.
  std::array<Leaves, 2> tiles;
  double shares = 1;
  bool apart = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const DimId d = rank.terms[i].dim;
    std::int64_t block = extent_of(chains[index_of(d)], lattice_.bound(d));
    std::int64_t shared = 1;
    for (std::size_t f = 0; f < uses.size(); ++f) {
      const ParallelLoops& loops = lattice_.fanouts()[f];
      if (f < of.crossed) {
        shared *= uses[f] == Use::kMerge ? loops.factor(d) : 1;
      } else if (uses[f] != Use::kMerge) {
        block = start == d ? block : loops.block(d, block);
        shares *= uses[f] == Use::kFirst ? static_cast<double>(loops.factor(d)) : 1.0;
      }
    }
    apart = apart || shared > 1;
    // Instances that share have at most so many, and together all elements of the dim
    if (shared > 1) {
      const std::int64_t most = std::min(lattice_.bound(d), shared * block);
      double all = 0;
      std::vector<Use> each(uses);
      std::replace(each.begin(), each.end(), Use::kMerge, Use::kSum);
      for (const auto& [size, count] : leaves_of(lattice_.bound(d), chains[index_of(d)], each)) {
        all += static_cast<double>(size * count);
      }
      const auto elements = static_cast<std::int64_t>(all);
      tiles[i][most] += elements / most;
      if (elements % most > 0) {
        ++tiles[i][elements % most];
      }
      continue;
    }
    for (const auto& [size, count] : leaves_of(lattice_.bound(d), chains[index_of(d)], uses)) {
      tiles[i][std::min(size, block)] += count * (size >= block ? size / block : 1);
      if (size > block && size % block > 0) {
        tiles[i][size % block] += count;
      }
    }
  }
  double points = 0;
  PerDim<std::int64_t> extents(kMaxDims, 1);
  for (const auto& [a, times_a] : tiles[0]) {
    for (const auto& [b, times_b] : tiles[1]) {
      extents[rank.terms[0].dim] = a;
      extents[rank.terms[1].dim] = b;
      const std::int64_t here = apart ? a + b - 1 : count_coordinates(rank, extents);
      points += static_cast<double>(times_a * times_b) * static_cast<double>(here);
    }
  }
  return points / shares;
}

double LoopChains::volume(const BoundaryUse& of, const std::vector<Use>& uses,
                          const std::vector<Chain>& chains, std::optional<DimId> start) const {
  const Workload& workload = graph_.problem().workload();
  const Tensor& tensor = workload.tensors[of.tensor];
  const DimSet relevant = tensor.dims();
  const auto firsts = static_cast<std::size_t>(
      std::find_if(uses.begin(), uses.end(), [](Use use) { return use != Use::kFirst; }) -
      uses.begin());
  double volume = share(of, firsts, chains);
  // Fanouts that the chains have, but that lie further in than the boundary
  std::vector<Use> padded = uses;
  padded.resize(lattice_.fanouts().size(), Use::kSum);
  for (const Rank& rank : tensor.ranks) {
    if (rank.terms.size() == 2) {
      volume *= window(of, rank, uses, chains, start);
    } else if (rank.terms.size() > 2) {
      volume *= static_cast<double>(count_coordinates(rank, bounds_of(workload)));
      for (std::size_t f = 0; f < firsts; ++f) {
        for (const Term& term : rank.terms) {
          volume /= static_cast<double>(lattice_.fanouts()[f].factor(term.dim));
        }
      }
    }
  }
  std::vector<Use> known = uses;  // fanouts that the chain has already
  std::fill_n(known.begin(), of.crossed, Use::kSum);
  for (const DimId d : workload.dims.ids()) {
    if (relevant.contains(d)) {
      continue;
    }
    const std::int64_t tile = extent_of(chains[index_of(d)], lattice_.bound(d));
    double visits = 0;
    for (const auto& [size, count] : leaves_of(lattice_.bound(d), chains[index_of(d)], padded)) {
      visits += static_cast<double>(
          count * least_visits(lattice_.fanouts(), d, size, tile, of.crossed, known));
    }
    volume *= visits;
  }
  return volume;
}

// What enters each fanout that adds sums, less what leaves it, where all of them have been crossed.
double LoopChains::additions(const BoundaryUse& of, const std::vector<Chain>& chains) const {
  std::vector<Use> uses = of.inner;
  double energy = 0;
  double entering = volume(of, uses, chains, std::nullopt);
  for (std::size_t f = of.above; f-- > of.outer_fanouts;) {
    if (of.outer[f] == Use::kMerge) {
      uses[f] = Use::kMerge;
      const double leaving = volume(of, uses, chains, std::nullopt);
      energy += graph_.problem().addition_energy(graph_.used()[f]).count() * (entering - leaving);
      entering = leaving;
    }
  }
  return energy;
}

BoundaryFlow LoopChains::flow(std::size_t edge, const std::vector<Chain>& chains,
                              std::optional<DimId> start) const {
  const BoundaryUse& of = boundaries_[edge];
  double met_outer = 0;
  double met_inner = 0;
  BoundaryFlow flow;
  flow.is_bound = true;
  if (of.returns) {
    const DimSet relevant = graph_.problem().workload().tensors[of.tensor].dims();
    const auto instances = [&](std::size_t fanouts) {
      double product = 1;
      for (std::size_t f = 0; f < fanouts; ++f) {
        for (const auto& [dim, count] : lattice_.fanouts()[f].loops) {
          product *= relevant.contains(dim) ? 1.0 : static_cast<double>(count);
        }
      }
      return product;
    };
    met_outer = share(of, 0, chains) * instances(of.outer_fanouts);
    met_inner = share(of, 0, chains) * instances(of.above);
  }
  const auto met_busy = [&](std::size_t firsts) {
    return of.returns ? share(of, firsts, chains) : 0;
  };
  flow.parent = of.flow(volume(of, of.outer, chains, start), met_outer);
  flow.child = of.flow(volume(of, of.inner, chains, start), met_inner);
  if (of.returns) {
    flow.networks_pj = of.crossed == of.above
                           ? additions(of, chains)
                           : of.additions_pj(flow.child.crossing, flow.parent.crossing);
  }
  flow.busy_parent = of.flow(volume(of, of.busy_outer, chains, start), met_busy(of.outer_fanouts));
  flow.busy_child = of.flow(volume(of, of.busy_inner, chains, start), met_busy(of.above));
  return flow;
}

double LoopChains::steps(const std::vector<Chain>& chains, std::size_t crossed) const {
  const std::vector<Use> uses(lattice_.fanouts().size(), Use::kFirst);
  double product = 1;
  for (const DimId d : graph_.problem().workload().dims.ids()) {
    std::int64_t instances = 1;
    for (std::size_t f = crossed; f < lattice_.fanouts().size(); ++f) {
      instances *= lattice_.fanouts()[f].factor(d);
    }
    std::int64_t steps = 0;
    for (const auto& [size, count] : leaves_of(lattice_.bound(d), chains[index_of(d)], uses)) {
      steps += count * ceil_div(size, instances);
    }
    product *= static_cast<double>(steps);
  }
  return product;
}

}  // namespace mapsim::check
