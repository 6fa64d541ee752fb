// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace mapsim {

// Calls visit(prime, exponent) for the prime factors of n >= 1, ascending.
template <class Visit>
void for_each_prime(std::int64_t n, Visit visit) {
  for (std::int64_t p = 2; p * p <= n; ++p) {
    int exponent = 0;
    for (; n % p == 0; n /= p) {
      ++exponent;
    }
    if (exponent > 0) {
      visit(p, exponent);
    }
  }
  if (n > 1) {
    visit(n, 1);
  }
}

// Every divisor of n >= 1, ascending.
std::vector<std::int64_t> divisors_of(std::int64_t n);

// The exponents of the primes of n, largest first: 12 -> {2, 1}. The number of factorisations
// depends on nothing else.
std::vector<int> prime_exponents(std::int64_t n);

// The Moebius function: 0 if a square divides n, else 1 or -1 for an even or odd number of primes.
int moebius(std::int64_t n);

}  // namespace mapsim
