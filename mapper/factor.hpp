// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

namespace mapsim {

// Every divisor of n >= 1, ascending.
std::vector<std::int64_t> divisors(std::int64_t n);

// Exponents of the primes of n, largest first: 12 -> {2, 1}. Whatever counts factorisations depends
// on nothing else.
std::vector<int> prime_exponents(std::int64_t n);

}  // namespace mapsim
