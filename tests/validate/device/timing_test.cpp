// SPDX-License-Identifier: Apache-2.0
#include "validate/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace mapsim::timing_test {
namespace {

using ::testing::ElementsAre;

TimingProtocol protocol() {
  TimingProtocol result;
  result.rounds = 10;
  result.total = Seconds{0.1};
  return result;
}

TEST(PlanSamples, FillsTheTimeOfAKernelOverTheRounds) {
  EXPECT_EQ(plan_samples(protocol(), Seconds{1e-3}), (SamplePlan{10, 1}));
  EXPECT_EQ(plan_samples(protocol(), Seconds{50e-6}), (SamplePlan{64, 1}));  // at most
  EXPECT_EQ(plan_samples(protocol(), Seconds{20e-3}), (SamplePlan{1, 1}));   // at least
}

TEST(PlanSamples, LaunchesShortKernelsBackToBack) {
  EXPECT_EQ(plan_samples(protocol(), Seconds{10e-6}), (SamplePlan{20, 50}));
  EXPECT_EQ(plan_samples(protocol(), Seconds{1e-6}), (SamplePlan{40, 256}));  // at most
  TimingProtocol cold = protocol();
  cold.cold = true;
  EXPECT_EQ(plan_samples(cold, Seconds{10e-6}).batch, 1);  // a second launch would be hot
}

TEST(PlanRounds, OpensAndClosesEachWithTheAnchorAndShufflesTheOthers) {
  const auto rounds = plan_rounds(protocol(), 6);
  ASSERT_EQ(rounds.size(), 10U);
  for (const std::vector<std::size_t>& round : rounds) {
    ASSERT_EQ(round.size(), 7U);
    EXPECT_EQ(round.front(), 0U);
    EXPECT_EQ(round.back(), 0U);
    std::vector<std::size_t> others{round.begin() + 1, round.end() - 1};
    std::sort(others.begin(), others.end());
    EXPECT_THAT(others, ElementsAre(1, 2, 3, 4, 5));
  }
  EXPECT_NE(rounds[0], rounds[1]);
  EXPECT_EQ(rounds, plan_rounds(protocol(), 6));
  TimingProtocol other = protocol();
  other.seed = 2;
  EXPECT_NE(rounds, plan_rounds(other, 6));
  EXPECT_TRUE(plan_rounds(protocol(), 0).empty());
}

RoundTimes turn(std::int64_t round, std::vector<double> times, double clock) {
  RoundTimes result;
  result.round = round;
  for (const double time : times) {
    result.times.emplace_back(time);
  }
  result.clock = Hertz{clock};
  result.throttle = clock < 1e9 ? 4 : 0;
  return result;
}

TEST(Summarise, GivesMedianAndQuartilesOfAllSamples) {
  const std::vector<RoundTimes> turns{turn(0, {4, 1}, 0), turn(1, {2, 5, 3}, 0)};
  const KernelTiming timing = summarise(protocol(), turns, std::vector<double>{1, 1});
  EXPECT_EQ(timing.median, Seconds{3});
  EXPECT_EQ(timing.first_quartile, Seconds{2});
  EXPECT_EQ(timing.third_quartile, Seconds{4});
  EXPECT_EQ(timing.least, Seconds{1});
  EXPECT_EQ(timing.samples, 5);
  EXPECT_EQ(timing.left_out + timing.normalised, 0);
}

TEST(Summarise, LeavesOutRoundsAtAnotherClock) {
  const std::vector<RoundTimes> turns{turn(0, {1}, 1e9), turn(1, {1.1}, 1.009e9),
                                      turn(2, {2}, 0.8e9)};
  const KernelTiming timing = summarise(protocol(), turns, std::vector<double>{1, 1, 1.2});
  EXPECT_EQ(timing.samples, 2);
  EXPECT_EQ(timing.left_out, 1);
  EXPECT_NEAR(timing.median.count(), 1.05, 1e-12);
  EXPECT_EQ(timing.clock, Hertz{1.0045e9});
  EXPECT_EQ(timing.throttle, 0U);  // of what counts
}

// Four rounds at four clocks: only one is within 1 % of the median.
TEST(Summarise, NormalisesByTheAnchorWhereTooFewRoundsAreUndisturbed) {
  const std::vector<RoundTimes> turns{turn(0, {1}, 1e9), turn(1, {2}, 0.5e9), turn(2, {1}, 1e9),
                                      turn(3, {3}, 0.33e9), turn(4, {4}, 0.25e9)};
  const KernelTiming timing = summarise(protocol(), turns, std::vector<double>{1, 2, 1, 3, 4});
  EXPECT_EQ(timing.left_out, 0);
  EXPECT_EQ(timing.samples, 5);
  EXPECT_EQ(timing.normalised, 4);  // the median clock is that of round 1
  EXPECT_EQ(timing.third_quartile, Seconds{1});
}

TEST(Drift, IsTheAnchorOverItsOwnMedian) {
  const std::vector<RoundTimes> anchor{turn(0, {1, 1}, 0), turn(0, {3}, 0), turn(1, {2}, 0),
                                       turn(2, {1}, 0)};
  EXPECT_THAT(drift(3, anchor), ElementsAre(1, 2, 1));
}

TEST(Quantile, IsLinearBetweenOrderStatistics) {
  EXPECT_EQ(quantile(std::vector<double>{1, 2, 3, 4}, 0.25), 1.75);
  EXPECT_EQ(quantile(std::vector<double>{7}, 0.9), 7);
}

}  // namespace
}  // namespace mapsim::timing_test
