// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/loop_words.hpp"

#include <algorithm>
#include <utility>

#include "core/factor.hpp"
#include "mapper/counting/counting.hpp"

namespace mapsim::nests {
namespace {

// A word in the making: indices of dims, and barriers.
using Word = std::vector<int>;
constexpr int kBarrier = -1;

// `count` of the items, in their order; all subsets are equally likely.
std::vector<std::size_t> draw_subset(std::vector<std::size_t> items, std::size_t count, Rng& rng) {
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(items[i], items[i + rng.below(items.size() - i)]);
  }
  items.resize(count);
  std::sort(items.begin(), items.end());
  return items;
}

// `total` as an ordered sum of `parts` positive terms, uniformly.
std::vector<std::size_t> draw_composition(std::size_t total, std::size_t parts, Rng& rng) {
  std::vector<std::size_t> cuts;
  for (std::size_t cut = 1; cut < total; ++cut) {
    cuts.push_back(cut);
  }
  cuts = draw_subset(std::move(cuts), parts - 1, rng);
  cuts.push_back(total);
  for (std::size_t i = cuts.size() - 1; i > 0; --i) {
    cuts[i] -= cuts[i - 1];
  }
  return cuts;
}

// The most letters of a word: bounds multiply to at most 2^53, and each block has a barrier.
constexpr std::size_t kMostLetters = 128;
// About 60 kB each.
constexpr std::size_t kMostTables = 2048;

}  // namespace

struct LoopWords::Insertion {
  std::size_t loops = 0;
  std::size_t runs = 0;
  std::size_t runs_in_bad = 0;
};

// The ways to complete a word, by dims inserted, gaps, and bad gaps.
class LoopWords::Table {
 public:
  Table(const LoopWords& owner, std::vector<const Factorizations*> dims, std::size_t blocks)
      : owner_{owner}, dims_{std::move(dims)}, most_before_{blocks} {
    for (const Factorizations* dim : dims_) {
      most_before_.push_back(most_before_.back() + dim->most());
    }
    stride_ = most_before_.back() + 1;
    ways_.assign((dims_.size() + 1) * stride_ * stride_, 0.0);
    for (std::size_t gaps = 0; gaps < stride_; ++gaps) {
      at(dims_.size(), gaps, 0) = 1.0;
    }
    for (std::size_t stage = dims_.size(); stage-- > 0;) {
      fill(stage, blocks + stage);
    }
  }

  Insertion draw(std::size_t stage, std::size_t gaps, std::size_t bad, Rng& rng) const {
    double rest = rng.uniform() * at(stage, gaps, bad);
    Insertion drawn;
    bool is_drawn = false;
    for_each_insertion(stage, gaps, bad, [&](const Insertion& insertion, double weight) {
      if (weight > 0 && !is_drawn) {
        drawn = insertion;  // the last one possible, should rounding leave a rest
        is_drawn = rest < weight;
        rest -= weight;
      }
    });
    return drawn;
  }

 private:
  double& at(std::size_t stage, std::size_t gaps, std::size_t bad) {
    return ways_[(stage * stride_ + gaps) * stride_ + bad];
  }
  double at(std::size_t stage, std::size_t gaps, std::size_t bad) const {
    return ways_[(stage * stride_ + gaps) * stride_ + bad];
  }

  // A loop mends at most one bad gap, so entries with more bad gaps than loops stay 0.
  void fill(std::size_t stage, std::size_t least_gaps) {
    const std::size_t loops_to_come = most_before_.back() - most_before_[stage];
    for (std::size_t gaps = least_gaps; gaps <= most_before_[stage]; ++gaps) {
      for (std::size_t bad = 0; bad <= std::min(gaps, loops_to_come); ++bad) {
        double total = 0;
        for_each_insertion(stage, gaps, bad,
                           [&](const Insertion&, double weight) { total += weight; });
        at(stage, gaps, bad) = total;
      }
    }
  }

  template <class Visit>
  void for_each_insertion(std::size_t stage, std::size_t gaps, std::size_t bad, Visit visit) const {
    const auto& choose = owner_.binomials_;
    const Factorizations& dim = *dims_[stage];
    for (std::size_t loops = 1; loops <= dim.most(); ++loops) {
      for (std::size_t runs = 1; runs <= std::min(loops, gaps); ++runs) {
        const double split = dim.counts[loops] * choose[loops - 1][runs - 1];
        const std::size_t good = gaps - bad;
        for (std::size_t mended = runs - std::min(runs, good); mended <= std::min(runs, bad);
             ++mended) {
          const double places = choose[bad][mended] * choose[good][runs - mended];
          visit(Insertion{loops, runs, mended},
                split * places * at(stage + 1, gaps + loops, bad - mended + loops - runs));
        }
      }
    }
  }

  const LoopWords& owner_;
  std::vector<const Factorizations*> dims_;
  std::vector<std::size_t> most_before_;  // most gaps before each stage
  std::size_t stride_ = 0;
  std::vector<double> ways_;
};

