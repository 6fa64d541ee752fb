// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/index.hpp"
#include "core/rng.hpp"
#include "workloads/workload.hpp"

namespace mapsim::nests {

// A loop that cuts a dim into `factor` > 1 tiles.
struct Loop {
  DimId dim{};
  std::int64_t factor = 1;
};
using Block = std::vector<Loop>;

// Draws loop nests uniformly: non-empty blocks of loops, no two neighbours in a block over one dim,
// the factors of each dim having a given product.
//
// A word of loops is built dim by dim, most loops first. It starts as blocks + 1 barriers, whose
// gaps are all bad: equal neighbours. The c loops of a dim enter in m runs, in i of the b bad gaps
// and m - i of the g - b good ones; a run of s adds s gaps, s - 1 of them bad. At the end no gap is
// bad. Counting backwards gives the exact weights for drawing c, m and i forwards.
class LoopWords {
 public:
  explicit LoopWords(const Workload& workload);  // tables for every divisor of its bounds
  LoopWords(const LoopWords&) = delete;          // its tables point into it
  LoopWords& operator=(const LoopWords&) = delete;
  ~LoopWords();

  // `bounds` divide the workload's; at least one is > 1, and there are enough loops for the blocks.
  // May be called from many threads.
  std::vector<Block> draw(const PerDim<std::int64_t>& bounds, std::size_t blocks, Rng& rng) const;

 private:
  struct Factorizations {
    std::vector<double> counts;          // by the number of factors
    std::vector<std::int64_t> divisors;  // ascending
    std::size_t most() const { return counts.size() - 1; }
  };
  struct Insertion;  // c loops in m runs, i of them in bad gaps
  class Table;

  std::shared_ptr<const Table> table(const std::vector<DimId>& dims,
                                     const PerDim<std::int64_t>& bounds, std::size_t blocks) const;
  std::vector<std::int64_t> draw_factors(std::int64_t bound, std::size_t count, Rng& rng) const;

  std::unordered_map<std::int64_t, Factorizations> factorizations_;
  std::vector<std::vector<double>> binomials_;
  // By the number of blocks and the bounds, in the order of the stages; made when first asked for.
  // Shared with draws under way: when there are too many all are dropped.
  mutable std::mutex mutex_;
  mutable std::map<std::vector<std::int64_t>, std::shared_ptr<const Table>> tables_;
};

}  // namespace mapsim::nests
