// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "mapper/counting/extent_stages.hpp"
#include "mapper/mapspace/builder.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::nests {

// Uniform in [0, bound), by rejection.
mpz_class below(const mpz_class& bound, Rng& rng);

// The nests of one unrolling of a space with imperfect factors, to be counted and drawn
// (docs/mapspace.md). A loop passes one or several extents of its dim's domain. So a block of loops
// is a word of single extents, in which a run of one dim is one loop.
class ExtentNests {
 public:
  ExtentNests(const Mapspace& space, const UnrollingClass& unrolling_class);  // both outlive it

  const mpz_class& count() const { return count_; }
  Mapping sample(Rng& rng) const;  // uniform; not if count() is 0

 private:
  using Words = std::map<Extents, mpz_class>;  // by the extents of all dims so far

  std::vector<Extents> splits_of(DimId dim) const;
  void add_dim(DimId dim);
  Extents draw_end(Rng& rng) const;
  std::vector<std::vector<DimId>> draw_words(Extents extents, Rng& rng) const;
  std::vector<PerLevel<TensorSet>> draw_keeps(std::size_t stage, std::size_t interior,
                                              bool together, Rng& rng) const;
  void add_loops(const std::vector<DimId>& word, std::size_t begin, std::size_t end,
                 NestBuilder& nest) const;
  void find_ways();
  mpz_class weight(const Extents& end, const mpz_class& number) const;

  const Mapspace* space_;
  const UnrollingClass* class_;
  ExtentStages stages_;
  std::vector<DimId> free_;      // dims that no fanout unrolls
  std::vector<DimId> unrolled_;  // the others
  // The ways to distribute distinguishable extents over the stages: for the free dims, then with
  // one more unrolled dim each.
  std::vector<Words> words_;
  std::vector<std::vector<mpz_class>> ways_;  // per stage, by extents: ways for keeps and barriers
  std::vector<mpz_class> orders_;             // of distinguishable extents
  mpz_class copies_;  // nests, each counted once per permutation of the extents of its dims
  mpz_class count_;
};

}  // namespace mapsim::nests
