// SPDX-License-Identifier: Apache-2.0
#include "mapper/balanced/relaxation.hpp"

#include <algorithm>

namespace mapsim::balanced {

using exact::kInfinity;
using exact::Node;
using exact::Skeleton;

Relaxation::Relaxation(const Skeleton& skeleton, const Tiles& tiles, const Gates& gates,
                       const std::vector<Terms>& terms, std::size_t components,
                       const Patience& patience)
    : skeleton_{skeleton},
      tiles_{tiles},
      gates_{gates},
      terms_{terms},
      components_{components},
      rows_(skeleton.phases() * skeleton.pointers(), 0),
      to_go_(components),
      bits_(terms.size()) {
  for (std::size_t phase = 0; phase < skeleton.phases(); ++phase) {
    for (std::size_t pointers = 0; pointers < skeleton.pointers(); ++pointers) {
      if (skeleton.reachable(phase, pointers)) {
        rows_[phase * skeleton.pointers() + pointers] = nodes_;
        nodes_ += tiles.size();
      }
    }
  }
  for (std::size_t component = 0; component < components && complete_; ++component) {
    to_go_[component].assign(nodes_, kInfinity);
    complete_ = fill(component, patience);
  }
  costs_.clear();
  flows_.clear();
}

// Inside out: later phases first, and within one the pointers that moves lead to.
// False: patience is over.
bool Relaxation::fill(std::size_t component, const Patience& patience) {
  for (std::size_t phase = skeleton_.phases(); phase-- > 0;) {
    for (std::size_t pointers = skeleton_.pointers(); pointers-- > 0;) {
      if (skeleton_.reachable(phase, pointers) && !fill_row(component, phase, pointers, patience)) {
        return false;
      }
    }
  }
  return true;
}

// False: patience is over, which is asked after each pass over the tiles: of a large lattice one
// takes a good part of a second.
bool Relaxation::fill_row(std::size_t component, std::size_t phase, std::size_t pointers,
                          const Patience& patience) {
  double* to_go = to_go_[component].data();
  double* row = to_go + this->row(phase, pointers);
  const std::size_t tiles = tiles_.size();
  if (phase + 1 < skeleton_.phases()) {
    relax_event(component, phase, pointers, row);
  } else {
    relax_end(component, pointers, row);
  }
  for (const Skeleton::Place& place : skeleton_.places(phase, pointers)) {
    if (patience.over()) {
      return false;
    }
    const double* below = to_go + this->row(phase, place.target);
    const double* cost = &costs(place.placing, Run::kNone)[component * tiles];
    const double* taken = bits(place.placing).data();
    const double limit = terms_[place.placing].limit;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      const double value =
          taken[tile] <= limit && taken[tile] < kInfinity ? cost[tile] + below[tile] : kInfinity;
      row[tile] = std::min(row[tile], value);
    }
  }
  for (const Skeleton::Jump& jump : skeleton_.jumps(phase, pointers)) {
    if (patience.over()) {
      return false;
    }
    const auto target = skeleton_.after_loop(phase, jump.target, jump.dim, 1);
    relax_jump(component, jump, to_go + this->row(phase, *target), row);
  }
  relax_loops(component, phase, pointers, row);
  return !patience.over();
}

void Relaxation::relax_event(std::size_t component, std::size_t phase, std::size_t pointers,
                             double* row) const {
  const auto behind = skeleton_.after_event(phase, pointers);
  if (!behind) {
    return;
  }
  const double* below = to_go_[component].data() + this->row(phase + 1, *behind);
  std::copy_n(below, tiles_.size(), row);
  if (skeleton_.ends_region(phase)) {
    gates_.close_beginnings(phase + 1, row);
  }
  if (const auto fanout = skeleton_.event_after(phase).fanout) {
    relax_crossing(*fanout, row);
  }
  if (skeleton_.ends_region(phase)) {
    gates_.close_ends(phase, row);
  }
}

void Relaxation::relax_end(std::size_t component, std::size_t pointers, double* row) {
  const auto& end = skeleton_.end(pointers);
  if (!end) {
    return;
  }
  row[0] = component == 0 ? skeleton_.problem().mac_energy().count() *
                                static_cast<double>(skeleton_.problem().macs())
                          : 0.0;
  for (const std::size_t placing : *end) {
    row[0] += costs(placing, Run::kNone)[component * tiles_.size()];
  }
}

