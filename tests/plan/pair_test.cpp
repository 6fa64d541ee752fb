// SPDX-License-Identifier: Apache-2.0
#include "plan/pair.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/rng.hpp"

namespace mapsim::pair_test {
namespace {

std::vector<PairTask> random_tasks(Rng& rng) {
  std::vector<PairTask> tasks;
  double clock = 0;
  for (std::int64_t k = rng.between(1, 6); k > 0; --k) {
    const auto time = static_cast<double>(rng.between(1, 9));
    const auto engine = rng.below(4);
    tasks.push_back(
        {engine < 2 ? std::optional<std::size_t>{engine} : std::nullopt, clock, clock + time});
    clock += time;
  }
  return tasks;
}

// All orders in which tasks of one engine can go: a task of either sequence is next.
double best_of_all_orders(const std::vector<PairTask>& a, const std::vector<PairTask>& b,
                          std::size_t i, std::size_t j, double end_a, double end_b,
                          std::vector<double> free) {
  if (i == a.size() && j == b.size()) {
    return std::max(end_a, end_b);
  }
  double best = 1e9;
  const auto run = [&](const PairTask& task, double& end) {
    const double start = task.engine ? std::max(end, free[*task.engine]) : end;
    end = start + (task.end - task.start);
    if (task.engine) {
      free[*task.engine] = end;
    }
  };
  const auto before = free;
  if (i < a.size()) {
    double end = end_a;
    run(a[i], end);
    best = std::min(best, best_of_all_orders(a, b, i + 1, j, end, end_b, free));
    free = before;
  }
  if (j < b.size()) {
    double end = end_b;
    run(b[j], end);
    best = std::min(best, best_of_all_orders(a, b, i, j + 1, end_a, end, free));
  }
  return best;
}

TEST(PairSchedule, IsTheBestOfAllOrders) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Rng rng{seed};
    const auto a = random_tasks(rng);
    const auto b = random_tasks(rng);
    const PairSchedule found = schedule_pair(a, b);
    EXPECT_EQ(found.makespan, best_of_all_orders(a, b, 0, 0, 0, 0, {0, 0})) << seed;
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_TRUE(i == 0 ||
                  found.starts[0][i] >= found.starts[0][i - 1] + a[i - 1].end - a[i - 1].start)
          << seed;
      for (std::size_t j = 0; j < b.size(); ++j) {
        if (a[i].engine && a[i].engine == b[j].engine) {
          const double end_a = found.starts[0][i] + a[i].end - a[i].start;
          const double end_b = found.starts[1][j] + b[j].end - b[j].start;
          EXPECT_TRUE(end_a <= found.starts[1][j] || end_b <= found.starts[0][i]) << seed;
        }
      }
    }
  }
}

// The first one that is tried has the least work; others are left out where they cannot be better,
// and once time is over.
TEST(BestPair, IsTheBestOfAllPairs) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng{seed};
    std::vector<std::vector<PairTask>> first;
    std::vector<std::vector<PairTask>> second;
    for (int i = 0; i < 4; ++i) {
      first.push_back(random_tasks(rng));
      second.push_back(random_tasks(rng));
    }
    double least = 1e9;
    for (const auto& a : first) {
      for (const auto& b : second) {
        least = std::min(least, schedule_pair(a, b).makespan);
      }
    }
    const BestPair found = best_pair(first, second, PlanSearches::Clock::time_point::max());
    EXPECT_EQ(found.makespan, least) << seed;
    EXPECT_EQ(schedule_pair(first[found.first], second[found.second]).makespan, least) << seed;
    EXPECT_EQ(found.tried, 16U);
    const BestPair hasty = best_pair(first, second, PlanSearches::Clock::now());
    EXPECT_THAT(hasty.tried, testing::AnyOf(1, 16)) << "where none can be better";
    EXPECT_EQ(hasty.makespan, schedule_pair(first[hasty.first], second[hasty.second]).makespan);
  }
}

}  // namespace
}  // namespace mapsim::pair_test
