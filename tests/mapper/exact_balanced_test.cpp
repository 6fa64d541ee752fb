// SPDX-License-Identifier: Apache-2.0
// The exact mapper on spaces with balanced factors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "costmodel/nest.hpp"
#include "costmodel/reference/simulate.hpp"
#include "exact_check.hpp"
#include "random_space.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {
namespace {

bool is_perfect(const Workload& workload, const Mapping& mapping) {
  return make_nest(workload, mapping).perfect;
}

constexpr std::uint64_t kShards = 8;
constexpr std::uint64_t kSpacesPerShard = 100;
constexpr std::int64_t kMaxSize = 3'000;

class ExactOnBalancedSpaces : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ExactOnBalancedSpaces, testing::Range<std::uint64_t>(0, kShards));

TEST_P(ExactOnBalancedSpaces, FindsTheOptimumOfEveryObjectiveAndProvesIt) {
  for (std::uint64_t i = 0; i < kSpacesPerShard; ++i) {
    const std::uint64_t seed = 40'000 + 1'000 * GetParam() + i;
    const bool all = i % 4 == 0;  // ramped latency keeps labels apart: in small spaces only
    EXPECT_EQ(exact_mismatch(random_balanced_space(seed, all ? kMaxSize / 10 : kMaxSize), all), "")
        << "seed " << seed;
  }
}

// The optimum is counted by walking it, too.
TEST(BalancedOptima, CostWhatTheSimulatorCounts) {
  int imperfect = 0;
  for (std::uint64_t seed = 60'000; seed < 60'060; ++seed) {
    const SearchCase random = random_balanced_space(seed, 3'000);
    const SearchResult result = search_exact(Mapspace{random.problem, random.constraints}, {});
    if (result.best) {
      const PerTensor<DenseTensor> operands = random_operands(random.problem.workload(), seed);
      EXPECT_EQ(simulate(random.problem, *result.best, operands, 1'000'000).counts,
                result.cost->counts)
          << "seed " << seed;
      imperfect += is_perfect(random.problem.workload(), *result.best) ? 0 : 1;
    }
  }
  EXPECT_GT(imperfect, 10);
}

// Tiles of each level of a chain of nested loops over one dim, by extent.
std::vector<std::int64_t> tiles_of_chain(std::int64_t bound,
                                         const std::vector<std::int64_t>& chain) {
  std::map<std::int64_t, std::int64_t> tiles{{bound, 1}};  // size -> how many
  std::vector<std::int64_t> counts;
  for (const std::int64_t extent : chain) {
    std::map<std::int64_t, std::int64_t> cut;
    std::int64_t count = 0;
    for (const auto& [size, times] : tiles) {
      if (size >= extent) {
        cut[extent] += times * (size / extent);
      }
      if (size % extent > 0) {
        cut[size % extent] += times;
      }
      count += times * ((size + extent - 1) / extent);
    }
    tiles = std::move(cut);
    counts.push_back(count);
  }
  return counts;
}

std::vector<std::int64_t> chain_of(const Ladder& ladder, std::uint64_t mask) {
  std::vector<std::int64_t> chain;
  for (std::size_t rung = ladder.size() - 1; rung-- > 0;) {
    if (((mask >> rung) & 1U) != 0) {
      chain.push_back(ladder[rung]);
    }
  }
  return chain;
}

// Is there a chain with a tile in place of each of `places`, none larger and none of them in more
// numbers?
bool has_substitute(const Ladder& ladder, const std::vector<std::int64_t>& places,
                    const std::vector<std::int64_t>& counts) {
  for (std::uint64_t mask = 1; mask < std::uint64_t{1} << (ladder.size() - 1); ++mask) {
    const std::vector<std::int64_t> chain = chain_of(ladder, mask);
    const std::vector<std::int64_t> tiles = tiles_of_chain(ladder.back(), chain);
    bool serves = true;
    for (std::size_t i = 0; i < places.size() && serves; ++i) {
      std::size_t at = 0;
      while (at < chain.size() && chain[at] > places[i]) {
        ++at;
      }
      serves = at < chain.size() && tiles[at] <= counts[i];
    }
    if (serves) {
      return true;
    }
  }
  return false;
}

// What lets the search join the loops of a dim between two points: an extent at which nothing
// stands is never needed. Of every chain and every choice of extents at which something stands,
// there is a chain of those alone, or of smaller ones, that makes no more tiles of any.
TEST(Chains, NeedNoExtentAtWhichNothingStands) {
  std::int64_t looked_at = 0;
  for (std::int64_t bound = 2; bound <= 26; ++bound) {
    Workload workload = gemm("g", {bound, 1, 1, {}, false});
    const Ladder ladder = ladders(workload, {true, 0, {}})[DimId{0}];
    for (std::uint64_t mask = 1; mask < std::uint64_t{1} << (ladder.size() - 1); ++mask) {
      const std::vector<std::int64_t> tiles = tiles_of_chain(bound, chain_of(ladder, mask));
      for (std::uint64_t some = (mask - 1) & mask; some > 0; some = (some - 1) & mask) {
        const std::vector<std::int64_t> places = chain_of(ladder, some);
        const std::vector<std::int64_t> direct = tiles_of_chain(bound, places);
        std::vector<std::int64_t> counts;
        bool direct_serves = true;
        const std::vector<std::int64_t> chain = chain_of(ladder, mask);
        for (std::size_t i = 0; i < chain.size(); ++i) {
          if (std::find(places.begin(), places.end(), chain[i]) != places.end()) {
            counts.push_back(tiles[i]);
            direct_serves = direct_serves && direct[counts.size() - 1] <= tiles[i];
          }
        }
        if (!direct_serves) {
          ++looked_at;
          EXPECT_TRUE(has_substitute(ladder, places, counts)) << "bound " << bound;
        }
      }
    }
  }
  EXPECT_GT(looked_at, 100);
}

}  // namespace
}  // namespace mapsim
