// SPDX-License-Identifier: Apache-2.0
#include "check/fused_bound.hpp"

#include <gtest/gtest.h>

#include "tests/mapper/brute_chain.hpp"

namespace mapsim {
namespace {

// Halos that are kept or made again, arrays, partial sums that a group comes back to: the least of
// all trees follows from above, and no tree is below it.
TEST(FusedBound, IsWhatBruteForceFinds) {
  const check::FusedSpace space{kMaxEinsums, kMaxDims, true};
  std::int64_t trees = 0;
  std::int64_t joined = 0;
  for (const std::uint64_t seed : {2U, 8U, 12U, 20U, 22U, 1'000'002U, 1'000'012U, 1'000'026U}) {
    const TinyChain tiny = tiny_chain(seed);
    const std::vector<TreePoint> front = front_by_force(tiny.arch, tiny.chain, false, trees);
    ASSERT_FALSE(front.empty());
    const double least = front.front().energy;
    const auto above = check::bound_trees(tiny.arch, tiny.chain, space, 2 * least, {});
    EXPECT_NEAR(above.energy, least, 1e-9 * least) << "seed " << seed << "\n" << describe(tiny);
    const double enough = least * (1 - 1e-9);
    EXPECT_EQ(check::bound_trees(tiny.arch, tiny.chain, space, enough, {}).energy, enough);
    joined += above.joined;
  }
  EXPECT_GT(joined, 0);
}

// A smaller space has no smaller least.
TEST(FusedBound, KnowsTheSpace) {
  const TinyChain tiny = tiny_chain(2);
  const double all =
      check::bound_trees(tiny.arch, tiny.chain, {kMaxEinsums, kMaxDims, true}, 1e9, {}).energy;
  const double apart = check::bound_trees(tiny.arch, tiny.chain, {1, 0, false}, 1e9, {}).energy;
  EXPECT_LT(all, 1e9);
  EXPECT_LE(all, apart);
}

}  // namespace
}  // namespace mapsim
