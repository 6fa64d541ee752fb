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

// Pieces of a rectangle of time and bytes that cuts leave; after a quarter of the time one of five
// is missing, so that some moments are crowded and others are not.
std::vector<Buffer> pieces(std::uint64_t seed, std::size_t count, std::int64_t capacity,
                           std::int64_t times) {
  Rng rng{seed};
  std::vector<Buffer> all{{"", capacity, 0, static_cast<std::size_t>(times - 1), 0}};
  while (all.size() < count) {
    Buffer& one = all[static_cast<std::size_t>(rng.between(0, std::ssize(all) - 1))];
    const auto time = static_cast<std::int64_t>(one.last - one.first) + 1;
    Buffer other = one;
    if (rng.between(0, 1) == 0) {
      if (time < 2) {
        continue;
      }
      other.first = one.first + static_cast<std::size_t>(rng.between(1, time - 1));
      one.last = other.first - 1;
    } else if (one.bytes < 2) {
      continue;
    } else {
      one.bytes = rng.between(1, one.bytes - 1);
      other.bytes -= one.bytes;
    }
    all.push_back(other);
  }
  std::erase_if(all, [&](const Buffer& piece) {
    return piece.first >= static_cast<std::size_t>(times) / 4 && rng.between(0, 9) >= 8;
  });
  return all;
}

// Nothing is left over in the crowded moments.
TEST(Offsets, PackCrowdedMoments) {
  constexpr std::int64_t kCapacity = 4096;
  for (const std::size_t count : {50, 150, 200}) {
    const std::vector<Buffer> buffers = pieces(1, count, kCapacity, 64);
    const OffsetSearch found = find_offsets(buffers, kCapacity, 20'000);
    ASSERT_TRUE(found.offsets) << count;
    expect_apart(buffers, *found.offsets, kCapacity);
  }
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
