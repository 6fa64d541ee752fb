// SPDX-License-Identifier: Apache-2.0
// Spaces with imperfect factors: what is in them, how many, and uniform samples.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "brute_space.hpp"
#include "mapper/baselines/sampler.hpp"
#include "mapper/counting/extents.hpp"
#include "mapper/counting/imperfect_count.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "mapper/counting/ruled_extents.hpp"
#include "mapper/mapper.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/supported.hpp"
#include "membership.hpp"
#include "random_space.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::imperfect_space_test {
namespace {

Problem one_level(GemmShape shape) {
  Arch arch;
  Storage storage;
  storage.name = "L0";
  arch.levels.push_back(storage);
  return Problem{arch, gemm("g", shape)};
}

Constraints imperfect() {
  Constraints constraints;
  constraints.factors.imperfect = true;
  return constraints;
}

std::vector<std::string> enumerated_keys(const Mapspace& space) {
  std::vector<std::string> keys;
  space.enumerate([&](const Mapping& mapping) {
    keys.push_back(key_of(mapping));
    return true;
  });
  return keys;
}

TEST(ExtentDomains, HoldTheSizesOfEqualPieces) {
  const Problem problem = one_level({13, 12, 1, {}, false});
  Factors factors;
  EXPECT_THAT(domains(problem.workload(), factors)[DimId{0}], testing::ElementsAre(1, 13));
  factors.imperfect = true;
  EXPECT_THAT(domains(problem.workload(), factors)[DimId{0}],
              testing::ElementsAre(1, 2, 3, 4, 5, 7, 13));
  factors.pieces = 2;
  EXPECT_THAT(domains(problem.workload(), factors)[DimId{0}], testing::ElementsAre(1, 7, 13));
  EXPECT_THAT(domains(problem.workload(), factors)[DimId{1}],
              testing::ElementsAre(1, 2, 3, 4, 6, 12));
  factors.tiles = PerDim<std::vector<std::int64_t>>(3);
  factors.tiles[DimId{0}] = {10, 7};
  EXPECT_THAT(domains(problem.workload(), factors)[DimId{0}], testing::ElementsAre(1, 7, 10, 13));
}

TEST(ImperfectSpace, SizeIsTheNumberOfMappingsByHand) {
  // 5 in one loop, or by way of 2 or 3 or both: but neighbouring loops over one dim are one.
  const Problem one = one_level({5, 1, 1, {}, false});
  EXPECT_EQ((mapspace_size(Mapspace{one, imperfect()})), "1");
  // With a loop of 2 somewhere: before, behind, or between two of three.
  const Problem two = one_level({5, 2, 1, {}, false});
  EXPECT_EQ((mapspace_size(Mapspace{two, imperfect()})), "4");
}

// A third of them under rules.
SearchCase any_space(std::uint64_t seed, std::int64_t max_size) {
  return seed % 3 == 0 ? random_ruled_imperfect_space(seed, max_size)
                       : random_imperfect_space(seed, max_size);
}

TEST(ImperfectSpace, SizeIsTheNumberEnumeratedOnRandomSpaces) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    EXPECT_TRUE(is_counted(any_space(seed, 5'000))) << "seed " << seed;
  }
}

// All unrollings at once, as one by one.
TEST(ImperfectSpace, SizeIsTheSumOverUnrollings) {
  std::size_t most = 0;
  for (std::uint64_t seed = 3'000; seed < 3'100; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 1'000'000'000);
    const Mapspace space{random.problem, random.constraints};
    mpz_class sum;
    for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
      sum += nests::ExtentNests{space, unrolling_class}.count();
    }
    EXPECT_EQ(mapspace_size(space), sum.get_str()) << "seed " << seed;
    most = std::max(most, space.unrolling_classes().size());
  }
  EXPECT_GT(most, 50U);
}

TEST(ImperfectSpace, IsNotCountedFurtherThanAsked) {
  const Problem problem = one_level({5, 2, 1, {}, false});
  const Mapspace space{problem, imperfect()};
  int asked = 0;
  EXPECT_FALSE(nests::count_extent_nests(space, [&] { return ++asked > 0; }));
  EXPECT_EQ(asked, 1);
  EXPECT_FALSE(nests::count_extent_nests(space, [&] { return ++asked > 3; }));
  EXPECT_EQ(nests::count_extent_nests(space, [] { return false; }), mpz_class{4});
  Constraints ruled = imperfect();
  ruled.extents.push_back({LevelId{1}, TensorId{0}, DimId{0}, {}, false});
  EXPECT_FALSE((mapspace_size_unless(Mapspace{space.problem(), ruled}, [] { return true; })));
}

// Of several unrollings, none of which takes many states.
TEST(ImperfectSpace, UnderRulesIsNotCountedBeyondStatesOfAllUnrollingsTogether) {
  const auto counted = [](std::uint64_t seed, std::size_t most) {
    const SearchCase random = random_imperfect_space(seed, 1'000);
    Constraints ruled = random.constraints;
    ruled.extents.push_back({LevelId{1}, TensorId{0}, DimId{0}, {}, false});
    const Mapspace space{random.problem, ruled};
    EXPECT_EQ(nests::count_ruled_extents(space, [] { return false; })->get_str(),
              mapspace_size(space));
    std::size_t largest = 0;
    for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
      nests::RuledExtents table{space, unrolling_class};
      table.count([] { return false; });
      largest = std::max(largest, table.states());
    }
    return std::pair{largest, nests::count_ruled_extents(
                                  space, [] { return false; }, most == 0 ? largest : most)};
  };
  int left = 0;
  for (std::uint64_t seed = 50'000; seed < 50'020; ++seed) {
    const auto [largest, number] = counted(seed, 0);
    left += number ? 0 : 1;
    EXPECT_FALSE(counted(seed, 1).second) << "seed " << seed;
  }
  EXPECT_GT(left, 5);
}

TEST(ImperfectSpace, EnumeratesCanonicalMembersOnceEach) {
  for (std::uint64_t seed = 1000; seed < 1090; ++seed) {
    const SearchCase random = any_space(seed, 3'000);
    const Mapspace space{random.problem, random.constraints};
    space.enumerate([&](const Mapping& mapping) {
      const std::string why = why_outside(space, mapping);
      EXPECT_EQ(why, "") << "seed " << seed;
      return why.empty();
    });
    std::vector<std::string> keys = enumerated_keys(space);
    std::sort(keys.begin(), keys.end());
    EXPECT_TRUE(std::adjacent_find(keys.begin(), keys.end()) == keys.end()) << "seed " << seed;
  }
}

TEST(ImperfectSpace, EnumeratesWhatBruteForceFinds) {
  int unrolled = 0;
  for (std::uint64_t seed = 2000; seed < 2075; ++seed) {
    const SearchCase random = any_space(seed, 150);
    const Mapspace space{random.problem, random.constraints};
    const std::vector<std::string> keys = enumerated_keys(space);
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()), brute_force_keys(space))
        << "seed " << seed;
    unrolled += space.unrolling_count() > 1 ? 1 : 0;
  }
  EXPECT_GT(unrolled, 5);
}

