// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/bound.hpp"

#include <algorithm>

namespace mapsim::exact {

bool may_cross(const Skeleton& skeleton, const Lattice& lattice, const Unrolled& unrolled,
               std::size_t phase, std::size_t tile) {
  const auto fanout = skeleton.event_after(phase).fanout;
  if (!fanout) {
    return true;
  }
  for (const DimId d : unrolled.blocks[*fanout].ids()) {
    const std::int64_t block = unrolled.blocks[*fanout][d];
    if (block != 0 && lattice.extent(d, tile) != block) {
      return false;
    }
  }
  return true;
}

namespace {

// One component's values over the tiles of one (phase, pointers).
using Row = double*;

// row[tile + (digit' - digit) * stride] = min(.., costs + below[tile]) for every run that ends in tile.
void relax_jump(const Lattice& lattice, DimId dim,
                const std::vector<const std::vector<double>*>& costs, std::size_t component,
                const double* below, Row row) {
  const std::size_t tiles = lattice.size();
  const std::size_t digits = lattice.divisors(dim).size();
  const std::size_t stride = lattice.stride(dim);
  for (std::size_t from = 1; from < digits; ++from) {
    for (const std::size_t to : lattice.below(dim, from)) {
      const std::size_t up = (from - to) * stride;
      const std::size_t table = (component * digits + from) * tiles;
      for (std::size_t base = to * stride; base < tiles; base += digits * stride) {
        for (std::size_t tile = base; tile < base + stride; ++tile) {
          double value = below[tile];
          for (const auto* cost : costs) {
            value += (*cost)[table + tile];
          }
          row[tile + up] = std::min(row[tile + up], value);
        }
      }
    }
  }
}

// A loop costs nothing: the value of a tile is the least over the tiles that divide it.
void relax_loops(const Lattice& lattice, DimId dim, Row row) {
  const std::size_t stride = lattice.stride(dim);
  const std::size_t digits = lattice.divisors(dim).size();
  for (std::size_t block = 0; block < lattice.size(); block += digits * stride) {
    for (std::size_t digit = 1; digit < digits; ++digit) {
      for (const std::size_t to : lattice.cover(dim, digit)) {
        double* upper = row + block + digit * stride;
        const double* lower = row + block + to * stride;
        for (std::size_t i = 0; i < stride; ++i) {
          upper[i] = std::min(upper[i], lower[i]);
        }
      }
    }
  }
}

}  // namespace

Bound::Bound(const Skeleton& skeleton, const Lattice& lattice, const Unrolled& unrolled,
             Costs& costs)
    : pointers_{skeleton.pointers()}, tiles_{lattice.size()}, to_go_(costs.components()) {
  for (std::size_t component = 0; component < costs.components(); ++component) {
    std::vector<double>& to_go = to_go_[component];
    to_go.assign(skeleton.phases() * pointers_ * tiles_, kInfinity);
    for (std::size_t phase = skeleton.phases(); phase-- > 0;) {
      for (std::size_t pointers = pointers_; pointers-- > 0;) {
        if (!skeleton.reachable(phase, pointers)) {
          continue;
        }
        states_ += component == 0 ? static_cast<std::int64_t>(tiles_) : 0;
        const Row row = &to_go[(phase * pointers_ + pointers) * tiles_];
        if (phase + 1 == skeleton.phases()) {
          if (const auto& end = skeleton.end(pointers)) {
            row[0] = costs.mac(*end)[component];
          }
        } else {
          const double* next = row + pointers_ * tiles_;
          for (std::size_t tile = 0; tile < tiles_; ++tile) {
            if (next[tile] < kInfinity && may_cross(skeleton, lattice, unrolled, phase, tile)) {
              row[tile] = next[tile];
            }
          }
        }
        for (const Skeleton::Place& place : skeleton.places(phase, pointers)) {
          const double* below = &to_go[(phase * pointers_ + place.target) * tiles_];
          const double* cost = &costs.plain(place.placing)[component * tiles_];
          for (std::size_t tile = 0; tile < tiles_; ++tile) {
            row[tile] = std::min(row[tile], cost[tile] + below[tile]);
          }
        }
        for (const Skeleton::Jump& jump : skeleton.jumps(phase, pointers)) {
          std::vector<const std::vector<double>*> sum;
          for (const std::size_t placing : jump.placings) {
            sum.push_back(&costs.sliding(placing, jump.dim));
          }
          relax_jump(lattice, jump.dim, sum, component,
                     &to_go[(phase * pointers_ + jump.target) * tiles_], row);
        }
        const DimSet frozen = skeleton.frozen(phase, pointers);
        for (std::size_t d = 0; d < lattice.dims(); ++d) {
          if (!frozen.contains(static_cast<DimId>(d))) {
            relax_loops(lattice, static_cast<DimId>(d), row);
          }
        }
      }
    }
  }
}

}  // namespace mapsim::exact
