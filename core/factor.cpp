// SPDX-License-Identifier: Apache-2.0
#include "core/factor.hpp"

#include <algorithm>
#include <functional>

namespace mapsim {

std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> found{1};
  for_each_prime(n, [&](std::int64_t prime, int exponent) {
    const std::size_t before = found.size();
    std::int64_t power = 1;
    for (int e = 1; e <= exponent; ++e) {
      power *= prime;
      for (std::size_t i = 0; i < before; ++i) {
        found.push_back(found[i] * power);
      }
    }
  });
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<int> prime_exponents(std::int64_t n) {
  std::vector<int> exponents;
  for_each_prime(n, [&](std::int64_t, int exponent) { exponents.push_back(exponent); });
  std::sort(exponents.begin(), exponents.end(), std::greater<>{});
  return exponents;
}

int moebius(std::int64_t n) {
  int sign = 1;
  for_each_prime(n, [&](std::int64_t, int exponent) { sign = exponent > 1 ? 0 : -sign; });
  return sign;
}

}  // namespace mapsim
