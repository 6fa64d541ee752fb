// SPDX-License-Identifier: Apache-2.0
#include "mapper/walk.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "costmodel/nest.hpp"

namespace mapsim {

namespace {

void push_primes(DimId dim, std::int64_t factor, std::vector<PrimeNest::Prime>& loops) {
  for (std::int64_t p = 2; factor > 1; ++p) {
    for (; factor % p == 0; factor /= p) {
      loops.push_back({dim, p});
    }
  }
}

// All tensor-level pairs that the space lets be kept, absent as yet.
std::vector<PrimeNest::Place> open_places(const Mapspace& space) {
  std::vector<PrimeNest::Place> places;
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

PrimeNest take_apart(const Mapspace& space, const Mapping& mapping) {
  PrimeNest nest;
  nest.places = open_places(space);
  PerDim<std::int64_t> extents = bounds_of(space.problem().workload());
  for (const MappingNode& node : mapping.nodes) {
    if (const auto* keep = std::get_if<Keep>(&node)) {
      for (PrimeNest::Place& place : nest.places) {
        if (place.level == keep->level && keep->tensors.contains(place.tensor)) {
          place.point = nest.loops.size();
        }
      }
    } else if (const auto* temporal = std::get_if<Temporal>(&node)) {
      push_primes(temporal->dim, extents[temporal->dim] / temporal->extent, nest.loops);
      extents[temporal->dim] = temporal->extent;
    } else {
      const auto& parallel = std::get<Parallel>(node);
      extents[parallel.dim] = parallel.extent;
      if (nest.fanouts.empty() || nest.fanouts.back() != parallel.fanout) {
        nest.fanouts.push_back(parallel.fanout);
        nest.crossings.push_back(nest.loops.size());
      }
    }
  }
  return nest;
}

bool occupied(const PrimeNest& nest, std::size_t point) {
  return std::count(nest.crossings.begin(), nest.crossings.end(), point) > 0 ||
         std::any_of(nest.places.begin(), nest.places.end(),
                     [&](const PrimeNest::Place& place) { return place.point == point; });
}

// Does loop i join the loop before it into one?
bool joins(const PrimeNest& nest, std::size_t i) {
  return i > 0 && nest.loops[i].dim == nest.loops[i - 1].dim && !occupied(nest, i);
}

}  // namespace

Walk::Walk(const Mapspace& space, const Unrolling& unrolling, const Mapping& start,
           std::uint64_t seed)
    : space_{&space},
      unrolling_{unrolling},
      rng_{seed},
      nest_{take_apart(space, start)},
      mapping_{start},
      log_copies_{log_copies()} {}

// Prime nests that are the same mapping: the orders of the primes of each joined loop.
double Walk::log_copies() const {
  double copies = 0;
  for (std::size_t i = 0; i < nest_.loops.size();) {
    std::map<std::int64_t, int> primes;
    std::size_t end = i;
    do {
      ++primes[nest_.loops[end].factor];
      ++end;
    } while (end < nest_.loops.size() && joins(nest_, end));
    copies += std::lgamma(static_cast<double>(end - i) + 1);
    for (const auto& prime : primes) {
      copies -= std::lgamma(prime.second + 1.0);
    }
    i = end;
  }
  return copies;
}

bool Walk::propose() {
  const std::size_t loops = nest_.loops.size();
  const std::size_t movable = nest_.places.size() + nest_.crossings.size();
  if (loops > 1 && (movable == 0 || rng_.below(2) == 0)) {
    const std::size_t a = rng_.below(loops);
    const std::size_t b = rng_.below(loops);
    std::swap(nest_.loops[a], nest_.loops[b]);
    return !(nest_.loops[a] == nest_.loops[b]);
  }
  if (movable == 0) {
    return false;
  }
  const std::size_t which = rng_.below(movable);
  if (which < nest_.places.size()) {
    PrimeNest::Place& place = nest_.places[which];
    const std::size_t point = rng_.below(loops + 2);  // loops + 1: bypassed
    if (point == loops + 1 && place.must) {
      return false;
    }
    const bool moves = place.point && point <= loops;
    place.point = point == loops + 1 ? std::nullopt : std::optional(point);
    for (PrimeNest::Place& other : nest_.places) {
      // In an even space the keeps of a level move together.
      if (moves && space_->constraints().even && other.level == place.level && other.point) {
        other.point = point;
      }
    }
  } else {
    nest_.crossings[which - nest_.places.size()] = rng_.below(loops + 1);
  }
  return is_ordered();
}

// Levels inwards per tensor; fanouts in order, levels on their side of them; even: one point a
// level.
bool Walk::is_ordered() const {
  const Arch& arch = space_->problem().arch();
  for (std::size_t f = 1; f < nest_.crossings.size(); ++f) {
    if (nest_.crossings[f] < nest_.crossings[f - 1]) {
      return false;
    }
  }
  for (std::size_t i = 0; i < nest_.places.size(); ++i) {
    const PrimeNest::Place& place = nest_.places[i];
    if (!place.point) {
      continue;
    }
    for (std::size_t f = 0; f < nest_.fanouts.size(); ++f) {
      const bool above = arch.is_above(place.level, nest_.fanouts[f]);
      if (above ? *place.point > nest_.crossings[f] : *place.point < nest_.crossings[f]) {
        return false;
      }
    }
    for (const PrimeNest::Place& other : nest_.places) {
      const bool related = other.tensor == place.tensor || space_->constraints().even;
      if (!other.point || !related) {
        continue;
      }
      if ((other.level > place.level && *other.point < *place.point) ||
          (other.level == place.level && *other.point != *place.point)) {
        return false;
      }
    }
  }
  return true;
}

Mapping Walk::build() const {
  const Problem& problem = space_->problem();
  const Arch& arch = problem.arch();
  Mapping mapping;
  PerDim<std::int64_t> extents = bounds_of(problem.workload());
  Keep outermost{LevelId{0}, {}};
  for (const TensorId t : problem.workload().tensors.ids()) {
    outermost.tensors.insert(t);
  }
  mapping.nodes.emplace_back(outermost);
  for (std::size_t point = 0; point <= nest_.loops.size(); ++point) {
    for (std::size_t l = 1, f = 0; l <= arch.levels.size(); ++l) {
      for (; f < nest_.fanouts.size() && arch.levels_above[nest_.fanouts[f]] == l; ++f) {
        for (const Unroll& unroll : unrolling_) {
          if (nest_.crossings[f] == point && unroll.fanout == nest_.fanouts[f]) {
            extents[unroll.dim] /= unroll.factor;
            mapping.nodes.emplace_back(
                Parallel{unroll.dim, extents[unroll.dim], unroll.fanout, unroll.axis});
          }
        }
      }
      Keep keep{static_cast<LevelId>(l), {}};
      for (const PrimeNest::Place& place : nest_.places) {
        if (place.level == keep.level && place.point == point) {
          keep.tensors.insert(place.tensor);
        }
      }
      if (!keep.tensors.empty()) {
        mapping.nodes.emplace_back(keep);
      }
    }
    if (point < nest_.loops.size()) {
      const PrimeNest::Prime& loop = nest_.loops[point];
      extents[loop.dim] /= loop.factor;
      if (joins(nest_, point)) {
        std::get<Temporal>(mapping.nodes.back()).extent = extents[loop.dim];
      } else {
        mapping.nodes.emplace_back(Temporal{loop.dim, extents[loop.dim]});
      }
    }
  }
  return mapping;
}

bool Walk::step(const Accept& accept) {
  const PrimeNest before = nest_;
  if (propose()) {
    const double copies = log_copies();
    // Rarer nests are taken back more often, so that mappings, not nests, are uniform.
    if (copies <= log_copies_ || rng_.uniform() < std::exp(log_copies_ - copies)) {
      Mapping next = build();
      if (next != mapping_ && accept(next)) {
        mapping_ = std::move(next);
        log_copies_ = copies;
        return true;
      }
      if (next == mapping_) {
        log_copies_ = copies;
        return false;
      }
    }
  }
  nest_ = before;
  return false;
}

}  // namespace mapsim
