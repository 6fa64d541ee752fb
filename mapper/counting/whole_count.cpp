// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/whole_count.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/factor.hpp"
#include "mapper/counting/counting.hpp"

namespace mapsim::nests {

namespace {

constexpr std::size_t kWordsOfStep = 64;  // at most, unless its words are equal

void add(std::vector<mpz_class>& sum, const std::vector<mpz_class>& other) {
  sum.resize(std::max(sum.size(), other.size()));
  for (std::size_t n = 0; n < other.size(); ++n) {
    sum[n] += other[n];
  }
}

}  // namespace

bool WholeCount::step(const std::function<bool()>& stop) {
  if (!begun_) {
    const bool is_listed = space_.count_unless([&stop](std::int64_t) { return stop(); });
    if (is_listed) {
      begin();
    }
    return is_listed;
  }
  const std::size_t next = next_++;
  if (next >= prefixes_.size()) {
    return false;
  }
  sums_[next] = count(prefixes_[next].words, prefixes_[next].depth);
  return true;
}

void WholeCount::begin() {
  find_words();
  sort_by_words();
  for_each_prefix(order_, 0, [&](Words prefix) { find_steps(prefix, 1); });
  sums_.resize(prefixes_.size());
  begun_ = true;
}

void WholeCount::find_words() {
  words_.reserve(space_.products().size() * width());
  for (const UnrollingClasses::Product& product : space_.products()) {
    words_.push_back(arrangement_class(product.used));
    for (const std::int64_t bound : product.left) {
      words_.push_back(letters_id(bound));
    }
  }
}

// Sorts by the last letter first, by stable counting sorts, since there are few different letters.
void WholeCount::sort_by_words() {
  order_.resize(space_.products().size());
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::vector<std::size_t> sorted(order_.size());
  for (std::size_t depth = width(); depth-- > 0;) {
    std::vector<std::size_t> before(std::max(letters_.size(), arrangements_.size()) + 1, 0);
    for (const std::size_t word : order_) {
      ++before[*at(word, depth) + 1];
    }
    std::partial_sum(before.begin(), before.end(), before.begin());
    for (const std::size_t word : order_) {
      sorted[before[*at(word, depth)]++] = word;
    }
    std::swap(order_, sorted);
  }
}

bool WholeCount::is_step(Words words, std::size_t depth) const {
  return words.size() <= kWordsOfStep || depth == width();
}

void WholeCount::find_steps(Words words, std::size_t depth) {
  if (is_step(words, depth)) {
    prefixes_.push_back({words, depth});
  } else {
    for_each_prefix(words, depth, [&](Words prefix) { find_steps(prefix, depth + 1); });
  }
}

mpz_class WholeCount::result() const {
  mpz_class nests;
  std::size_t next = 0;
  for_each_prefix(order_, 0, [&](Words prefix) {
    // The points of a nest of n letters lie in different ones of its n + 1 gaps.
    const Series& points = arrangements_[*at(prefix.front(), 0)];
    const Series letters = collect(prefix, 1, next);
    for (std::size_t n = 0; n < letters.size(); ++n) {
      mpz_class ways;
      for (std::size_t k = 0; k < points.size() && k <= n + 1; ++k) {
        add_multiple(ways, n + 1, k, points[k]);
      }
      nests += ways * letters[n];
    }
  });
  return nests;
}

std::size_t WholeCount::arrangement_class(const std::vector<FanoutId>& used) {
  const auto [entry, is_new] = arrangement_ids_.emplace(used, arrangements_.size());
  if (is_new) {
    arrangements_.push_back(count_arrangements(Placements{space_, used}));
  }
  return entry->second;
}

std::size_t WholeCount::letters_id(std::int64_t bound) {
  const auto known = ids_.find(bound);
  if (known != ids_.end()) {
    return known->second;
  }
  const auto [entry, is_new] = classes_.emplace(prime_exponents(bound), letters_.size());
  if (is_new) {
    letters_.push_back(count_letters(bound));
  }
  return ids_[bound] = entry->second;
}

// Calls visit() for each run of words with the same letter at `depth`.
template <class Visit>
void WholeCount::for_each_prefix(Words words, std::size_t depth, const Visit& visit) const {
  for (std::size_t first = 0, last = 0; first < words.size(); first = last) {
    while (last < words.size() && *at(words[last], depth) == *at(words[first], depth)) {
      ++last;
    }
    visit(words.subspan(first, last - first));
  }
}

// The sequences of letters of the dims from `depth` on, summed over the unrollings of these words,
// times their ways to give factors to axes. `sum_of(prefix)`: the same from depth + 1 on.
template <class SumOfPrefix>
WholeCount::Series WholeCount::mix(Words words, std::size_t depth,
                                   const SumOfPrefix& sum_of) const {
  Series all(1);
  for_each_prefix(words, depth, [&](Words prefix) {
    add(all, mix_letters(letters_[*at(prefix.front(), depth)], sum_of(prefix)));
  });
  return all;
}

WholeCount::Series WholeCount::count(Words words, std::size_t depth) const {
  if (depth < width()) {
    return mix(words, depth, [&](Words prefix) { return count(prefix, depth + 1); });
  }
  Series all(1);
  for (const std::size_t word : words) {
    all[0] += static_cast<long>(space_.products()[word].unrollings);
  }
  return all;
}

// The same from the sums of the steps; `next` is the index of the next one.
WholeCount::Series WholeCount::collect(Words words, std::size_t depth, std::size_t& next) const {
  if (is_step(words, depth)) {
    return sums_[next++];
  }
  return mix(words, depth, [&](Words prefix) { return collect(prefix, depth + 1, next); });
}

}  // namespace mapsim::nests
