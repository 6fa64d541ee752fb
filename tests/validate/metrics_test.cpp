// SPDX-License-Identifier: Apache-2.0
#include "validate/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/rng.hpp"

namespace mapsim::metrics_test {
namespace {

TEST(KendallTau, CountsPairsAndCorrectsForTies) {
  const std::vector<double> up{1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(kendall_tau_b(up, up), 1);
  EXPECT_DOUBLE_EQ(kendall_tau_b(up, std::vector<double>{4, 3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(kendall_tau_b(up, std::vector<double>{1, 2, 4, 3}), 4.0 / 6);
  // One tie: 5 concordant of 6 pairs, 5 told apart by the second.
  EXPECT_DOUBLE_EQ(kendall_tau_b(up, std::vector<double>{1, 1, 2, 3}), 5 / std::sqrt(6.0 * 5));
  EXPECT_EQ(kendall_tau_b(up, std::vector<double>{1, 1, 1, 1}), 0);
}

TEST(ErrorMetrics, AreThoseOfTheRelativeErrors) {
  const std::vector<Prediction> p{{0, 0, 1, 1.1}, {1, 0, 2, 1.6}, {2, 0, 4, 4}, {3, 0, 1, 1.5}};
  const ErrorMetrics m = error_metrics(p);
  EXPECT_EQ(m.count, 4);
  EXPECT_NEAR(m.mape, (0.1 + 0.2 + 0 + 0.5) / 4, 1e-12);
  EXPECT_NEAR(m.bias, (0.1 - 0.2 + 0 + 0.5) / 4, 1e-12);
  EXPECT_NEAR(m.median, 0.15, 1e-12);
  EXPECT_LE(m.mape_low, m.mape);
  EXPECT_GE(m.mape_high, m.mape);
  EXPECT_EQ(error_metrics(p).mape_low, m.mape_low);  // the same draws
}

TEST(RankMetrics, RegretIsWhatTheChoiceCosts) {
  // The predicted best of problem 0 is 1.5 times as slow as the best; of problem 1 it is the best.
  const std::vector<Prediction> p{{0, 1, 2, 3},   {0, 2, 3, 1}, {0, 3, 4, 5},
                                  {1, 1, 1, 0.1}, {1, 2, 9, 2}, {2, 1, 5, 5}};
  const RankMetrics m = rank_metrics(p);
  EXPECT_EQ(m.problems, 2);  // the third has no choice
  EXPECT_NEAR(m.top1, std::sqrt(1.5), 1e-12);
  EXPECT_NEAR(m.top5, 1, 1e-12);
  EXPECT_NEAR(m.tau, (1.0 / 3 + 1) / 2, 1e-12);
}

TEST(RankMetrics, RepeatedTimingsOfAKernelAreOne) {
  const std::vector<Prediction> p{{0, 1, 1, 1}, {0, 1, 4, 1}, {0, 2, 3, 2}};
  EXPECT_NEAR(rank_metrics(p).top1, 1, 1e-12);  // sqrt(1 * 4) = 2 is less than 3
}

// All ways to draw `top` of the predicted alike, their best averaged.
TEST(RankMetrics, TiesAreDrawnByChance) {
  Rng rng{5};
  for (int i = 0; i < 20; ++i) {
    std::vector<Prediction> p;
    const int sure = static_cast<int>(rng.below(4));  // predicted faster than the rest
    for (int k = 0; k < 9; ++k) {
      p.push_back({0, k, 1 + rng.uniform(), k < sure ? 0.5 + 0.01 * k : 1});
    }
    double best = 9;
    for (const Prediction& one : p) {
      best = std::min(best, one.measured);
    }
    double sum = 0;
    int ways = 0;
    for (unsigned chosen = 0; chosen < 512; ++chosen) {
      const bool has_sure = (chosen & ((1U << sure) - 1)) == (1U << sure) - 1;
      if (__builtin_popcount(chosen) != 5 || !has_sure) {
        continue;
      }
      double fastest = 9;
      for (int k = 0; k < 9; ++k) {
        fastest = (chosen >> k & 1) != 0
                      ? std::min(fastest, p[static_cast<std::size_t>(k)].measured)
                      : fastest;
      }
      sum += std::log(fastest / best);
      ++ways;
    }
    EXPECT_NEAR(std::log(rank_metrics(p).top5), sum / ways, 1e-12);
  }
}

TEST(Folds, ShareProblemsOutEvenlyAndForGood) {
  for (const std::int64_t problems : {2, 5, 27, 5003}) {
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
      const std::int64_t folds = std::min<std::int64_t>(problems, 5);
      const std::vector<std::int64_t> dealt = deal_folds(problems, folds, seed);
      ASSERT_EQ(std::ssize(dealt), problems);
      EXPECT_EQ(dealt, deal_folds(problems, folds, seed));
      for (std::int64_t fold = 0; fold < folds; ++fold) {
        const std::int64_t size = std::count(dealt.begin(), dealt.end(), fold);
        EXPECT_GE(size, problems / folds);
        EXPECT_LE(size, problems / folds + 1);
      }
    }
  }
  EXPECT_NE(deal_folds(100, 5, 1), deal_folds(100, 5, 2));
}

// Of each fold by the others: an interval that fits all but one fold does not cover that one.
TEST(Coverage, IsOfWhatTheIntervalWasNotTakenFrom) {
  std::vector<Prediction> predictions;
  std::vector<std::int64_t> folds;
  for (std::int64_t i = 0; i < 40; ++i) {
    folds.push_back(i / 10);
    const double error = (i / 10 == 3 ? 0.5 : 0.1) + 1e-3 * static_cast<double>(i % 10);
    predictions.push_back({i, 0, 1, std::exp(i % 2 == 0 ? error : -error)});
  }
  const Coverage found = coverage(predictions, folds);
  EXPECT_NEAR(found.covered, 0.75, 1e-12);
  EXPECT_FALSE(found.within[35]);
  EXPECT_TRUE(found.within[5]);
  EXPECT_NEAR(found.half_width, 0.506, 1e-9);
}

TEST(Resolution, IsWherePairsAreInOrder) {
  // Kernels of times 1.00, 1.02, ...; predictions swap neighbours: only those next to each other
  // are in the wrong order, 4 % apart.
  std::vector<Prediction> predictions;
  for (std::int64_t problem = 0; problem < 4; ++problem) {
    for (std::int64_t i = 0; i < 20; ++i) {
      const double measured = std::exp(0.02 * static_cast<double>(i));
      const double predicted = std::exp(0.02 * static_cast<double>(i ^ 1));
      predictions.push_back({problem, i, measured, predicted});
    }
  }
  const std::optional<double> found = resolution_of(predictions);
  ASSERT_TRUE(found);
  EXPECT_GE(*found, 0.02);
  EXPECT_LE(*found, 0.05);
  predictions.resize(10);
  EXPECT_EQ(resolution_of(predictions), std::nullopt);
}

}  // namespace
}  // namespace mapsim::metrics_test
