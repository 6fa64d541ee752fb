// SPDX-License-Identifier: Apache-2.0
#include "mapper/mapspace/mapspace.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "brute_space.hpp"
#include "mapper/baselines/sampler.hpp"
#include "mapper/counting/counting.hpp"
#include "mapper/counting/mapspace_size.hpp"
#include "membership.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/conv.hpp"
#include "workloads/gemm.hpp"

namespace mapsim::mapspace_test {
namespace {

// Levels without rules or limits, each with a fanout of x by y below it where x * y > 1.
struct PlainLevel {
  std::int64_t x = 1;
  std::int64_t y = 1;
};
Arch plain_arch(const std::vector<PlainLevel>& levels) {
  Arch arch;
  for (const PlainLevel& level : levels) {
    Storage storage;
    storage.name = fmt::format("L{}", arch.levels.size());
    arch.levels.push_back(storage);
    if (level.x * level.y > 1) {
      Fanout fanout;
      fanout.name = fmt::format("F{}", arch.fanouts.size());
      fanout.x = level.x;
      fanout.y = level.y;
      arch.fanouts.push_back(fanout);
      arch.levels_above.push_back(arch.levels.size());
    }
  }
  return arch;
}

Problem eyeriss_like_resnet() {
  ConvShape shape;
  shape.in_channels = 64;
  shape.out_channels = 64;
  shape.input = {56, 56};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  return Problem{plain_arch({{}, {14, 12}, {}}), conv2d("conv2_3x3", shape)};
}

// CPU time of listing the members of a group again and again, with axes that matter one by one.
double seconds_of_listing(std::int64_t bound) {
  const Problem problem{plain_arch({{16, 16}, {}}), gemm("g", {bound, bound, bound, {}, false})};
  const std::optional<Unrolling> free;
  const std::vector<UnrollRule> rules;
  const UnrollingLimits limits{free, rules, /*remainders=*/true};
  UnrollingClass unrolling_class;
  unrolling_class.factors.push_back(PerDim<std::int64_t>(3, 1));
  unrolling_class.factors[FanoutId{0}][DimId{0}] = 8;
  constexpr int kTimes = 300;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_EQ(axis_assignments(problem, limits, unrolling_class).size(), 4);
  }
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

std::vector<std::string> enumerated_keys(const Mapspace& space) {
  std::vector<std::string> keys;
  space.enumerate([&](const Mapping& mapping) {
    keys.push_back(key_of(mapping));
    return true;
  });
  return keys;
}

// A layer of LLaMA on an array of 256 x 256 spent three quarters of its search on this.
TEST(Unrollings, AreGivenToAxesInATimeThatDoesNotGrowWithTheBounds) {
  EXPECT_LT(seconds_of_listing(11'008), 10 * seconds_of_listing(16) + 0.01);
}

TEST(Mapspace, SizeIsTheNumberOfMappingsByHand) {
  // One level, no fanout: only the order of loops. 2 x 2: MN, NM.
  const Problem two_dims{plain_arch({{}}), gemm("g", {2, 2, 1, {}, false})};
  EXPECT_EQ((mapspace_size(Mapspace{two_dims, {}})), "2");
  // 4 x 2: M4 in one loop: 2 orders; in two: around N.
  const Problem nested{plain_arch({{}}), gemm("g", {4, 2, 1, {}, false})};
  EXPECT_EQ((mapspace_size(Mapspace{nested, {}})), "3");
  // Two levels, one loop: each of 3 tensors bypasses, or is kept above or below the loop.
  const Problem kept{plain_arch({{}, {}}), gemm("g", {2, 1, 1, {}, false})};
  EXPECT_EQ((mapspace_size(Mapspace{kept, {}})), "27");
  // Even: 7 sets of tensors above or below, or none at all.
  EXPECT_EQ((mapspace_size(Mapspace{kept, {true, {}, {}}})), "15");
  // Nothing to loop over: each tensor is kept or not.
  const Problem point{plain_arch({{}, {}}), gemm("g", {1, 1, 1, {}, false})};
  EXPECT_EQ((mapspace_size(Mapspace{point, {}})), "8");
}

TEST(Mapspace, SizeIsTheNumberEnumeratedOnRandomSpaces) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    EXPECT_TRUE(is_counted(random_space(seed, 20'000))) << "seed " << seed;
  }
}

TEST(Mapspace, SizeIsTheNumberEnumeratedOnRandomRuledSpaces) {
  for (std::uint64_t seed = 0; seed < tried_of(400U); ++seed) {
    EXPECT_TRUE(is_counted(random_ruled_space(seed, 5'000))) << "seed " << seed;
  }
}

// What is enumerated under rules is what the same space without them has and no rule forbids.
TEST(Mapspace, EnumeratesUnderRulesWhatNoRuleForbids) {
  int compared = 0;
  int smaller = 0;
  for (std::uint64_t seed = 4000; compared < tried_of(150); ++seed) {
    const SearchCase random = random_ruled_space(seed, 2'000);
    Constraints without = random.constraints;
    without.unroll.clear();
    without.extents.clear();
    without.loops.clear();
    const Mapspace wide{random.problem, without};
    if (mapspace_size(wide).size() > 4) {
      continue;
    }
    const Mapspace space{random.problem, random.constraints};
    std::vector<std::string> allowed;
    std::size_t all = 0;
    wide.enumerate([&](const Mapping& mapping) {
      ++all;
      if (why_outside(space, mapping).empty()) {
        allowed.push_back(key_of(mapping));
      }
      return true;
    });
    std::vector<std::string> keys = enumerated_keys(space);
    std::sort(keys.begin(), keys.end());
    std::sort(allowed.begin(), allowed.end());
    EXPECT_EQ(keys, allowed) << "seed " << seed;
    ++compared;
    smaller += allowed.size() < all ? 1 : 0;
  }
  EXPECT_GT(smaller, compared / 2);
}

TEST(Mapspace, EnumeratesCanonicalMappingsOnceEach) {
  for (std::uint64_t seed = 1000; seed < 1050; ++seed) {
    const SearchCase random = random_space(seed, 5'000);
    const Arch& arch = random.problem.arch();
    const Workload& workload = random.problem.workload();
    const Mapspace space{random.problem, random.constraints};
    space.enumerate([&](const Mapping& mapping) {
      const auto problems = check_structure(arch, workload, mapping);
      EXPECT_TRUE(problems.empty()) << "seed " << seed << ": " << problems.front().what;
      EXPECT_TRUE(canonical(workload, mapping) == mapping) << "seed " << seed;
      return problems.empty();
    });
    std::vector<std::string> keys = enumerated_keys(space);
    std::sort(keys.begin(), keys.end());
    EXPECT_TRUE(std::adjacent_find(keys.begin(), keys.end()) == keys.end()) << "seed " << seed;
  }
}

// Brute force knows the rules only from check_structure() and canonical().
TEST(Mapspace, EnumeratesWhatBruteForceFinds) {
  std::map<std::size_t, int> spaces_by_fanouts;
  for (std::uint64_t seed = 2000; seed < 2080; ++seed) {
    const SearchCase random = random_space(seed, 300);
    const Mapspace space{random.problem, random.constraints};
    const std::vector<std::string> keys = enumerated_keys(space);
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()), brute_force_keys(space))
        << "seed " << seed;
    std::size_t most = 0;
    for (const Unrolling& unrolling : space.unrollings()) {
      std::set<FanoutId> used;
      for (const Unroll& unroll : unrolling) {
        used.insert(unroll.fanout);
      }
      most = std::max(most, used.size());
    }
    ++spaces_by_fanouts[most];
  }
  for (const std::size_t fanouts : {0, 1, 2}) {
    EXPECT_GT(spaces_by_fanouts[fanouts], 10) << fanouts << " fanouts";
  }
}

TEST(Mapspace, StopsEnumeratingWhenAsked) {
  const Problem problem = eyeriss_like_resnet();
  const Mapspace space{problem, {}};
  int count = 0;
  EXPECT_FALSE(space.enumerate([&](const Mapping&) { return ++count < 1000; }));
  EXPECT_EQ(count, 1000);
}

TEST(Mapspace, ArchitectureRulesWinOverConstraints) {
  Arch arch = plain_arch({{}, {}});
  arch.levels[LevelId{1}].keep = {Role::kInput};
  arch.levels[LevelId{1}].bypass = {Role::kWeight};
  const Problem problem{arch, gemm("g", {2, 2, 2, {}, false})};
  Constraints constraints;
  constraints.keeps = PerLevel<PerTensor<KeepRule>>(2, PerTensor<KeepRule>(3, KeepRule::kKeep));
  constraints.keeps[LevelId{1}][TensorId{0}] = KeepRule::kBypass;
  const Mapspace space{problem, constraints};
  EXPECT_EQ(space.keep_rule(LevelId{0}, TensorId{0}), KeepRule::kKeep);
  EXPECT_EQ(space.keep_rule(LevelId{1}, TensorId{0}), KeepRule::kKeep);
  EXPECT_EQ(space.keep_rule(LevelId{1}, TensorId{1}), KeepRule::kBypass);
  EXPECT_EQ(space.keep_rule(LevelId{1}, TensorId{2}), KeepRule::kKeep);
  EXPECT_EQ((Mapspace{problem, {}}.keep_rule(LevelId{1}, TensorId{2})), KeepRule::kFree);
}

TEST(Unrollings, FitAxesAndDivideBounds) {
  const Problem problem = eyeriss_like_resnet();
  const Mapspace space{problem, {}};
  const std::vector<Unrolling> all = space.unrollings();
  EXPECT_EQ(static_cast<std::int64_t>(all.size()), space.unrolling_count());
  std::set<std::vector<std::int64_t>> distinct;
  for (const Unrolling& unrolling : all) {
    std::map<Axis, std::int64_t> used{{Axis::kX, 1}, {Axis::kY, 1}};
    PerDim<std::int64_t> factors(problem.workload().dims.size(), 1);
    std::vector<std::int64_t> key;
    for (const Unroll& unroll : unrolling) {
      EXPECT_GT(unroll.factor, 1);
      used[unroll.axis] *= unroll.factor;
      factors[unroll.dim] *= unroll.factor;
      key.insert(key.end(), {static_cast<std::int64_t>(index_of(unroll.dim)),
                             static_cast<std::int64_t>(unroll.axis), unroll.factor});
    }
    EXPECT_LE(used[Axis::kX], 14);
    EXPECT_LE(used[Axis::kY], 12);
    for (const DimId d : factors.ids()) {
      EXPECT_EQ(problem.workload().dims[d].bound % factors[d], 0);
    }
    distinct.insert(key);
  }
  EXPECT_EQ(distinct.size(), all.size());
}

TEST(Unrollings, OfAGroupShareFactorsAndBeginWithTheFirst) {
  const Problem problem{plain_arch({{2, 2}, {3, 2}}), gemm("g", {12, 6, 4, {}, false})};
  const Mapspace space{problem, {}};
  std::set<std::vector<std::int64_t>> classes;
  for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
    const std::vector<Unrolling> members = space.assignments(unrolling_class);
    ASSERT_EQ(static_cast<std::int64_t>(members.size()), unrolling_class.assignments);
    EXPECT_EQ(members.front(), unrolling_class.first);
    std::vector<std::int64_t> key;
    for (const auto& factors : unrolling_class.factors) {
      key.insert(key.end(), factors.begin(), factors.end());
    }
    EXPECT_TRUE(classes.insert(key).second);
    for (const Unrolling& member : members) {
      PerFanout<PerDim<std::int64_t>> factors(2, PerDim<std::int64_t>(3, 1));
      for (const Unroll& unroll : member) {
        factors[unroll.fanout][unroll.dim] *= unroll.factor;
      }
      EXPECT_EQ(factors, unrolling_class.factors);
    }
  }
}

TEST(Unrollings, GivenOneFixesTheFanoutsItNames) {
  const Problem problem{plain_arch({{2, 2}, {2, 1}}), gemm("g", {4, 4, 4, {}, false})};
  const Unroll given{DimId{1}, FanoutId{0}, Axis::kY, 2};
  const Mapspace space{problem, {false, Unrolling{given}, {}}};
  // The inner fanout stays idle or takes one of three dims.
  EXPECT_EQ(space.unrolling_count(), 4);
  for (const Unrolling& unrolling : space.unrollings()) {
    EXPECT_EQ(unrolling.front(), given);
  }
  const Unroll idle{DimId{1}, FanoutId{1}, Axis::kX, 1};
  const Mapspace fixed{problem, {false, Unrolling{idle, given}, {}}};
  EXPECT_THAT(fixed.unrollings(), testing::ElementsAre(Unrolling{given}));
  const Unroll too_wide{DimId{1}, FanoutId{0}, Axis::kY, 4};
  EXPECT_EQ((mapspace_size(Mapspace{problem, {false, Unrolling{too_wide}, {}}})), "0");
}

TEST(Unrollings, ObeyTheDimsOfAnAxis) {
  Arch arch = plain_arch({{2, 2}});
  arch.fanouts[FanoutId{0}].x_dims = {{GemmAxis::kK}, {}};
  arch.fanouts[FanoutId{0}].y_dims = {{}, {"N", "unknown"}};
  const Problem problem{arch, gemm("g", {2, 2, 2, {}, false})};
  for (const Unrolling& unrolling : Mapspace{problem, {}}.unrollings()) {
    for (const Unroll& unroll : unrolling) {
      EXPECT_EQ(problem.workload().dims[unroll.dim].name, unroll.axis == Axis::kX ? "K" : "N");
    }
  }
  EXPECT_EQ((Mapspace{problem, {}}.unrolling_count()), 4);
}

// Chi-square statistic of `draws` per mapping, in standard deviations from its mean.
double surprise(const Mapspace& space, std::uint64_t seed, int draws) {
  const std::vector<std::string> keys = enumerated_keys(space);
  std::map<std::string, int> seen;
  for (const std::string& key : keys) {
    seen[key] = 0;
  }
  const Sampler sampler{space};
  Rng rng{seed};
  for (std::size_t i = 0; i < keys.size() * static_cast<std::size_t>(draws); ++i) {
    ++seen[key_of(sampler.sample(rng))];
  }
  EXPECT_EQ(seen.size(), keys.size()) << "a sample from outside the space";
  double statistic = 0;
  for (const auto& [key, count] : seen) {
    statistic += (count - draws) * (count - draws) / static_cast<double>(draws);
  }
  const auto freedom = static_cast<double>(keys.size() - 1);
  return freedom > 0 ? (statistic - freedom) / std::sqrt(2 * freedom) : 0;
}

TEST(Sampler, IsUniformOnRandomSpaces) {
  for (std::uint64_t seed = 3000; seed < 3000 + tried_of(40U); ++seed) {
    const SearchCase random = random_space(seed, 500);
    const Mapspace space{random.problem, random.constraints};
    EXPECT_LT(std::abs(surprise(space, seed, 30)), 5.0) << "seed " << seed;
  }
}

TEST(Sampler, IsUniformOnRandomRuledSpaces) {
  for (std::uint64_t seed = 5000; seed < 5020; ++seed) {
    const SearchCase random = random_ruled_space(seed, 500);
    const Mapspace space{random.problem, random.constraints};
    EXPECT_LT(std::abs(surprise(space, seed, 30)), 5.0) << "seed " << seed;
  }
}

TEST(MapspaceSize, IsThatOfItsGroupsTogether) {
  const Problem problem = eyeriss_like_resnet();
  for (const bool even : {false, true}) {
    const Mapspace space{problem, {even, {}, {}}};
    nests::MappingCounter counter{space};
    mpz_class sum;
    for (const UnrollingClass& unrolling_class : space.unrolling_classes()) {
      sum += counter.count(unrolling_class) * static_cast<long>(unrolling_class.assignments);
    }
    EXPECT_EQ(mapspace_size(space), sum.get_str());
  }
}

TEST(Sampler, DrawsStructuredMappingsOfARealLayer) {
  const Problem problem = eyeriss_like_resnet();
  for (const bool even : {false, true}) {
    const Mapspace space{problem, {even, {}, {}}};
    const Sampler sampler{space};
    Rng rng{7};
    for (int i = 0; i < 500; ++i) {
      const Mapping mapping = sampler.sample(rng);
      EXPECT_THAT(check_structure(problem.arch(), problem.workload(), mapping), testing::IsEmpty());
      EXPECT_TRUE(canonical(problem.workload(), mapping) == mapping);
    }
  }
}

// One level below the outermost and 4 x 2 x 1 products: by hand, the loops over M (one of 4 or two
// of 2) and the loop over N stand in any order above, below or on both sides of one point.
TEST(Mapspace, HasOneLoopPerDimBetweenPoints) {
  const Problem problem{plain_arch({{}, {}}), gemm("gemm", {4, 2, 1, {}, false})};
  Constraints constraints;
  constraints.even = true;
  constraints.keeps = PerLevel<PerTensor<KeepRule>>(
      2, PerTensor<KeepRule>(problem.workload().tensors.size(), KeepRule::kKeep));
  const auto nests = [&](bool once) {
    constraints.one_loop_per_dim = once;
    const Mapspace space{problem, constraints};
    std::size_t count = 0;
    space.enumerate([&](const Mapping&) { return ++count > 0; });
    EXPECT_EQ(mapspace_size(space), std::to_string(count));
    EXPECT_EQ(brute_force_keys(space).size(), count);
    return count;
  };
  // M whole and N: on one side 2 orders each, on both sides 2. M in two: one each side, N above or
  // below, 2 orders each.
  EXPECT_EQ(nests(true), 4U + 2U + 4U);
  EXPECT_EQ(nests(false), 4U + 2U + 4U + 2U);  // and M N M on either side
}

// 4 x 1 x 1 products on 2 x 2 units: M in two along X or Y, in four along neither, as no axis has
// four; without the rule also along both.
TEST(Mapspace, HasADimOnOneAxisOfAFanout) {
  const Problem problem{plain_arch({{2, 2}}), gemm("gemm", {4, 1, 1, {}, false})};
  Constraints constraints;
  const auto ways = [&](bool once) {
    constraints.one_loop_per_dim = once;
    const Mapspace space{problem, constraints};
    EXPECT_EQ(mapspace_size(space), std::to_string(brute_force_keys(space).size()));
    return space.unrollings().size();
  };
  EXPECT_EQ(ways(true), 3U);
  EXPECT_EQ(ways(false), 4U);
  constraints.spatial =
      Unrolling{{DimId{0}, FanoutId{0}, Axis::kX, 2}, {DimId{0}, FanoutId{0}, Axis::kY, 2}};
  EXPECT_EQ(ways(true), 1U);  // what is given is as given
}

}  // namespace
}  // namespace mapsim::mapspace_test