// Loops that lead to a later group of the region's order go first: what lies behind them is done.
void Relaxation::relax_loops(std::size_t component, std::size_t phase, std::size_t pointers,
                             double* row) const {
  const DimSet frozen = skeleton_.frozen(phase, pointers);
  DimSet staying;
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    const auto target = skeleton_.after_loop(phase, pointers, d, 1);
    if (frozen.contains(d) || !target) {
      continue;
    }
    if (*target == pointers) {
      staying.insert(d);
      continue;
    }
    const double* below = to_go_[component].data() + this->row(phase, *target);
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t rung, std::size_t first, std::size_t last) {
      const std::size_t step = tiles_.is_shared(d, rung) ? 0 : stride;
      for (std::size_t tile = first; tile < last && rung > 0; ++tile) {
        row[tile] = std::min(row[tile], below[tile - step]);
      }
    });
  }
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    if (staying.contains(static_cast<DimId>(i))) {
      relax_loops(static_cast<DimId>(i), row);
    }
  }
}

// The least of what lies behind: of a coarse lattice, of all rungs that the extents may lead to.
void Relaxation::relax_crossing(std::size_t fanout, double* row) const {
  Row behind(row, row + tiles_.size());
  if (!tiles_.is_coarse()) {
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
      const std::size_t crossed = tiles_.cross(fanout, tile);
      row[tile] = crossed == Tiles::kNone ? kInfinity : behind[crossed];
    }
    return;
  }
  for (std::size_t i = 0; i < tiles_.dims(); ++i) {
    const auto d = static_cast<DimId>(i);
    if (tiles_.factor(fanout, d) == 1) {
      continue;
    }
    const std::size_t stride = tiles_.stride(d);
    tiles_.sweep(d, [&](std::size_t rung, std::size_t first, std::size_t last) {
      const Tiles::Behind& range = tiles_.behind(fanout, d, rung);
      for (std::size_t tile = first; tile < last; ++tile) {
        double least = kInfinity;
        for (std::size_t r = range.first; range.last != Tiles::kNone && r <= range.last; ++r) {
          least = std::min(least, behind[tile - rung * stride + r * stride]);
        }
        row[tile] = least;
      }
    });
    behind.assign(row, row + tiles_.size());
  }
}

// A run from one rung to any below it costs what its start says; between extents that share a rung
// there are runs, too.
void Relaxation::relax_jump(std::size_t component, const Skeleton::Jump& jump, const double* below,
                            double* row) {
  const std::size_t tiles = tiles_.size();
  Row least(below, below + tiles);
  Row cost(tiles, 0.0);
  for (const std::size_t placing : jump.placings) {
    const double* one = &costs(placing, index_of(jump.dim))[component * tiles];
    const double* taken = bits(placing).data();
    const double limit = terms_[placing].limit;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      cost[tile] += one[tile];
      least[tile] = taken[tile] <= limit && taken[tile] < kInfinity ? least[tile] : kInfinity;
    }
  }
  relax_loops(jump.dim, least.data());
  const std::size_t stride = tiles_.stride(jump.dim);
  tiles_.sweep(jump.dim, [&](std::size_t rung, std::size_t first, std::size_t last) {
    const std::size_t step = tiles_.is_shared(jump.dim, rung) ? 0 : stride;
    for (std::size_t tile = first; tile < last && rung > 0; ++tile) {
      row[tile] = std::min(row[tile], cost[tile] + least[tile - step]);
    }
  });
}

// A loop costs nothing: the value of a tile is the least over the tiles that loops lead to.
void Relaxation::relax_loops(DimId dim, double* row) const {
  const std::size_t stride = tiles_.stride(dim);
  tiles_.sweep(dim, [&](std::size_t rung, std::size_t first, std::size_t last) {
    for (std::size_t tile = first; tile < last && rung > 0; ++tile) {
      row[tile] = std::min(row[tile], row[tile - stride]);
    }
  });
}

}  // namespace mapsim::balanced
