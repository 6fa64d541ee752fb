// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "arch/load.hpp"
#include "exact_check.hpp"
#include "mapper/branch/unrolling_tasks.hpp"
#include "mapper/label_search/label_search.hpp"
#include "membership.hpp"
#include "random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::exact_test {
namespace {

// Random spaces in shards, so that they run side by side.
constexpr std::uint64_t kShards = 12;
constexpr std::uint64_t kAllSpacesPerShard = 200;
const std::uint64_t kSpacesPerShard = tried_of(kAllSpacesPerShard);
const std::uint64_t kRuledSpacesPerShard = tried_of(100U);
constexpr std::int64_t kMaxSize = 3'000;
std::uint64_t seed_of(std::uint64_t shard, std::uint64_t i) { return 10'000 + 1'000 * shard + i; }

class ExactOnRandomSpaces : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Shards, ExactOnRandomSpaces, testing::Range<std::uint64_t>(0, kShards));

TEST_P(ExactOnRandomSpaces, FindsTheOptimumOfEveryObjectiveAndProvesIt) {
  for (std::uint64_t i = 0; i < kSpacesPerShard; ++i) {
    const std::uint64_t seed = seed_of(GetParam(), i);
    // Every objective on a quarter of the spaces: they are many.
    EXPECT_EQ(exact_mismatch(random_space(seed, kMaxSize), i % 4 == 0), "") << "seed " << seed;
  }
}

TEST_P(ExactOnRandomSpaces, FindsTheOptimumUnderRules) {
  for (std::uint64_t i = 0; i < kRuledSpacesPerShard; ++i) {
    const std::uint64_t seed = seed_of(GetParam(), i);
    EXPECT_EQ(exact_mismatch(random_ruled_space(seed, kMaxSize)), "") << "seed " << seed;
  }
}

TEST_P(ExactOnRandomSpaces, FindsTheOptimumOnFourAndFiveLevels) {
  const std::uint64_t kTallSpacesPerShard = tried_of(10U);
  for (std::uint64_t i = 0; i < kTallSpacesPerShard; ++i) {
    const std::uint64_t seed = seed_of(GetParam(), i);
    EXPECT_EQ(exact_mismatch(random_tall_space(seed, 5 * kMaxSize)), "") << "seed " << seed;
  }
}

TEST_P(ExactOnRandomSpaces, FindsTheOptimumOnNineToTwelveLevels) {
  const std::uint64_t kDeepSpacesPerShard = tried_of(10U);
  for (std::uint64_t i = 0; i < kDeepSpacesPerShard; ++i) {
    const std::uint64_t seed = seed_of(GetParam(), i);
    EXPECT_EQ(exact_mismatch(random_deep_space(seed, 5 * kMaxSize)), "") << "seed " << seed;
  }
}

std::size_t fanouts_used(const Unrolling& unrolling) {
  std::set<FanoutId> used;
  for (const Unroll& unroll : unrolling) {
    if (unroll.factor > 1) {
      used.insert(unroll.fanout);
    }
  }
  return used.size();
}

// Is a dim of a rank with several terms in use?
bool has_window(const Workload& workload, const Tensor& tensor) {
  for (const Rank& rank : tensor.ranks) {
    int moving = 0;
    for (const Term& term : rank.terms) {
      moving += workload.dims[term.dim].bound > 1 ? 1 : 0;
    }
    if (moving > 1) {
      return true;
    }
  }
  return false;
}

bool has_wide_window(const Workload& workload) {
  for (const Tensor& tensor : workload.tensors) {
    for (const Rank& rank : tensor.ranks) {
      for (const Term& term : rank.terms) {
        if (term.coefficient > 1 && has_window(workload, tensor)) {
          return true;
        }
      }
    }
  }
  return false;
}

template <class Items, class Holds>
bool any(const Items& items, const Holds& holds) {
  for (const auto& item : items) {
    if (holds(item)) {
      return true;
    }
  }
  return false;
}

