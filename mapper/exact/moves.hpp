// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mapper/exact/bound.hpp"
#include "mapper/exact/skeleton.hpp"
#include "mapper/exact/volume.hpp"

namespace mapsim::exact {

// One step of a nest, outside in.
struct Step {
  enum class Kind : std::uint8_t { kStart, kLoop, kCross, kPlace, kJump, kEnd };
  Kind kind = Kind::kStart;
  Node node;             // where the step leads
  std::size_t move = 0;  // kPlace, kJump: index in the skeleton's lists at the node before
};

// What a step pays for a placing (Placing::kMac: the compute units): component k is cost[k * step].
struct Payment {
  std::size_t placing = Placing::kMac;
  const double* cost = nullptr;
  std::size_t step = 1;
  std::size_t tile = 0;
};

// The jumps among the steps of for_each_move().
template <class CostTables, class OfInterest, class Visit>
void for_each_jump(const Skeleton& skeleton, const Lattice& tiles, CostTables& costs,
                   const Node& at, const OfInterest& of_interest, const Visit& visit) {
  const auto& jumps = skeleton.jumps(at.phase, at.pointers);
  std::vector<Payment> payments;
  for (std::size_t m = 0; m < jumps.size(); ++m) {
    const DimId dim = jumps[m].dim;
    const std::size_t digit = tiles.digit(dim, at.tile);
    const auto& runs = tiles.runs(dim);
    const std::size_t rests = tiles.size() / tiles.positions(dim).size();
    const Lattice::Range range = tiles.runs_from(dim, digit);
    const bool neutral = skeleton.is_neutral(at.phase, jumps[m].target, dim);
    for (std::size_t run = range.first; run < range.last; ++run) {
      const auto target = neutral ? std::optional(jumps[m].target)
                                  : skeleton.after_loop(at.phase, jumps[m].target, dim,
                                                        tiles.factor(dim, runs[run]));
      const std::size_t tile = at.tile - (digit - runs[run].to) * tiles.stride(dim);
      if (!target || !of_interest(Node{at.phase, *target, tile})) {
        continue;
      }
      payments.clear();
      for (const std::size_t placing : jumps[m].placings) {
        const double* cost = &costs.sliding(placing, dim)[run * rests + tiles.rest(dim, tile)];
        payments.push_back({placing, cost, runs.size() * rests, tile});
      }
      visit(Step{Step::Kind::kJump, {at.phase, *target, tile}, m}, std::span{payments});
    }
  }
}

// Calls visit(Step, std::span<const Payment>) for every step that leads on from a node to one of
// interest, in a fixed order. Some payments may be infinite. `CostTables`: Costs, or what has its
// tables. `of_interest`: bool(Node); ends are.
template <class CostTables, class OfInterest, class Visit>
void for_each_move(const Skeleton& skeleton, const Unrolled& unrolled, CostTables& costs,
                   const Node& at, const OfInterest& of_interest, const Visit& visit) {
  const Lattice& tiles = unrolled.lattices[skeleton.crossed(at.phase)];
  if (at.phase + 1 < skeleton.phases()) {
    if (const auto behind = cross(skeleton, unrolled, at); behind && of_interest(*behind)) {
      visit(Step{Step::Kind::kCross, *behind, 0}, std::span<const Payment>{});
    }
  } else if (skeleton.end(at.pointers) &&
             std::binary_search(tiles.ones().begin(), tiles.ones().end(), at.tile)) {
    const std::vector<double> mac = costs.mac(*skeleton.end(at.pointers), at.tile);
    const Payment payment{Placing::kMac, mac.data(), 1, at.tile};
    visit(Step{Step::Kind::kEnd, at, 0}, std::span(&payment, 1));
  }
  const DimSet frozen = skeleton.frozen(at.phase, at.pointers);
  for (std::size_t i = 0; i < tiles.dims(); ++i) {
    const auto dim = static_cast<DimId>(i);
    if (frozen.contains(dim)) {
      continue;
    }
    const Lattice::Range range = tiles.primes_from(dim, tiles.digit(dim, at.tile));
    for (std::size_t r = range.first; r < range.last; ++r) {
      const Lattice::Run& run = tiles.primes(dim)[r];
      const auto pointers = skeleton.after_loop(at.phase, at.pointers, dim, tiles.factor(dim, run));
      const std::size_t tile = at.tile - (run.from - run.to) * tiles.stride(dim);
      if (pointers && of_interest(Node{at.phase, *pointers, tile})) {
        visit(Step{Step::Kind::kLoop, {at.phase, *pointers, tile}, 0}, std::span<const Payment>{});
      }
    }
  }
  const auto& places = skeleton.places(at.phase, at.pointers);
  for (std::size_t m = 0; m < places.size(); ++m) {
    if (!of_interest(Node{at.phase, places[m].target, at.tile})) {
      continue;
    }
    const double* cost = &costs.plain(places[m].placing)[at.tile];
    const Payment payment{places[m].placing, cost, tiles.size(), at.tile};
    visit(Step{Step::Kind::kPlace, {at.phase, places[m].target, at.tile}, m},
          std::span(&payment, 1));
  }
  for_each_jump(skeleton, tiles, costs, at, of_interest, visit);
}

}  // namespace mapsim::exact
