// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/bound.hpp"

#include <algorithm>

#include "mapper/exact/prices.hpp"

namespace mapsim::exact {

std::optional<Node> cross(const Skeleton& skeleton, const Unrolled& unrolled, const Node& node) {
  const auto pointers = skeleton.after_event(node.phase, node.pointers);
  if (!pointers) {
    return std::nullopt;
  }
  const auto fanout = skeleton.event_after(node.phase).fanout;
  return Node{node.phase + 1, *pointers,
              fanout ? unrolled.crossings[*fanout][node.tile] : node.tile};
}

NodeIndex::NodeIndex(const Skeleton& skeleton, const Unrolled& unrolled)
    : pointers_{skeleton.pointers()}, rows_(skeleton.phases() * skeleton.pointers(), 0) {
  for (std::size_t phase = 0; phase < skeleton.phases(); ++phase) {
    for (std::size_t pointers = 0; pointers < pointers_; ++pointers) {
      if (skeleton.reachable(phase, pointers)) {
        rows_[phase * pointers_ + pointers] = size_;
        size_ += unrolled.lattices[skeleton.crossed(phase)].size();
      }
    }
  }
}

namespace {

// row[from] = min(.., costs + below[to]) for a run of the lattice over `dim`; its costs begin at
// `entry`.
void relax_run(const Lattice& lattice, DimId dim, const Lattice::Run& run,
               const std::vector<const double*>& costs, std::size_t entry, const double* below,
               double* row) {
  const std::size_t stride = lattice.stride(dim);
  const std::size_t block = stride * lattice.positions(dim).size();
  for (std::size_t base = 0; base < lattice.size(); base += block) {
    const double* lower = below + base + run.to * stride;
    double* upper = row + base + run.from * stride;
    for (std::size_t i = 0; i < stride; ++i, ++entry) {
      double value = lower[i];
      for (const double* cost : costs) {
        value += cost[entry];
      }
      upper[i] = std::min(upper[i], value);
    }
  }
}

// A loop costs nothing: the value of a tile is the least over the tiles that loops lead to.
void relax_neutral(const Lattice& lattice, DimId dim, double* row) {
  const std::size_t stride = lattice.stride(dim);
  const std::size_t block = stride * lattice.positions(dim).size();
  for (std::size_t base = 0; base < lattice.size(); base += block) {
    for (const Lattice::Run& run : lattice.primes(dim)) {
      double* upper = row + base + run.from * stride;
      const double* lower = row + base + run.to * stride;
      for (std::size_t i = 0; i < stride; ++i) {
        upper[i] = std::min(upper[i], lower[i]);
      }
    }
  }
}

}  // namespace

template <class CostTables>
Bound::Bound(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs)
    : nodes_(skeleton, unrolled), to_go_(costs.components()) {
  for (std::size_t component = 0; component < costs.components(); ++component) {
    to_go_[component].assign(nodes_.size(), kInfinity);
    fill(skeleton, unrolled, costs, component);
  }
}

// What the nodes behind the event that ends the phase have to go.
void Bound::copy_behind(const Skeleton& skeleton, const Unrolled& unrolled, std::size_t phase,
                        std::size_t pointers, double* to_go) const {
  const auto behind = skeleton.after_event(phase, pointers);
  if (!behind) {
    return;
  }
  const std::size_t tiles = unrolled.lattices[skeleton.crossed(phase)].size();
  double* row = to_go + nodes_.row(phase, pointers);
  const double* next = to_go + nodes_.row(phase + 1, *behind);
  if (const auto fanout = skeleton.event_after(phase).fanout) {
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      row[tile] = next[unrolled.crossings[*fanout][tile]];
    }
  } else {
    std::copy_n(next, tiles, row);
  }
}

// Loops that lead to other pointers, which have been bounded before, then those that do not.
void Bound::relax_loops(const Skeleton& skeleton, const Lattice& lattice, std::size_t phase,
                        std::size_t pointers, double* to_go) const {
  double* row = to_go + nodes_.row(phase, pointers);
  const DimSet frozen = skeleton.frozen(phase, pointers);
  DimSet neutral;
  for (std::size_t i = 0; i < lattice.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (frozen.contains(d)) {
      continue;
    }
    if (skeleton.is_neutral(phase, pointers, d)) {
      neutral.insert(d);
      continue;
    }
    for (const Lattice::Run& run : lattice.primes(d)) {
      const auto target = skeleton.after_loop(phase, pointers, d, lattice.factor(d, run));
      if (target) {
        relax_run(lattice, d, run, {}, 0, to_go + nodes_.row(phase, *target), row);
      }
    }
  }
  for (std::size_t i = 0; i < lattice.dims(); ++i) {
    if (neutral.contains(static_cast<DimId>(i))) {
      relax_neutral(lattice, static_cast<DimId>(i), row);
    }
  }
}

// Inside out: later phases first, and within one the pointers that moves lead to.
template <class CostTables>
void Bound::fill(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs,
                 std::size_t component) {
  double* to_go = to_go_[component].data();
  for (std::size_t phase = skeleton.phases(); phase-- > 0;) {
    const Lattice& lattice = unrolled.lattices[skeleton.crossed(phase)];
    for (std::size_t pointers = skeleton.pointers(); pointers-- > 0;) {
      if (!skeleton.reachable(phase, pointers)) {
        continue;
      }
      double* row = to_go + nodes_.row(phase, pointers);
      if (phase + 1 < skeleton.phases()) {
        copy_behind(skeleton, unrolled, phase, pointers, to_go);
      } else if (const auto& end = skeleton.end(pointers)) {
        for (const std::size_t tile : lattice.ones()) {
          row[tile] = costs.mac(*end, tile)[component];
        }
      }
      for (const Skeleton::Place& place : skeleton.places(phase, pointers)) {
        const double* below = to_go + nodes_.row(phase, place.target);
        const double* cost = &costs.plain(place.placing)[component * lattice.size()];
        for (std::size_t tile = 0; tile < lattice.size(); ++tile) {
          row[tile] = std::min(row[tile], cost[tile] + below[tile]);
        }
      }
      for (const Skeleton::Jump& jump : skeleton.jumps(phase, pointers)) {
        const auto& runs = lattice.runs(jump.dim);
        const std::size_t rests = lattice.size() / lattice.positions(jump.dim).size();
        std::vector<const double*> sum;
        for (const std::size_t placing : jump.placings) {
          const std::vector<double>& cost = costs.sliding(placing, jump.dim);
          sum.push_back(cost.data() + cost.size() / costs.components() * component);
        }
        for (std::size_t run = 0; run < runs.size(); ++run) {
          const auto target = skeleton.after_loop(phase, jump.target, jump.dim,
                                                  lattice.factor(jump.dim, runs[run]));
          if (target) {
            relax_run(lattice, jump.dim, runs[run], sum, run * rests,
                      to_go + nodes_.row(phase, *target), row);
          }
        }
      }
      relax_loops(skeleton, lattice, phase, pointers, to_go);
    }
  }
}

template Bound::Bound(const Skeleton&, const Unrolled&, Costs&);
template Bound::Bound(const Skeleton&, const Unrolled&, PricedCosts&);

}  // namespace mapsim::exact