std::set<std::string> features(const SearchCase& random) {
  const Arch& arch = random.problem.arch();
  const Workload& workload = random.problem.workload();
  const Constraints& constraints = random.constraints;
  const std::vector<Unrolling> unrollings = Mapspace{random.problem, constraints}.unrollings();
  const bool window =
      any(workload.tensors, [&](const Tensor& t) { return has_window(workload, t); });
  const Tensor& output = workload.tensors[workload.output()];
  const std::map<std::string, bool> all{
      {"two fanouts used", any(unrollings, [](const auto& u) { return fanouts_used(u) == 2; })},
      {"two fanouts given", constraints.spatial && fanouts_used(*constraints.spatial) == 2},
      {"given unrolling", constraints.spatial.has_value()},
      {"given keeps", !constraints.keeps.empty()},
      {"even", constraints.even},
      {"wider partial sums", output.partial_bits > output.bits},
      {"registers", !arch.compute.register_reuse.empty()},
      {"window fetched whole",
       window && any(arch.levels, [](const Storage& level) { return !level.sliding; })},
      {"no forwarding", window && any(unrollings,
                                      [&](const Unrolling& unrolling) {
                                        return any(unrolling, [&](const Unroll& u) {
                                          return !arch.fanouts[u.fanout].forwarding;
                                        });
                                      })},
      {"hops", random.problem.places_matter() &&
                   any(unrollings, [](const auto& u) { return fanouts_used(u) > 0; })},
      {"densities", any(workload.tensors, [](const Tensor& t) { return t.density < 1; })},
      {"partitions",
       any(arch.levels, [](const Storage& level) { return !level.capacity.per_role.empty(); })},
      {"double buffering", any(arch.levels,
                               [](const Storage& level) {
                                 return level.double_buffered && !level.capacity.unlimited();
                               })},
      {"stride or dilation", has_wide_window(workload)},
      {"window in the output", has_window(workload, output)},
      {"four tensors", workload.tensors.size() == 4},
  };
  std::set<std::string> found;
  for (const auto& [name, holds] : all) {
    if (holds) {
      found.insert(name);
    }
  }
  return found;
}

TEST(ExactMix, HasEverythingThatTheMapperTreatsByItself) {
  std::map<std::string, int> counts;
  for (std::uint64_t i = 0; i < kAllSpacesPerShard; ++i) {
    const SearchCase random = random_space(seed_of(0, i), kMaxSize);
    for (const std::string& feature : features(random)) {
      ++counts[feature];
    }
    const Mapspace space{random.problem, random.constraints};
    ++counts[search_exact(space, {}).best ? "feasible" : "infeasible"];
  }
  EXPECT_EQ(counts.size(), 18U);
  for (const auto& [feature, count] : counts) {
    EXPECT_GE(count, 3) << feature;
  }
}

// The unrolling of a group and nothing else, every axis named.
Constraints only(const SearchCase& random, const UnrollingClass& unrolling_class) {
  Constraints constraints = random.constraints;
  constraints.spatial = unrolling_class.first;
  for (const FanoutId f : random.problem.arch().fanouts.ids()) {
    for (const Axis axis : {Axis::kX, Axis::kY}) {
      constraints.spatial->push_back({DimId{0}, f, axis, 1});
    }
  }
  return constraints;
}

double root_bound(const Mapspace& space, const UnrollingClass& unrolling_class,
                  const Objective& objective) {
  exact::Unrolled unrolled(space.problem(), unrolling_class);
  const exact::StateGraph graph(space, unrolled.used);
  return exact::SearchTables(graph, std::move(unrolled), objective).root().first;
}

