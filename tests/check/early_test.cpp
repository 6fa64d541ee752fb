// SPDX-License-Identifier: Apache-2.0
// Certificates whose making was given a moment to end at.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "mapper/front.hpp"
#include "proven.hpp"
#include "report/front.hpp"
#include "tests/mapper/random_space.hpp"

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

}  // namespace
}  // namespace mapsim::early_test
