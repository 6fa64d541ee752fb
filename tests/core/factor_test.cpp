// SPDX-License-Identifier: Apache-2.0
#include "core/factor.hpp"

#include <gtest/gtest.h>

namespace mapsim::factor_test {
namespace {

TEST(Factor, DivisorsAreAllThatDivide) {
  for (std::int64_t n = 1; n <= 1'000; ++n) {
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 1; i <= n; ++i) {
      if (n % i == 0) {
        expected.push_back(i);
      }
    }
    EXPECT_EQ(divisors_of(n), expected) << n;
  }
}

TEST(Factor, ExponentsOfPrimesDescend) {
  EXPECT_EQ(prime_exponents(1), std::vector<int>{});
  EXPECT_EQ(prime_exponents(997), std::vector{1});
  EXPECT_EQ(prime_exponents(2 * 7 * 7 * 7 * 11 * 11), (std::vector{3, 2, 1}));
}

// Its sum over all divisors is 0, except for 1.
TEST(Factor, MoebiusIsTheInverseOfOne) {
  EXPECT_EQ(moebius(1), 1);
  for (std::int64_t n = 2; n <= 1'000; ++n) {
    int sum = 0;
    for (const std::int64_t d : divisors_of(n)) {
      sum += moebius(d);
    }
    EXPECT_EQ(sum, 0) << n;
  }
}

}  // namespace
}  // namespace mapsim::factor_test