TEST_P(ExactOnRandomSpaces, BoundsNoUnrollingAboveItsOptimum) {
  int bounded = 0;
  int near = 0;
  int tight = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const SearchCase random = random_space(seed_of(GetParam(), 500 + i), 1'000);
    const Mapspace space{random.problem, random.constraints};
    for (std::size_t g = 0; g < space.unrolling_classes().size(); ++g) {
      const UnrollingClass& unrolling_class = space.unrolling_classes()[g];
      const Mapspace part{random.problem, only(random, unrolling_class)};
      for (const Objective objective : kObjectives) {
        const double bound = exact::UnrollingTasks(space, objective).bound(g).first;
        const double root = root_bound(space, unrolling_class, objective);
        const SearchResult best = search_exhaustive(part, {objective, 1, 0, 0, nullptr});
        if (!best.cost) {
          continue;  // infinity is a bound of nothing
        }
        const double optimum = objective_value(objective, *best.cost);
        EXPECT_LE(bound, optimum * (1 + 1e-9)) << "seed " << seed_of(GetParam(), 500 + i);
        EXPECT_LE(root, optimum * (1 + 1e-9)) << "seed " << seed_of(GetParam(), 500 + i);
        EXPECT_GT(root, 0);
        ++bounded;
        near += bound >= 0.9 * optimum ? 1 : 0;
        tight += root >= optimum * (1 - 1e-9) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(bounded, 20);
  EXPECT_GT(near, bounded / 4);   // of floors
  EXPECT_GT(tight, bounded / 2);  // where no room binds, the bound is the optimum
}

// The membership test of the comparison accepts what is in a space ...
TEST(Membership, HoldsForWhatIsEnumerated) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const SearchCase random = random_space(seed, 500);
    const Mapspace space{random.problem, random.constraints};
    space.enumerate([&](const Mapping& mapping) {
      EXPECT_EQ(why_outside(space, mapping), "") << "seed " << seed;
      return true;
    });
  }
}

// ... and, of the mappings of a space without constraints, refuses those that the constrained one
// does not enumerate.
TEST(Membership, IsRefusedToWhatIsNot) {
  std::set<std::string> reasons;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SearchCase random = random_space(seed, 500);
    const Mapspace wide{random.problem, {}};
    const Mapspace space{random.problem, random.constraints};
    std::vector<Mapping> members;
    space.enumerate([&](const Mapping& mapping) {
      members.push_back(mapping);
      return true;
    });
    int looked_at = 0;
    wide.enumerate([&](const Mapping& mapping) {
      const bool inside = std::find(members.begin(), members.end(), mapping) != members.end();
      const std::string why = why_outside(space, mapping);
      EXPECT_EQ(why.empty(), inside) << "seed " << seed << ": " << why;
      reasons.insert(why);
      return ++looked_at < 500;
    });
  }
  EXPECT_THAT(reasons,
              testing::IsSupersetOf({"keeps of one level stand apart", "a tensor that must be kept",
                                     "a tensor that must bypass", "not the given unrolling"}));
}

// On nine and more levels tensors are not kept where they may be skipped. The ramped latency
// charges the edge into a level beside the ports, unless a port of the edge is slower: here 8
// cycles less with I at A, too. Levels that hold nothing change no optimum.
TEST(Exact, KeepsWhatMaySkipALevelWhereRampedLatencyGainsByIt) {
  const Workload layer = parse_workload(
      "name: layer\n"
      "einsum: {equation: \"O[k][p] += I[p+r] * W[k][r]\", dims: {k: 2, p: 8, r: 3}}\n"
      "precision: {input: 8 b, weight: 8 b, output: 8 b, partial: 8 b}\n",
      "layer.yaml");
  for (const int idle : {0, 5}) {
    std::string text =
        "name: deep\nclock: 1 GHz\nnodes:\n"
        "  - {storage: D, capacity: unlimited, streamed: true, bandwidth: {read: 3 b/cycle}, "
        "energy: "
        "{read: 1 pJ/B, write: 1 pJ/B}}\n"
        "  - {storage: WL, capacity: 6 B, bandwidth: {write: 1 b/cycle}, energy: {read: 1 pJ/B, "
        "write: 1 pJ/B}, keep: [weight], bypass: [input, output]}\n"
        "  - {storage: A, capacity: 3 B, bandwidth: {read: 2 b/cycle, write: 2 b/cycle}, energy: "
        "{read: 1 pJ/B, write: 1 pJ/B}, bypass: [weight, output]}\n"
        "  - {storage: B, capacity: 3 B, energy: {read: 1 pJ/B, write: 1 pJ/B}, bypass: [weight, "
        "output]}\n";
    for (int i = 0; i < idle; ++i) {
      text += "  - {storage: F" + std::to_string(i) +
              ", capacity: 1 B, energy: {read: 1 pJ/B, write: 1 pJ/B}, bypass: [input, weight, "
              "output]}\n";
    }
    const Problem problem{
        parse_arch(text + "  - {compute: MAC, energy: 1 pJ, register_reuse: [output]}\n",
                   "deep.yaml"),
        layer};
    SearchOptions options;
    options.objective = Objective::kLatency;
    options.objective.mode = LatencyMode::kRamped;
    const SearchResult found = search_exact(Mapspace{problem, {}}, options);
    ASSERT_TRUE(found.cost);
    EXPECT_EQ(objective_value(options.objective, *found.cost), 96) << idle;
    EXPECT_EQ(found.certificate.status, Proof::kOptimal);
  }
}

}  // namespace
}  // namespace mapsim::exact_test
