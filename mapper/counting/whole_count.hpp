// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gmpxx.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/index.hpp"
#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::nests {

// The number of mappings of a whole mapspace of perfect factors, without rules that tie loops and
// keeps together: the sum of MappingCounter over its classes of unrollings, grouped by products of
// factors. A product is a word with a letter per dim, which stands for the bound that is left. The
// words form a trie, and the sums of its prefixes are added before they are multiplied with what
// they hang from. The count is made in steps, for threads that are idle.
class WholeCount {
 public:
  explicit WholeCount(const Mapspace& space) : space_{space} {}  // which outlives it

  // Makes a step. Returns false if none was left, or if `stop` returned true, which only the first
  // step calls. After the first step several threads may call it at once.
  bool step(const std::function<bool()>& stop);
  bool is_done() const { return begun_ && next_ >= prefixes_.size(); }
  // To be called when no step is left.
  mpz_class result() const;

 private:
  using Series = std::vector<mpz_class>;
  using Words = std::span<const std::size_t>;  // products
  struct Prefix {
    Words words;
    std::size_t depth = 0;  // number of letters that they share
  };

  void begin();
  void find_words();
  void sort_by_words();
  void find_steps(Words words, std::size_t depth);
  std::size_t width() const { return 1 + space_.problem().workload().dims.size(); }
  const std::size_t* at(std::size_t word, std::size_t depth) const {
    return &words_[word * width() + depth];
  }
  bool is_step(Words words, std::size_t depth) const;
  std::size_t arrangement_class(const std::vector<FanoutId>& used);
  std::size_t letters_id(std::int64_t bound);
  template <class Visit>
  void for_each_prefix(Words words, std::size_t depth, const Visit& visit) const;
  template <class SumOfPrefix>
  Series mix(Words words, std::size_t depth, const SumOfPrefix& sum_of) const;
  Series count(Words words, std::size_t depth) const;
  Series collect(Words words, std::size_t depth, std::size_t& next) const;

  const Mapspace& space_;
  bool begun_ = false;
  // [product * width() + depth]; the first letter is the class of arrangements
  std::vector<std::size_t> words_;
  std::vector<Series> arrangements_;
  std::map<std::vector<FanoutId>, std::size_t> arrangement_ids_;
  std::vector<Series> letters_;
  std::map<std::vector<int>, std::size_t> classes_;    // by the exponents of a bound's primes
  std::unordered_map<std::int64_t, std::size_t> ids_;  // by bound
  std::vector<std::size_t> order_;                     // the products, sorted by their words
  std::vector<Prefix> prefixes_;                       // one per step
  std::vector<Series> sums_;                           // of the prefixes
  std::atomic<std::size_t> next_{0};                   // index of the next prefix
};

}  // namespace mapsim::nests
