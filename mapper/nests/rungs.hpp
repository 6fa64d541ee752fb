// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "mapper/mapspace.hpp"
#include "mapper/nests/builder.hpp"
#include "mapper/nests/placement.hpp"

namespace mapsim::nests {

// The nests of one unrolling of a balanced space, counted and drawn: docs/mapspace.md. A loop goes
// down some rungs of its dim's ladder; a block of loops without equal neighbours is a word of
// single rungs, runs of one dim being one loop.
class RungNests {
 public:
  RungNests(const Mapspace& space, const UnrollingGroup& group);  // both outlive it

  const mpz_class& count() const { return count_; }
  Mapping sample(Rng& rng) const;  // uniform; not if count() is 0

 private:
  // Rungs gone down in each phase, by all dims so far.
  using Rungs = std::vector<std::size_t>;
  using Words = std::map<Rungs, mpz_class>;

  std::vector<Rungs> splits(DimId dim) const;
  void add_dim(DimId dim);
  Rungs draw_end(Rng& rng) const;
  std::vector<std::vector<DimId>> draw_words(Rungs rungs, Rng& rng) const;
  std::vector<PerLevel<TensorSet>> draw_keeps(std::size_t phase, std::size_t interior,
                                              bool together, Rng& rng) const;
  void add_loops(const std::vector<DimId>& word, std::size_t begin, std::size_t end,
                 NestBuilder& nest) const;
  std::size_t ends(std::size_t phase) const;
  mpz_class barriers(std::size_t phase, std::size_t rungs, std::size_t points) const;
  mpz_class ways(std::size_t phase, std::size_t rungs) const;
  void find_ways();
  mpz_class weight(const Rungs& end, const mpz_class& number) const;
  mpz_class weight_of_split(DimId dim, const Rungs& split) const;

  const Mapspace* space_;
  const UnrollingGroup* group_;
  Placements placements_;
  std::vector<DimId> free_;      // dims that no fanout unrolls
  std::vector<DimId> unrolled_;  // the others
  // Ways to share rungs that are told apart among the phases: of the free dims, then with one more
  // unrolled dim each.
  std::vector<Words> words_;
  // Per phase, by the number of its own points: ways to put its keeps so that each has some.
  std::vector<std::vector<mpz_class>> arrangements_;
  std::vector<mpz_class> at_one_point_;       // per phase: ways if its fanouts stand together
  std::vector<std::vector<mpz_class>> ways_;  // per phase, by rungs: for keeps and barriers
  std::vector<mpz_class> orders_;             // of rungs that are told apart
  mpz_class copies_;  // nests, each as often as the rungs of its dims can change places
  mpz_class count_;
};

}  // namespace mapsim::nests
