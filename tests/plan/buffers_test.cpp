// SPDX-License-Identifier: Apache-2.0
#include "plan/buffers.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/rng.hpp"
#include "plan/plan.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::buffers_test {
namespace {

const std::string kFolder = source_path("configs/");

bool overlap(const Buffer& a, const Buffer& b) {
  return a.first <= b.last && b.first <= a.last && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

TEST(Buffers, NeverOverlapWhileBothAreAlive) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng{seed};
    std::vector<Buffer> buffers;
    for (std::int64_t i = rng.between(1, 30); i > 0; --i) {
      const auto first = static_cast<std::size_t>(rng.between(0, 20));
      buffers.push_back({"t", rng.between(1, 50), first, first + rng.below(6), 0});
    }
    const MemoryMap map = place(buffers);
    for (std::size_t i = 0; i < map.buffers.size(); ++i) {
      EXPECT_LE(map.buffers[i].offset + map.buffers[i].bytes, map.peak);
      for (std::size_t j = 0; j < i; ++j) {
        EXPECT_FALSE(overlap(map.buffers[i], map.buffers[j])) << "seed " << seed;
      }
    }
    std::int64_t most = 0;
    for (std::size_t step = 0; step < 30; ++step) {
      std::int64_t alive = 0;
      for (const Buffer& each : buffers) {
        alive += each.first <= step && step <= each.last ? each.bytes : 0;
      }
      most = std::max(most, alive);
    }
    EXPECT_EQ(map.bound, most);
    EXPECT_GE(map.peak, map.bound);
    EXPECT_LE(map.peak, map.naive);
  }
}

// Three that meet pairwise in a ring of time need more than any two of them.
TEST(Buffers, FillHolesFromBelow) {
  const MemoryMap map = place({{"a", 4, 0, 1, 0}, {"b", 3, 1, 2, 0}, {"c", 2, 2, 3, 0}});
  EXPECT_EQ(map.peak, 7);
  EXPECT_EQ(map.bound, 7);
  EXPECT_EQ(map.naive, 9);
  EXPECT_EQ(map.buffers[2].offset, 0);
}

MemoryMap memory_of(const std::string& network, Fusion fusion) {
  const Network loaded = load_network(kFolder + "networks/graphs/" + network + ".yaml");
  PlanOptions options;
  options.fusion = fusion;
  // All on one engine, whose prices do not matter here.
  const Soc soc = load_soc(kFolder + "arch/nv_large.yaml");
  return make_plan(soc, loaded, options, "", "").memory;
}

// Pisarchyk and Lee, arXiv 2001.03288: 5.742 MiB of floats at least, and greedy by size; 26.313 MiB
// without sharing, which is without the image, and with a softmax that our graph lacks.
TEST(Buffers, AreThoseOfMobileNetV2) {
  const MemoryMap map = memory_of("mobilenet_v2", Fusion::kNone);
  EXPECT_EQ(map.bound, 1'505'280);
  EXPECT_EQ(map.peak, 1'505'280);
  constexpr std::int64_t kImage = 3 * 224 * 224;
  constexpr std::int64_t kClasses = 1000;
  EXPECT_NEAR(static_cast<double>(map.naive - kImage + kClasses) * 4 / (1 << 20), 26.313, 0.001);
}

TEST(Buffers, AreSharedByAnElidedConcatAndItsParts) {
  EXPECT_LT(memory_of("squeezenet", Fusion::kElision).naive,
            memory_of("squeezenet", Fusion::kHorizontal).naive);
}

}  // namespace
}  // namespace mapsim::buffers_test
