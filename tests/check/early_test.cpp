// SPDX-License-Identifier: Apache-2.0
// Certificates whose making was given a moment to end at.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <string>

#include "arch/load.hpp"
#include "mapper/front.hpp"
#include "proven.hpp"
#include "report/front.hpp"
#include "tests/mapper/random_space.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::early_test {
namespace {

// At any moment: at once nothing is known, a moment later some bounds are. What is claimed holds.
TEST(EarlyProofs, ClaimNoMoreThanTheyShow) {
  using std::chrono::microseconds;
  int empty = 0;
  int weaker = 0;
  for (std::uint64_t i = 0; i < 18; ++i) {
    const SearchCase random = random_imperfect_space(71'000 + i, 1'000);
    const Mapspace space{random.problem, random.constraints};
    Objective objective = i % 2 == 0 ? Objective::kEnergy : Objective::kEdp;
    objective.exact_ties = i % 4 == 0;
    SearchOptions options;
    options.objective = objective;
    const SearchResult result = search_exact(space, options);
    const Front front = search_front(space, {});
    for (const int us : {0, 30, 300, 3'000}) {
      check::Stop stop{nullptr, check::Stop::Clock::now() + microseconds{us}};
      const std::string proof = certificate_file({"search", {}}, space, objective, result, 1, stop);
      EXPECT_EQ(faults_of(proof), "") << i << ", " << us << " us";
      const double bound = check::parse_certificate(proof, "proof").lower_bound;
      EXPECT_LE(bound, result.certificate.lower_bound * (1 + 1e-9)) << i;
      EXPECT_GT(bound, 0) << i << ", " << us << " us";
      weaker += bound < result.certificate.lower_bound * (1 - 1e-9) ? 1 : 0;
      stop.end = check::Stop::Clock::now() + microseconds{us};
      const std::string points = front_certificate_file(
          {"search", {}}, space, {Objective::kEnergy, std::nullopt}, front, 1, stop);
      empty += points.empty() ? 1 : 0;
      EXPECT_TRUE(points.empty() || faults_of(points).empty()) << i << ", " << us << " us";
    }
  }
  EXPECT_GT(weaker, 0);
  EXPECT_GT(empty, 0);
}

// 672 classes of unrollings, of which each takes half a millisecond.
TEST(EarlyProofs, TakeLittleTime) {
  const std::string configs = source_path("configs/");
  const Problem problem{load_arch(configs + "arch/edge.yaml"),
                        parse_workload("name: conv\nconv2d: {in_channels: 61, out_channels: 97, "
                                       "input: [123, 123], kernel: [3, 3], stride: 2, batch: 2}\n",
                                       "conv.yaml")};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  SearchOptions options{Objective{ObjectiveFunction::weighted_sum(12.5)}};
  options.budget.seconds = 0.15;
  const SearchResult result = search_exact(space, options);
  EXPECT_GT(result.classes.size(), 600U);
  const std::clock_t before = std::clock();
  const check::Stop stop{nullptr, check::Stop::Clock::now() + std::chrono::milliseconds{50}};
  const std::string proof =
      certificate_file({"search", {}}, space, options.objective, result, 1, stop);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, kSanitized ? 2 : 0.2);
  EXPECT_GT(check::parse_certificate(proof, "proof").lower_bound, 0);
  EXPECT_EQ(faults_of(proof), "");
}

}  // namespace
}  // namespace mapsim::early_test
