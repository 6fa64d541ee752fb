// SPDX-License-Identifier: Apache-2.0
#include "mapper/counting/counting.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/factor.hpp"

namespace mapsim::nests {

namespace {

using Series = std::vector<mpz_class>;

// Pascal's triangle, up to rows whose numbers certainly fit.
constexpr std::size_t kRows = 63;
using Triangle = std::array<std::array<std::uint64_t, kRows>, kRows>;

constexpr Triangle make_triangle() {
  Triangle rows{};
  for (std::size_t n = 0; n < kRows; ++n) {
    rows[n][0] = 1;
    for (std::size_t k = 1; k <= n; ++k) {
      rows[n][k] = rows[n - 1][k - 1] + rows[n - 1][k];
    }
  }
  return rows;
}

constexpr Triangle kTriangle = make_triangle();

}  // namespace

void add_multiple(mpz_class& sum, std::size_t n, std::size_t k, const mpz_class& x) {
  if (n < kRows && k < kRows) {
    mpz_addmul_ui(sum.get_mpz_t(), x.get_mpz_t(), kTriangle[n][k]);
  } else {
    sum += binomial(n, k) * x;
  }
}

mpz_class binomial(std::size_t n, std::size_t k) {
  mpz_class result;
  mpz_bin_uiui(result.get_mpz_t(), n, k);
  return result;
}

namespace {

// The number of non-decreasing sequences of m positions among n.
mpz_class multichoose(std::size_t n, std::size_t m) {
  return m == 0 ? mpz_class{1} : binomial(n + m - 1, m);
}

// h(n) = sum over c >= n of (-1)^(c-n) C(c-1, n-1) H(c): the functional x^c -> H(c) applied to
// (x / (1 + x))^n. See count_loop_words().
Series alternated(const Series& factorizations) {
  Series h(factorizations.size());
  h[0] = factorizations[0];
  for (std::size_t n = 1; n < h.size(); ++n) {
    for (std::size_t c = n; c < h.size(); ++c) {
      const mpz_class term = binomial(c - 1, n - 1) * factorizations[c];
      h[n] += (c - n) % 2 == 0 ? term : mpz_class{-term};
    }
  }
  return h;
}

Series multiply(const Series& a, const Series& b) {
  Series product(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = 0; k < b.size(); ++k) {
      product[i + k] += a[i] * b[k];
    }
  }
  return product;
}

}  // namespace

mpz_class spread(const Chain& chain, std::size_t begin, std::size_t end, std::size_t n) {
  Series choices{1};
  for (std::size_t level = begin; level < end; ++level) {
    const ChainLevel& place = chain[static_cast<LevelId>(level)];
    choices = multiply(choices, {place.required ? 0 : 1, place.choices.size()});
  }
  mpz_class ways;
  for (std::size_t m = 0; m < choices.size(); ++m) {
    ways += choices[m] * multichoose(n, m);
  }
  return ways;
}

namespace {

// The most points that keeps and fanouts can occupy.
std::size_t most_points(const Placements& placements) {
  std::size_t most = placements.used_fanouts().size();
  for (const Chain& chain : placements.chains()) {
    most += static_cast<std::size_t>(
        std::count_if(chain.begin(), chain.end(),
                      [](const ChainLevel& place) { return !place.choices.empty(); }));
  }
  return most;
}

// R(k): the ways to put keeps and fanouts on k points, which may stay empty. For fixed points of
// the used fanouts, stage p has an interval of n_p >= 1 points. Neighbouring intervals share an
// end, so sum n_p = k + fanouts. The ways of a stage are a product over chains.
Series count_loose(const Placements& placements) {
  const std::size_t fanouts = placements.used_fanouts().size();
  const std::size_t size = most_points(placements) + fanouts + 1;
  Series loose;
  for (std::size_t stage = 0; stage <= fanouts; ++stage) {
    Series ways(size);
    for (std::size_t n = fanouts == 0 ? 0 : 1; n < size; ++n) {
      ways[n] = 1;
      for (const Chain& chain : placements.chains()) {
        ways[n] *= spread(chain, placements.first_level(stage), placements.end_level(stage), n);
      }
    }
    loose = stage == 0 ? ways : multiply(loose, ways);
    loose.resize(size);
  }
  loose.erase(loose.begin(), loose.begin() + static_cast<std::ptrdiff_t>(fanouts));
  return loose;
}

const mpz_class& at_or_zero(const Series& counts, std::size_t i) {
  static const mpz_class zero{0};
  return i < counts.size() ? counts[i] : zero;
}

}  // namespace

// H(n, c) = sum_i (-1)^(c-i) C(c, i) prod_primes C(e + i - 1, e): factors >= 1, less those with
// a 1.
std::vector<mpz_class> ordered_factorizations(std::int64_t n) {
  const std::vector<int> exponents = prime_exponents(n);
  std::size_t most = 0;
  for (const int exponent : exponents) {
    most += static_cast<std::size_t>(exponent);
  }
  Series counts(most + 1);
  for (std::size_t c = 0; c <= most; ++c) {
    for (std::size_t i = 0; i <= c; ++i) {
      mpz_class term = binomial(c, i);
      for (const int exponent : exponents) {
        term *= i == 0 ? mpz_class{0} : multichoose(i, static_cast<std::size_t>(exponent));
      }
      counts[c] += (c - i) % 2 == 0 ? term : mpz_class{-term};
    }
  }
  return counts;
}