LoopWords::LoopWords(const Workload& workload) : binomials_(kMostLetters) {
  for (const Dim& dim : workload.dims) {
    for (const std::int64_t n : divisors_of(dim.bound)) {
      Factorizations& entry = factorizations_[n];
      if (entry.divisors.empty()) {
        entry.divisors = divisors_of(n);
        for (const mpz_class& count : ordered_factorizations(n)) {
          entry.counts.push_back(count.get_d());
        }
      }
    }
  }
  for (std::size_t n = 0; n < kMostLetters; ++n) {
    binomials_[n].assign(kMostLetters, 0.0);
    binomials_[n][0] = 1.0;
    for (std::size_t k = 1; k <= n; ++k) {
      binomials_[n][k] = binomials_[n - 1][k - 1] + binomials_[n - 1][k];
    }
  }
}

// The first factor f leaves H(n / f, count - 1) ways for the others.
std::vector<std::int64_t> LoopWords::draw_factors(std::int64_t bound, std::size_t count,
                                                  Rng& rng) const {
  std::vector<std::int64_t> factors;
  for (std::size_t left = count; left > 0; --left) {
    const Factorizations& here = factorizations_.at(bound);
    double rest = rng.uniform() * here.counts[left];
    std::int64_t drawn = bound;
    for (const std::int64_t factor : here.divisors) {
      const auto& counts = factorizations_.at(bound / factor).counts;
      const double weight = factor > 1 && left <= counts.size() ? counts[left - 1] : 0.0;
      if (weight > 0) {
        drawn = factor;
        if (rest < weight) {
          break;
        }
        rest -= weight;
      }
    }
    factors.push_back(drawn);
    bound /= drawn;
  }
  return factors;
}

namespace {

// Inserts `runs` runs of `letter`, with `loops` letters in all, into `word`.
Word insert_runs(const Word& word, int letter, std::size_t loops, std::size_t runs,
                 std::size_t runs_in_bad, Rng& rng) {
  std::vector<std::size_t> bad;
  std::vector<std::size_t> good;
  for (std::size_t gap = 0; gap + 1 < word.size(); ++gap) {
    (word[gap] == word[gap + 1] ? bad : good).push_back(gap);
  }
  std::vector<std::size_t> places = draw_subset(std::move(bad), runs_in_bad, rng);
  for (const std::size_t gap : draw_subset(std::move(good), runs - runs_in_bad, rng)) {
    places.push_back(gap);
  }
  std::sort(places.begin(), places.end());
  const std::vector<std::size_t> sizes = draw_composition(loops, runs, rng);
  Word result;
  std::size_t run = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    result.push_back(word[i]);
    if (run < places.size() && places[run] == i) {
      result.insert(result.end(), sizes[run], letter);
      ++run;
    }
  }
  return result;
}

}  // namespace

LoopWords::~LoopWords() = default;

// Filling a table takes longer than drawing a nest, so tables are shared.
std::shared_ptr<const LoopWords::Table> LoopWords::table(const std::vector<DimId>& dims,
                                                         const PerDim<std::int64_t>& bounds,
                                                         std::size_t blocks) const {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(blocks)};
  std::vector<const Factorizations*> entries;
  for (const DimId d : dims) {
    key.push_back(bounds[d]);
    entries.push_back(&factorizations_.at(bounds[d]));
  }
  const std::lock_guard lock(mutex_);
  if (tables_.size() >= kMostTables) {
    tables_.clear();
  }
  std::shared_ptr<const Table>& known = tables_[key];
  if (!known) {
    known = std::make_shared<const Table>(*this, std::move(entries), blocks);
  }
  return known;
}

std::vector<Block> LoopWords::draw(const PerDim<std::int64_t>& bounds, std::size_t blocks,
                                   Rng& rng) const {
  std::vector<DimId> dims;
  for (const DimId d : bounds.ids()) {
    if (bounds[d] > 1) {
      dims.push_back(d);
    }
  }
  const auto entry = [&](DimId d) { return &factorizations_.at(bounds[d]); };
  std::stable_sort(dims.begin(), dims.end(),
                   [&](DimId a, DimId b) { return entry(a)->most() > entry(b)->most(); });
  const std::shared_ptr<const Table> table = this->table(dims, bounds, blocks);
  Word word(blocks + 1, kBarrier);
  std::size_t bad = blocks;
  PerDim<std::vector<std::int64_t>> factors(bounds.size());
  for (std::size_t stage = 0; stage < dims.size(); ++stage) {
    const Insertion drawn = table->draw(stage, word.size() - 1, bad, rng);
    word = insert_runs(word, static_cast<int>(index_of(dims[stage])), drawn.loops, drawn.runs,
                       drawn.runs_in_bad, rng);
    bad += drawn.loops - drawn.runs - drawn.runs_in_bad;
    factors[dims[stage]] = draw_factors(bounds[dims[stage]], drawn.loops, rng);
  }

  std::vector<Block> nest;
  PerDim<std::size_t> used(bounds.size(), 0);
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    if (word[i] == kBarrier) {
      nest.emplace_back();
      continue;
    }
    const auto dim = static_cast<DimId>(word[i]);
    nest.back().push_back({dim, factors[dim][used[dim]++]});
  }
  return nest;
}

}  // namespace mapsim::nests
