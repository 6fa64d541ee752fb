// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/rng.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// A mapping as those see it who change it step by step (walks, annealing, genetic search): temporal
// loops of one prime factor each, and the points between them (0 = before the first loop) where
// keeps and fanouts stand.
struct PrimeNest {
  struct Prime {
    DimId dim{};
    std::int64_t factor = 2;
    friend bool operator==(const Prime&, const Prime&) = default;
  };
  struct Place {
    TensorId tensor{};
    LevelId level{};
    bool must = false;
    std::optional<std::size_t> point;  // nullopt: bypassed
  };
  Unrolling unrolling;
  std::vector<Prime> loops;
  std::vector<Place> places;           // tensor by tensor, levels inwards
  std::vector<FanoutId> fanouts;       // used ones, outermost first
  std::vector<std::size_t> crossings;  // the point of each
};

// Of a mapping of the space with perfect factors.
PrimeNest take_apart(const Mapspace& space, const Mapping& mapping);
// Neighbouring loops over one dim with nothing in between become one: several nests, one mapping.
Mapping put_together(const Mapspace& space, const PrimeNest& nest);

// Does loop i join the loop before it into one?
bool joins(const PrimeNest& nest, std::size_t i);
// Are keeps and fanouts in an order that the space allows, and does the nest obey its rules?
bool is_ordered(const Mapspace& space, const PrimeNest& nest);

// Swaps two loops, or moves a keep or a fanout (under rules, also a loop by itself): each proposal
// as likely as the one back. False: no nest of the space, or the same; what is in `nest` is of no
// use then.
bool rearrange(const Mapspace& space, PrimeNest& nest, Rng& rng);

}  // namespace mapsim
