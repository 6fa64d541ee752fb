// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/rng.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim {

// A mapping in a form that is easy to change step by step (walks, annealing, genetic search):
// temporal loops of one prime factor each, and keeps and fanouts at the points between them. Point
// 0 is before the first loop.
struct PrimeNest {
  struct Prime {
    DimId dim{};
    std::int64_t factor = 2;
    friend bool operator==(const Prime&, const Prime&) = default;
  };
  struct KeepPoint {
    TensorId tensor{};
    LevelId level{};
    bool must = false;
    std::optional<std::size_t> point;  // nullopt: bypassed
  };
  Unrolling unrolling;
  std::vector<Prime> loops;
  std::vector<KeepPoint> keeps;        // by tensor, levels inwards
  std::vector<FanoutId> fanouts;       // used fanouts, outermost first
  std::vector<std::size_t> crossings;  // the point of each
};

// The nest of a mapping of a space with perfect factors.
PrimeNest to_prime_nest(const Mapspace& space, const Mapping& mapping);
// Adjacent loops over one dim with nothing between them become one, so several nests are one
// mapping.
Mapping to_mapping(const Mapspace& space, const PrimeNest& nest);

// Is loop i merged with the loop before it?
bool joins(const PrimeNest& nest, std::size_t i);
// Are keeps and fanouts in an order that the space allows, and does the nest obey its rules?
bool is_ordered(const Mapspace& space, const PrimeNest& nest);

// Swaps two loops, or moves a keep or a fanout (under rules, also a single loop). Each proposal is
// as likely as its inverse. Returns false if the result is not in the space or nothing changed;
// `nest` must then not be used.
bool rearrange(const Mapspace& space, PrimeNest& nest, Rng& rng);

}  // namespace mapsim
