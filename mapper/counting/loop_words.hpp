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

// Draws loop nests uniformly. A nest is a sequence of non-empty blocks of loops; adjacent loops of
// a block are over different dims, and the factors of each dim have a given product.
//
// A word of loops is built dim by dim, those with most loops first. It starts as blocks + 1
// barriers, all of whose gaps are bad, which means that equal neighbours meet there. The c loops of
// a dim enter in m runs: i of them in the b bad gaps, and m - i in the g - b good gaps. A run of s
// loops adds s gaps, of which s - 1 are bad. In the end no gap may be bad. Counting backwards gives
// exact weights for drawing c, m and i.
class LoopWords {
 public:
  explicit LoopWords(const Workload& workload);  // tables for every divisor of its bounds
  LoopWords(const LoopWords&) = delete;          // its tables point into it
  LoopWords& operator=(const LoopWords&) = delete;
  ~LoopWords();

  // `bounds` divide the workload's bounds, at least one of them is > 1, and there are enough loops
  // for the blocks. Several threads may call it.
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
  // By number of blocks and bounds, in the order of the stages; made on first use, and shared with
  // draws that are running. If there are too many, all are dropped.
  mutable std::mutex mutex_;
  mutable std::map<std::vector<std::int64_t>, std::shared_ptr<const Table>> tables_;
};

}  // namespace mapsim::nests
