// SPDX-License-Identifier: Apache-2.0
// A genetic search in the manner of GAMMA (Kao & Krishna, ICCAD 2020): tournaments; crossover of
// tilings, orders and keeps; mutation of these and of the unrolling.
#include <algorithm>
#include <map>
#include <utility>

#include "mapper/baselines/neighbours.hpp"
#include "mapper/baselines/restarts.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kPopulation = 64;
constexpr std::size_t kElite = 6;       // kept unchanged
constexpr std::size_t kTournament = 3;  // the best of so many becomes a parent
constexpr double kCrossover = 0.6;      // share of children with two parents
constexpr int kMostMutations = 3;       // a child has 1 to so many
constexpr std::int64_t kGeneticPerRun = 100 * static_cast<std::int64_t>(kPopulation);

using Population = std::vector<Candidate>;

// A position in a nest as a share of its length, so that positions in two parents compare.
double place_of_loop(const PrimeNest& nest, std::size_t i) {
  return (static_cast<double>(i) + 0.5) / static_cast<double>(nest.loops.size());
}
double place_of_point(const PrimeNest& nest, std::size_t point) {
  return nest.loops.empty() ? 0
                            : static_cast<double>(point) / static_cast<double>(nest.loops.size());
}

// The places of the loops over one dim, by prime, outermost first.
std::map<std::int64_t, std::vector<double>> places_of(const PrimeNest& nest, DimId dim) {
  std::map<std::int64_t, std::vector<double>> places;
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    if (nest.loops[i].dim == dim) {
      places[nest.loops[i].factor].push_back(place_of_loop(nest, i));
    }
  }
  return places;
}

// The positions of a's loops. Loops over `dims` take b's positions, as far as b has such loops.
std::vector<double> cross_loops(const PrimeNest& a, const PrimeNest& b, DimSet dims) {
  std::vector<double> places;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> taken;
  for (std::size_t i = 0; i < a.loops.size(); ++i) {
    places.push_back(place_of_loop(a, i));
    const PrimeNest::Prime& loop = a.loops[i];
    if (dims.contains(loop.dim)) {
      const auto there = places_of(b, loop.dim);
      const auto same = there.find(loop.factor);
      std::size_t& next = taken[{index_of(loop.dim), loop.factor}];
      if (same != there.end() && next < same->second.size()) {
        places.back() = same->second[next++];
      }
    }
  }
  return places;
}

// Moves keeps to the side of the fanouts on which their levels lie.
void clamp(const Arch& arch, PrimeNest& nest) {
  for (PrimeNest::KeepPoint& place : nest.keeps) {
    for (std::size_t f = 0; f < nest.fanouts.size() && place.point; ++f) {
      place.point = arch.is_above(place.level, nest.fanouts[f])
                        ? std::min(*place.point, nest.crossings[f])
                        : std::max(*place.point, nest.crossings[f]);
    }
  }
}

// A child with a's unrolling: some dims are tiled and ordered as in b, the keeps of some tensors
// are as in b (even spaces: of all or none), and the rest is as in a.
PrimeNest cross_over(const Mapspace& space, const PrimeNest& a, const PrimeNest& b, Rng& rng) {
  const auto dims = DimSet::from_bits(static_cast<std::uint32_t>(rng.next()));
  auto tensors = TensorSet::from_bits(static_cast<std::uint32_t>(rng.next()));
  if (space.constraints().even) {
    tensors = TensorSet::from_bits(rng.below(2) == 0 ? 0 : ~std::uint32_t{0});
  }
  const std::vector<double> places = cross_loops(a, b, dims);
  std::vector<std::size_t> order(places.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return places[i] < places[j]; });
  PrimeNest child = a;
  for (std::size_t i = 0; i < order.size(); ++i) {
    child.loops[i] = a.loops[order[i]];
  }
  const auto point_at = [&](double place) {
    return static_cast<std::size_t>(
        std::count_if(places.begin(), places.end(), [place](double loop) { return loop < place; }));
  };
  for (std::size_t p = 0; p < child.keeps.size(); ++p) {
    const PrimeNest& parent = tensors.contains(child.keeps[p].tensor) ? b : a;
    child.keeps[p].point.reset();
    if (parent.keeps[p].point) {
      child.keeps[p].point = point_at(place_of_point(parent, *parent.keeps[p].point));
    }
  }
  for (std::size_t& crossing : child.crossings) {
    crossing = point_at(place_of_point(a, crossing));
  }
  clamp(space.problem().arch(), child);
  return is_ordered(space, child) ? child : a;
}

const Candidate& select(const Population& population, Rng& rng) {
  const Candidate* best = &population[rng.below(population.size())];
  for (std::size_t i = 1; i < kTournament; ++i) {
    const Candidate& other = population[rng.below(population.size())];
    best = other.fitness < best->fitness ? &other : best;
  }
  return *best;
}

PrimeNest make_child(const Mapspace& space, const Neighbours& neighbours,
                     const Population& population, Rng& rng) {
  PrimeNest child = select(population, rng).nest;
  if (rng.uniform() < kCrossover) {
    child = cross_over(space, child, select(population, rng).nest, rng);
  }
  const std::uint64_t mutations = 1 + rng.below(kMostMutations);
  for (std::uint64_t i = 0; i < mutations; ++i) {
    PrimeNest changed = child;
    if (neighbours.change(changed, rng)) {
      child = std::move(changed);
    }
  }
  return child;
}

SampleStatistics evolve(Run run, const Neighbours& neighbours) {
  SampleStatistics statistics;
  Evaluator evaluator{run.space.problem()};
  const auto add = [&](Population& population, PrimeNest nest) {
    const Fitness fitness = evaluate_fitness(run.space, evaluator, run.options, nest, statistics);
    population.push_back({std::move(nest), fitness});
  };
  const auto goes_on = [&] {
    return statistics.evaluations() < run.evaluations && !run.deadline.over();
  };
  const auto fitter = [](const Candidate& a, const Candidate& b) { return a.fitness < b.fitness; };
  Population population;
  while (population.size() < kPopulation && goes_on()) {
    add(population, to_prime_nest(run.space, run.sampler.sample(run.rng)));
  }
  while (goes_on()) {
    std::stable_sort(population.begin(), population.end(), fitter);
    Population next(population.begin(), population.begin() + kElite);
    while (next.size() < kPopulation && goes_on()) {
      add(next, make_child(run.space, neighbours, population, run.rng));
    }
    population = std::move(next);
  }
  return statistics;
}

}  // namespace

SearchResult search_genetic(const Mapspace& space, const SearchOptions& options) {
  const Neighbours neighbours{space};
  return search_with_restarts(space, options, kGeneticPerRun,
                              [&](Run run) { return evolve(std::move(run), neighbours); });
}

}  // namespace mapsim