std::vector<mpz_class> count_letters(std::int64_t bound) {
  return alternated(ordered_factorizations(bound));
}

std::vector<mpz_class> mix_letters(const std::vector<mpz_class>& a,
                                   const std::vector<mpz_class>& b) {
  Series mixed(a.size() + b.size() - 1);
  mpz_class both;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t n = 0; n < b.size(); ++n) {
      if (a[i] != 0 && b[n] != 0) {
        both = a[i] * b[n];
        add_multiple(mixed[i + n], i + n, n, both);
      }
    }
  }
  return mixed;
}

// Words without equal neighbours have the generating function 1 / (1 - u) with u = sum_d x_d / (1 +
// x_d) (Carlitz). Non-empty ones have G = u / (1 - u), and j barriers between j + 1 of them G^(j+1)
// = sum_N C(N-1, j) u^N. Factors come in by the linear functional x_d^c -> H(D_d, c). It turns u^N
// into N! [z^N] prod_d sum_n h_d(n) z^n / n!, a binomial convolution of the h_d.
std::vector<mpz_class> count_loop_words(const std::vector<std::int64_t>& bounds) {
  Series powers{1};  // of u, under the functional
  for (const std::int64_t bound : bounds) {
    powers = mix_letters(powers, count_letters(bound));
  }
  Series words(powers.size() - 1);
  for (std::size_t j = 0; j < words.size(); ++j) {
    for (std::size_t n = j + 1; n < powers.size(); ++n) {
      add_multiple(words[j], n - 1, j, powers[n]);
    }
  }
  return words;
}

std::vector<mpz_class> count_arrangements(const Placements& placements) {
  const Series loose = count_loose(placements);
  Series exact(loose.size());
  for (std::size_t k = 0; k < exact.size(); ++k) {
    for (std::size_t i = 0; i <= k; ++i) {
      const mpz_class term = binomial(k, i) * loose[i];
      exact[k] += (k - i) % 2 == 0 ? term : mpz_class{-term};
    }
  }
  return exact;
}

// Of k points that are not empty, those before the first loop and behind the last one separate no
// loops; the others are barriers between loops. Without loops there is only one point.
mpz_class count_nests(const std::vector<mpz_class>& arrangements,
                      const std::vector<mpz_class>& words) {
  if (words.empty()) {
    return at_or_zero(arrangements, 0) + at_or_zero(arrangements, 1);
  }
  mpz_class nests;
  for (std::size_t k = 0; k < arrangements.size(); ++k) {
    mpz_class ways = at_or_zero(words, k);
    ways += k >= 1 ? mpz_class{2 * at_or_zero(words, k - 1)} : mpz_class{0};
    ways += k >= 2 ? at_or_zero(words, k - 2) : mpz_class{0};
    nests += arrangements[k] * ways;
  }
  return nests;
}

std::size_t MappingCounter::word_class(const UnrollingClass& unrolling_class) {
  std::vector<std::int64_t> bounds;
  std::vector<std::vector<int>> key;
  for (const std::int64_t bound : temporal_bounds(space_->problem().workload(), unrolling_class)) {
    if (bound == 1) {
      continue;
    }
    auto& exponents = exponents_[bound];
    if (exponents.empty()) {
      exponents = prime_exponents(bound);
    }
    key.push_back(exponents);
    bounds.push_back(bound);
  }
  std::sort(key.begin(), key.end());
  const auto [entry, is_new] = word_ids_.emplace(std::move(key), words_.size());
  if (is_new) {
    words_.push_back(count_loop_words(bounds));
  }
  return entry->second;
}

std::size_t MappingCounter::arrangement_class(const UnrollingClass& unrolling_class) {
  const auto [entry, is_new] =
      arrangement_ids_.emplace(used_fanouts(unrolling_class), arrangements_.size());
  if (is_new) {
    arrangements_.push_back(count_arrangements(Placements{*space_, unrolling_class}));
  }
  return entry->second;
}

const mpz_class& MappingCounter::count(const UnrollingClass& unrolling_class) {
  const std::size_t arrangement = arrangement_class(unrolling_class);
  const std::size_t word = word_class(unrolling_class);
  const auto [entry, is_new] = counts_.emplace(std::pair{arrangement, word}, mpz_class{});
  if (is_new) {
    entry->second = count_nests(arrangements_[arrangement], words_[word]);
  }
  return entry->second;
}

bool is_measured_by_rules(const Mapspace& space, const Regions& regions, DimId dim) {
  const auto& rules = space.constraints().extents;
  bool measured = std::any_of(rules.begin(), rules.end(),
                              [dim](const ExtentRule& rule) { return rule.dim == dim; });
  for (std::size_t r = 0; r < regions.size(); ++r) {
    measured = measured || regions[r].tracks(dim);
  }
  return measured;
}

std::vector<std::uint64_t> groups_of(const Regions& regions, DimId dim) {
  std::vector<std::uint64_t> groups;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    groups.push_back(regions[r].groups_of(dim));
  }
  return groups;
}

}  // namespace mapsim::nests