// Chi-square statistic of 30 draws per mapping, in standard deviations from its mean.
double surprise(const Mapspace& space, std::uint64_t seed) {
  constexpr int kDraws = 30;
  std::map<std::string, int> seen;
  for (const std::string& key : enumerated_keys(space)) {
    seen[key] = 0;
  }
  const std::size_t size = seen.size();
  const Sampler sampler{space};
  Rng rng{seed};
  for (std::size_t i = 0; i < size * kDraws; ++i) {
    ++seen[key_of(sampler.sample(rng))];
  }
  EXPECT_EQ(seen.size(), size) << "a sample from outside the space";
  double statistic = 0;
  for (const auto& [key, count] : seen) {
    statistic += (count - kDraws) * (count - kDraws) / static_cast<double>(kDraws);
  }
  const auto freedom = static_cast<double>(size - 1);
  return freedom > 0 ? (statistic - freedom) / std::sqrt(2 * freedom) : 0;
}

TEST(ImperfectSpace, IsSampledUniformly) {
  for (std::uint64_t seed = 3000; seed < 3060; ++seed) {
    const SearchCase random = any_space(seed, 500);
    const Mapspace space{random.problem, random.constraints};
    EXPECT_LT(std::abs(surprise(space, seed)), 5.0) << "seed " << seed;
  }
}

TEST(ImperfectSpace, IsDrawnFromInPartWhereTimeIsShort) {
  int drawn = 0;
  for (std::uint64_t seed = 3000; seed < 3040; ++seed) {
    const SearchCase random = any_space(seed, 500);
    const Mapspace space{random.problem, random.constraints};
    int looks = 0;
    const Sampler sampler{space, [&looks] { return ++looks > 2; }};
    if (space.unrolling_classes().size() < 3) {
      continue;
    }
    EXPECT_TRUE(sampler.is_partial());
    const auto keys = enumerated_keys(space);
    Rng rng{seed};
    for (int i = 0; i < 5 && !sampler.empty(); ++i, ++drawn) {
      EXPECT_EQ(std::count(keys.begin(), keys.end(), key_of(sampler.sample(rng))), 1);
    }
  }
  EXPECT_GT(drawn, 0);
}

