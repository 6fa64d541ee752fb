// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "core/rng.hpp"
#include "mapper/mapspace/prime_nest.hpp"
#include "mapper/mapspace/sample_statistics.hpp"

namespace mapsim {

// How good a mapping is, for searches by small steps: compared by `excess`, then `beyond`, then
// `value`. Mappings that do not fit are worse than those that fit, in proportion to their excess,
// which leads searches to mappings that fit.
struct Fitness {
  double excess = 0;  // mapsim::excess(): log2 of need / capacity, summed; 0: it fits
  double beyond = 0;  // log2 of figure / limit of the objective, summed; 0: within
  double value = 0;   // of the objective, if the mapping fits and is within the limits
  friend auto operator<=>(const Fitness&, const Fitness&) = default;
};

// The current mapping of a search, or a proposal.
struct Candidate {
  PrimeNest nest;
  Fitness fitness;
};

// The neighbours of a mapping: small changes of order, tiling, keeps and unrolling.
class Neighbours {
 public:
  explicit Neighbours(const Mapspace& space);  // `space` outlives it

  // Makes one random small change. Returns false if it left the space; `nest` must then not be
  // used.
  bool change(PrimeNest& nest, Rng& rng) const;

 private:
  using Factors = PerFanout<PerDim<std::int64_t>>;
  bool move_loop(PrimeNest& nest, Rng& rng) const;
  bool change_unrolling(PrimeNest& nest, Rng& rng) const;
  bool unroll_as(PrimeNest& nest, const Factors& factors, Rng& rng) const;
  bool update_crossings(PrimeNest& nest, Rng& rng) const;

  const Mapspace* space_;
  std::map<std::vector<std::int64_t>, std::vector<std::size_t>> classes_;  // by their factors
};

// Evaluates the mapping of a nest, counts it, and returns its fitness.
Fitness evaluate_fitness(const Mapspace& space, Evaluator& evaluator, const SearchOptions& options,
                         const PrimeNest& nest, SampleStatistics& statistics);

}  // namespace mapsim
