// SPDX-License-Identifier: Apache-2.0
#include "plan/offsets.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/rng.hpp"

namespace mapsim::offsets_test {
namespace {

constexpr std::size_t kNodes = 1'000'000;

bool meet(const Buffer& a, const Buffer& b) { return a.first <= b.last && b.first <= a.last; }

void expect_apart(const std::vector<Buffer>& buffers, const std::vector<std::int64_t>& offsets,
                  std::int64_t capacity) {
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    EXPECT_GE(offsets[a], 0);
    EXPECT_LE(offsets[a] + buffers[a].bytes, capacity);
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_TRUE(!meet(buffers[a], buffers[b]) || offsets[a] + buffers[a].bytes <= offsets[b] ||
                  offsets[b] + buffers[b].bytes <= offsets[a]);
    }
  }
}

// The least that any order of placing needs, each buffer as low as those before it let it: some
// order gives the optimum.
std::int64_t least_of_all_orders(const std::vector<Buffer>& buffers) {
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  do {
    std::vector<Buffer> placed;
    std::int64_t peak = 0;
    for (const std::size_t b : order) {
      Buffer buffer = buffers[b];
      buffer.offset = 0;
      for (const Buffer& other : placed) {  // on top of all that it meets
        if (meet(buffer, other)) {
          buffer.offset = std::max(buffer.offset, other.offset + other.bytes);
        }
      }
      peak = std::max(peak, buffer.offset + buffer.bytes);
      placed.push_back(buffer);
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Offsets, FitTheLeastCapacityOfAllOrdersAndNoLess) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng{seed};
    std::vector<Buffer> buffers;
    for (std::int64_t b = rng.between(2, 6); b > 0; --b) {
      const auto first = static_cast<std::size_t>(rng.between(0, 6));
      buffers.push_back(
          {"", rng.between(1, 9), first, first + static_cast<std::size_t>(rng.between(0, 4)), 0});
    }
    const std::int64_t least = least_of_all_orders(buffers);
    const OffsetSearch fits = find_offsets(buffers, least, kNodes);
    ASSERT_TRUE(fits.offsets) << seed;
    expect_apart(buffers, *fits.offsets, least);
    const OffsetSearch none = find_offsets(buffers, least - 1, kNodes);
    EXPECT_FALSE(none.offsets) << seed;
    EXPECT_TRUE(none.proven) << seed;
  }
}

}  // namespace
}  // namespace mapsim::offsets_test
