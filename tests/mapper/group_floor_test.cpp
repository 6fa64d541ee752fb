// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "arch/load.hpp"
#include "core/rng.hpp"
#include "costmodel/nest.hpp"
#include "mapper/exact/groups.hpp"
#include "mapper/exact/labels.hpp"
#include "mapper/mapper.hpp"
#include "random_space.hpp"
#include "workloads/gemm.hpp"

namespace mapsim {
namespace {

// A product with one row: each weight serves one operation, and the outermost port all of them.
Problem product_with_one_row() {
  return {parse_arch(R"(name: two_levels
nodes:
  - {storage: DRAM, capacity: unlimited, bandwidth: {shared: 16 b/cycle}, energy: {read: 8 pJ/b, write: 8 pJ/b}}
  - {storage: buffer, capacity: 4096 b, energy: {read: 1 pJ/b, write: 1 pJ/b}}
  - {fanout: units, x: 4, y: 4, multicast: [input, weight], spatial_reduction: true}
  - {compute: MAC, energy: 1 pJ}
)",
                     "arch"),
          gemm("row", {1, 32, 32, {}, false})};
}

// Elements take longer than the steps of any unrolling.
TEST(GroupFloor, KnowsWhatPassesTheOutermostPort) {
  const Problem problem = product_with_one_row();
  double bits = 0;
  for (const Tensor& tensor : problem.workload().tensors) {
    bits +=
        static_cast<double>(footprint(tensor, bounds_of(problem.workload())) * tensor.bits.count());
  }
  const Mapspace space{problem, {}};
  const exact::Groups groups(space, Objective::kLatency);
  ASSERT_GT(groups.size(), 10U);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    EXPECT_GE(groups.floor(g).first, std::ceil(bits / 16));
  }
  SearchOptions options;
  options.objective = Objective::kLatency;
  const SearchResult found = search_exact(space, options);
  ASSERT_TRUE(found.cost);
  EXPECT_EQ(static_cast<double>(found.cost->latency.steady.count()), std::ceil(bits / 16));
}

struct Tally {
  std::int64_t found = 0;
  std::int64_t placings = 0;
  std::int64_t left_out = 0;
};

// What no nest within the optimum of a group can use is not what its best nest uses.
void keep_optima(const Problem& problem, const Constraints& constraints, const Objective& objective,
                 Tally& tally) {
  const SearchOptions options;
  const Mapspace space{problem, constraints};
  const exact::Groups groups(space, objective);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto all = groups.build(g);
    const exact::LabelResult best = exact::search_labels(*all, {}, Patience(options));
    if (best.endings.empty()) {
      continue;
    }
    exact::Quest quest;
    quest.limit = best.endings.front().key;
    const exact::Skeleton& skeleton = groups.skeleton(g);
    const UnrollingGroup& unrolling = space.group_by_factors()[g];
    const exact::EnergyFloor floor(skeleton);
    exact::Instance within(skeleton, exact::Unrolled(problem, unrolling), objective, quest.limit,
                           false,
                           [&](double most) { return floor.placings_beyond(unrolling, most); });
    const exact::LabelResult same = exact::search_labels(within, quest, Patience(options));
    ASSERT_EQ(same.endings.size(), 1U) << "group " << g;
    EXPECT_EQ(same.endings.front().key, quest.limit) << "group " << g;
    ++tally.found;
    for (std::size_t p = 0; p < skeleton.placings().size(); ++p) {
      ++tally.placings;
      tally.left_out += within.costs.is_left_out(p) ? 1 : 0;
    }
  }
}

TEST(GroupFloor, LeavesTheOptimumOfEachGroupWithinItsLimit) {
  Tally tally;
  for (std::uint64_t seed = 40'000; seed < 40'600; ++seed) {
    SCOPED_TRACE(seed);
    const SearchCase random = seed % 3 == 0   ? random_ruled_space(seed, 5'000)
                              : seed % 3 == 1 ? random_systolic_space(seed, 5'000)
                                              : random_space(seed, 5'000);
    keep_optima(random.problem, random.constraints,
                seed % 2 == 0 ? Objective::kEnergy : Objective::kEdp, tally);
  }
  EXPECT_GT(tally.found, 1'000);
  EXPECT_GT(tally.left_out, tally.placings / 20);
}

// Four levels and two fanouts, whose rooms are of any size.
Arch tower(Rng& rng) {
  std::string text = "name: tower\nnodes:\n";
  const char* fanout =
      "  - {fanout: %, x: 2, y: 2, multicast: [input, weight], spatial_reduction: true}\n";
  std::size_t levels = 4;
  double energy = 64;
  for (std::size_t l = 0; l < levels; ++l) {
    const std::string room =
        l == 0 ? "unlimited" : std::to_string(8 * (2 + rng.below(120U >> (2 * l)))) + " b";
    text += "  - {storage: L" + std::to_string(l) + ", capacity: " + room +
            ", energy: {read: " + std::to_string(energy) +
            " pJ/b, write: " + std::to_string(energy) + " pJ/b}}\n";
    energy /= static_cast<double>(2 + rng.below(4));
    if (rng.below(3) == 0) {
      std::string here = fanout;
      text += here.replace(here.find('%'), 1, "F" + std::to_string(l));
    }
  }
  return parse_arch(text + "  - {compute: MAC, energy: 1 pJ}\n", "tower");
}

TEST(GroupFloor, LeavesTheOptimumOnManyLevels) {
  Tally tally;
  for (std::uint64_t seed = 50'000; seed < 50'030; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng{seed};
    const SearchCase random = random_space(seed, 20'000);
    keep_optima({tower(rng), random.problem.workload()}, {},
                seed % 2 == 0 ? Objective::kEnergy : Objective::kEdp, tally);
  }
  EXPECT_GT(tally.found, 100);
  EXPECT_GT(tally.left_out, tally.placings / 10);
}

}  // namespace
}  // namespace mapsim
