// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"
#include "mapper/mapspace/placement.hpp"

namespace mapsim::nests {

mpz_class binomial(std::size_t n, std::size_t k);
// sum += C(n, k) * x
void add_multiple(mpz_class& sum, std::size_t n, std::size_t k, const mpz_class& x);

// The ways to spread a chain's levels [begin, end) over n points in order, several at one point
// allowed: the sum over m of (ways to choose m levels and their tensors) * (ways to choose m
// points).
mpz_class spread(const Chain& chain, std::size_t begin, std::size_t end, std::size_t n);

// H(n, c) for c = 0, 1, ...: ordered factorisations of n into c factors > 1.
std::vector<mpz_class> ordered_factorizations(std::int64_t n);

// For n = 0, 1, ...: the number of sequences of n letters that represent the loops over a dim with
// this bound (the series h of docs/mapspace.md). A loop is represented by all sequences of letters
// that multiply to its factor, with weights that add up to 1.
std::vector<mpz_class> count_letters(std::int64_t bound);
// The sequences of letters of two sets of dims, interleaved in any order.
std::vector<mpz_class> mix_letters(const std::vector<mpz_class>& a,
                                   const std::vector<mpz_class>& b);

// Z(j) for j = 0, 1, ...: nests of loops over dims with these bounds, cut by j barriers into j + 1
// non-empty blocks, where adjacent loops of a block are over different dims. Empty if every bound
// is 1.
std::vector<mpz_class> count_loop_words(const std::vector<std::int64_t>& bounds);

// Does a rule for extents or loops measure the dim?
bool is_measured_by_rules(const Mapspace& space, const Regions& regions, DimId dim);
// The groups of all regions that contain the dim: equal for dims that no loop order distinguishes.
std::vector<std::uint64_t> groups_of(const Regions& regions, DimId dim);

// Q(k) for k = 0, 1, ...: the ways to put all keeps and used fanouts on k points, none of them
// empty.
std::vector<mpz_class> count_arrangements(const Placements& placements);

// The number of nests with arrangements Q and words Z, over all numbers of points.
mpz_class count_nests(const std::vector<mpz_class>& arrangements,
                      const std::vector<mpz_class>& words);

// Counts mappings per class of unrollings. Common parts are counted once: words depend only on the
// multiset of prime exponents of the temporal bounds, arrangements only on the set of used fanouts.
class MappingCounter {
 public:
  explicit MappingCounter(const Mapspace& space) : space_{&space} {}

  std::size_t word_class(const UnrollingClass& unrolling_class);
  std::size_t arrangement_class(const UnrollingClass& unrolling_class);
  const std::vector<mpz_class>& words(std::size_t id) const { return words_[id]; }
  const std::vector<mpz_class>& arrangements(std::size_t id) const { return arrangements_[id]; }
  // The mappings with one axis assignment of the class.
  const mpz_class& count(const UnrollingClass& unrolling_class);

 private:
  const Mapspace* space_;
  std::vector<std::vector<mpz_class>> words_;
  std::vector<std::vector<mpz_class>> arrangements_;
  std::map<std::int64_t, std::vector<int>> exponents_;  // by bound
  std::map<std::vector<std::vector<int>>, std::size_t> word_ids_;
  std::map<std::vector<FanoutId>, std::size_t> arrangement_ids_;
  std::map<std::pair<std::size_t, std::size_t>, mpz_class> counts_;
};

}  // namespace mapsim::nests