TEST(ImperfectSpace, UsesAnyNumberOfInstancesThatHaveWork) {
  Arch arch;
  for (const char* name : {"L0", "L1"}) {
    Storage storage;
    storage.name = name;
    arch.levels.push_back(storage);
  }
  Fanout fanout;
  fanout.name = "PEs";
  fanout.x = 12;
  arch.fanouts.push_back(fanout);
  arch.levels_above.push_back(1);
  const Problem problem{arch, gemm("g", {64, 1, 1, {}, false})};
  std::set<std::int64_t> used;
  for (const Unrolling& unrolling : Mapspace{problem, imperfect()}.unrollings()) {
    used.insert(unrolling.empty() ? 1 : unrolling.front().factor);
  }
  // Of 9 instances of 8 one would have no work, and of 12 of 6.
  EXPECT_THAT(used, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 10, 11));
}

TEST(ImperfectSpace, IsNotForStrategiesOfPerfectFactors) {
  const Problem problem = one_level({5, 2, 1, {}, false});
  EXPECT_THROW(check_supported(problem, imperfect(), "annealing"), UnsupportedSearch);
  EXPECT_THROW(check_supported(problem, imperfect(), "genetic"), UnsupportedSearch);
  EXPECT_NO_THROW(check_supported(problem, imperfect(), "random"));
  EXPECT_NO_THROW(check_supported(problem, {}, "genetic"));
  Constraints one_loop = imperfect();
  one_loop.one_loop_per_dim = true;
  EXPECT_THROW(check_supported(problem, one_loop, "exact"), UnsupportedSearch);
  const Problem long_domains = one_level({5'000'000, 1, 1, {}, false});
  EXPECT_THROW(check_supported(long_domains, imperfect(), "exact"), UnsupportedSearch);
}

TEST(ImperfectSpace, IsReadFromConstraints) {
  const Problem problem = one_level({13, 12, 1, {}, false});
  const Constraints constraints = parse_constraints(
      "mapspace: {factors: imperfect, pieces: 3, tiles: {M: [10]}}\n", "space.yaml", problem);
  EXPECT_TRUE(constraints.factors.imperfect);
  EXPECT_EQ(constraints.factors.pieces, 3);
  EXPECT_THAT(domains(problem.workload(), constraints.factors)[DimId{0}],
              testing::ElementsAre(1, 5, 7, 10, 13));
}

TEST(ImperfectSpace, TakesRulesAndDataflows) {
  Arch arch = one_level({13, 12, 5, {}, false}).arch();
  arch.compute.name = "MAC";
  arch.compute.register_reuse = {Role::kWeight};
  const Problem problem{arch, gemm("g", {13, 12, 5, {}, false})};
  const Constraints constraints =
      parse_constraints("mapspace: {factors: imperfect, pieces: 3, dataflow: weight_stationary}\n",
                        "space.yaml", problem);
  EXPECT_EQ(constraints.factors.pieces, 3);
  ASSERT_EQ(constraints.loops.size(), 1U);
  EXPECT_EQ(constraints.loops.front().order.size(), 2U);
}

// Whether a tile has a block for every instance or not.
TEST(ImperfectSpace, AsksForTheTimeAtEveryTileThatIsSplit) {
  std::size_t passed = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const SearchCase random = random_imperfect_space(seed, 1'000);
    const Mapspace space{random.problem, random.constraints};
    for (const UnrollingClass& unrollings : space.unrolling_classes()) {
      const std::vector<FanoutId> used = nests::used_fanouts(unrollings);
      for (const DimId dim : random.problem.workload().dims.ids()) {
        const Unrolling own = nests::of_dim(unrollings.first, dim);
        const auto visit = [](const nests::Extents&) { return true; };
        const std::size_t before = passed;
        EXPECT_TRUE(
            nests::visit_splits(space, used, own, dim, visit, [&] { return ++passed > 0; }));
        const bool all = nests::visit_splits(space, used, own, dim, visit, [] { return false; });
        EXPECT_EQ(all, passed == before);
      }
    }
  }
  EXPECT_GT(passed, 30U);
}

}  // namespace
}  // namespace mapsim::imperfect_space_test
