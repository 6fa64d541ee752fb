// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/prime_nest.hpp"

#include <algorithm>
#include <utility>

#include "costmodel/nest.hpp"
#include "mapper/mapspace/builder.hpp"
#include "mapper/mapspace/loop_order_automaton.hpp"

namespace mapsim {

namespace {

void push_primes(DimId dim, std::int64_t factor, std::vector<PrimeNest::Prime>& loops) {
  for (std::int64_t p = 2; factor > 1; ++p) {
    for (; factor % p == 0; factor /= p) {
      loops.push_back({dim, p});
    }
  }
}

// All pairs of a tensor and a level that may keep it, initially without a point.
std::vector<PrimeNest::KeepPoint> open_keeps(const Mapspace& space) {
  std::vector<PrimeNest::KeepPoint> places;
  const Problem& problem = space.problem();
  for (const TensorId t : problem.workload().tensors.ids()) {
    for (const LevelId l : problem.arch().levels.ids()) {
      const KeepRule rule = space.keep_rule(l, t);
      if (index_of(l) > 0 && rule != KeepRule::kBypass) {
        places.push_back({t, l, rule == KeepRule::kKeep, std::nullopt});
      }
    }
  }
  return places;
}

bool occupied(const PrimeNest& nest, std::size_t point) {
  return std::count(nest.crossings.begin(), nest.crossings.end(), point) > 0 ||
         std::any_of(nest.keeps.begin(), nest.keeps.end(),
                     [&](const PrimeNest::KeepPoint& place) { return place.point == point; });
}

}  // namespace

PrimeNest to_prime_nest(const Mapspace& space, const Mapping& mapping) {
  PrimeNest nest;
  nest.keeps = open_keeps(space);
  PerDim<std::int64_t> extents = bounds_of(space.problem().workload());
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* keep = std::get_if<Keep>(&node)) {
      for (PrimeNest::KeepPoint& place : nest.keeps) {
        if (place.level == keep->level && keep->tensors.contains(place.tensor)) {
          place.point = nest.loops.size();
        }
      }
    } else if (const auto* temporal = std::get_if<Temporal>(&node)) {
      push_primes(temporal->dim, extents[temporal->dim] / temporal->extent, nest.loops);
      extents[temporal->dim] = temporal->extent;
    } else {
      const auto& parallel = std::get<Parallel>(node);
      nest.unrolling.push_back(
          {parallel.dim, parallel.fanout, parallel.axis, extents[parallel.dim] / parallel.extent});
      extents[parallel.dim] = parallel.extent;
      if (nest.fanouts.empty() || nest.fanouts.back() != parallel.fanout) {
        nest.fanouts.push_back(parallel.fanout);
        nest.crossings.push_back(nest.loops.size());
      }
    }
  }
  return nest;
}

bool joins(const PrimeNest& nest, std::size_t i) {
  return i > 0 && nest.loops[i].dim == nest.loops[i - 1].dim && !occupied(nest, i);
}

// Per tensor, levels in order inwards; fanouts in order; levels on the right side of the fanouts;
// in even spaces, one point per level.
bool is_ordered(const Mapspace& space, const PrimeNest& nest) {
  const Arch& arch = space.problem().arch();
  for (std::size_t f = 1; f < nest.crossings.size(); ++f) {
    if (nest.crossings[f] < nest.crossings[f - 1]) {
      return false;
    }
  }
  for (std::size_t i = 0; i < nest.keeps.size(); ++i) {
    const PrimeNest::KeepPoint& place = nest.keeps[i];
    if (!place.point) {
      continue;
    }
    for (std::size_t f = 0; f < nest.fanouts.size(); ++f) {
      const bool above = arch.is_above(place.level, nest.fanouts[f]);
      if (above ? *place.point > nest.crossings[f] : *place.point < nest.crossings[f]) {
        return false;
      }
    }
    for (const PrimeNest::KeepPoint& other : nest.keeps) {
      const bool related = other.tensor == place.tensor || space.constraints().even;
      if (!other.point || !related) {
        continue;
      }
      if ((other.level > place.level && *other.point < *place.point) ||
          (other.level == place.level && *other.point != *place.point)) {
        return false;
      }
    }
  }
  return !space.is_ruled() || obeys_rules(space, to_mapping(space, nest));
}

