// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "core/rng.hpp"
#include "mapper/mapspace/prime_nest.hpp"
#include "mapper/mapspace/statistics_of_draws.hpp"

namespace mapsim {

// How good a mapping is to those who search by small steps: the first figure counts, then the
// second, then the third. What does not fit is worse than what does, and the worse the more it
// exceeds; that leads to where mappings fit.
struct Fitness {
  double excess = 0;  // mapsim::excess(); 0: it fits
  double beyond = 0;  // log2 of how often over the objective's limits, summed; 0: within
  double value = 0;   // of the objective, if it fits and is within
  friend auto operator<=>(const Fitness&, const Fitness&) = default;
};

// A mapping that a search stands at, or might go to.
struct Candidate {
  PrimeNest nest;
  Fitness fitness;
};

// The mappings next to a mapping of a space: small changes of order, tiling, keeps and unrolling.
class Neighbours {
 public:
  explicit Neighbours(const Mapspace& space);  // `space` outlives it

  // One small change, at random. False: it led out of the space, and `nest` is of no use.
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

// Considers the mapping of a nest: how fit it is.
Fitness judge(const Mapspace& space, Evaluator& evaluator, const SearchOptions& options,
              const PrimeNest& nest, SampleStatistics& statistics);

}  // namespace mapsim