bool rearrange(const Mapspace& space, PrimeNest& nest, Rng& rng) {
  const std::size_t loops = nest.loops.size();
  const std::size_t movable = nest.keeps.size() + nest.crossings.size();
  if (loops > 1 && (movable == 0 || rng.below(2) == 0)) {
    const std::size_t a = rng.below(loops);
    const std::size_t b = rng.below(loops);
    const bool changes = !(nest.loops[a] == nest.loops[b]);
    // If the order is fixed, a swap of loops is rarely legal.
    if (space.is_ruled() && rng.below(2) == 0) {
      const PrimeNest::Prime loop = nest.loops[a];
      nest.loops.erase(nest.loops.begin() + static_cast<std::ptrdiff_t>(a));
      nest.loops.insert(nest.loops.begin() + static_cast<std::ptrdiff_t>(b), loop);
      return a != b && is_ordered(space, nest);
    }
    std::swap(nest.loops[a], nest.loops[b]);
    return changes && (!space.is_ruled() || is_ordered(space, nest));
  }
  if (movable == 0) {
    return false;
  }
  const std::size_t which = rng.below(movable);
  if (which < nest.keeps.size()) {
    PrimeNest::KeepPoint& place = nest.keeps[which];
    const std::size_t point = rng.below(loops + 2);  // loops + 1: bypassed
    if (point == loops + 1 && place.must) {
      return false;
    }
    const bool moves = place.point && point <= loops;
    place.point = point == loops + 1 ? std::nullopt : std::optional(point);
    for (PrimeNest::KeepPoint& other : nest.keeps) {
      // In an even space the keeps of a level move together.
      if (moves && space.constraints().even && other.level == place.level && other.point) {
        other.point = point;
      }
    }
  } else {
    nest.crossings[which - nest.keeps.size()] = rng.below(loops + 1);
  }
  return is_ordered(space, nest);
}

Mapping to_mapping(const Mapspace& space, const PrimeNest& nest) {
  const Problem& problem = space.problem();
  const Arch& arch = problem.arch();
  Mapping mapping;
  PerDim<std::int64_t> extents = bounds_of(problem.workload());
  mapping.nodes.emplace_back(nests::outermost_keep(problem.workload()));
  for (std::size_t point = 0; point <= nest.loops.size(); ++point) {
    for (std::size_t l = 1, f = 0; l <= arch.levels.size(); ++l) {
      for (; f < nest.fanouts.size() && arch.levels_above[nest.fanouts[f]] == l; ++f) {
        for (const Unroll& unroll : nest.unrolling) {
          if (nest.crossings[f] == point && unroll.fanout == nest.fanouts[f]) {
            extents[unroll.dim] /= unroll.factor;
            mapping.nodes.emplace_back(
                Parallel{unroll.dim, extents[unroll.dim], unroll.fanout, unroll.axis});
          }
        }
      }
      Keep keep{static_cast<LevelId>(l), {}};
      for (const PrimeNest::KeepPoint& place : nest.keeps) {
        if (place.level == keep.level && place.point == point) {
          keep.tensors.insert(place.tensor);
        }
      }
      if (!keep.tensors.empty()) {
        mapping.nodes.emplace_back(keep);
      }
    }
    if (point < nest.loops.size()) {
      const PrimeNest::Prime& loop = nest.loops[point];
      extents[loop.dim] /= loop.factor;
      if (joins(nest, point)) {
        std::get<Temporal>(mapping.nodes.back()).extent = extents[loop.dim];
      } else {
        mapping.nodes.emplace_back(Temporal{loop.dim, extents[loop.dim]});
      }
    }
  }
  return mapping;
}

}  // namespace mapsim
