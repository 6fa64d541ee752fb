// SPDX-License-Identifier: Apache-2.0
#include "validate/judge.hpp"

#include <gmock/gmock.h>

namespace mapsim::judge_test {
namespace {

using ::testing::Contains;
using ::testing::StartsWith;

// A good fit of many problems, whose held-out top-1 regrets are these.
GroupCalibration judged(double calibrated, double fixed, double random) {
  GroupCalibration group;
  group.path = GpuPath::kWmma;
  group.problems = 100;
  CalibratedParameter mma{"mma", 0.9, {}};
  mma.fitted.value = 0.8;
  mma.fitted.determined = true;
  group.parameters = {mma};
  const auto score = [](const char* name, double mape, double regret) {
    ErrorMetrics errors;
    errors.mape = mape;
    return CalibrationScore{name, errors, {100, 0.5, regret, 1}};
  };
  group.scores = {score("calibrated", 0.05, calibrated), score("uncalibrated", 0.1, calibrated),
                  score("roofline", 0.5, 2), score("static best", 0, fixed),
                  score("random", 0, random)};
  FixedKernel kernel;
  kernel.block = {128, 128, 32};
  judge(group, {}, 100, kernel);
  return group;
}

TEST(Judge, MarksFitsThatChooseWorseThanTheBestFixedKernel) {
  const GroupCalibration worse = judged(1.02, 1.0, 1.3);
  EXPECT_EQ(worse.refusal, std::nullopt);  // its times are good
  ASSERT_TRUE(worse.fitted.best_fixed);
  EXPECT_EQ(worse.fitted.best_fixed->block[0], 128);
  EXPECT_THAT(worse.warnings, Contains("good for times only: the kernel that is best on average "
                                       "(static best) has a held-out top-1 regret of 1.0000, the "
                                       "model 1.0200; search offers the kernel that is best on "
                                       "average first"));
  EXPECT_FALSE(judged(1.01, 1.02, 1.3).fitted.best_fixed);
}

// Two timings of one kernel differ by more.
TEST(Judge, LeavesDifferencesWithinNoiseToTheReader) {
  const GroupCalibration close = judged(1.004, 1.001, 1.3);
  EXPECT_FALSE(close.fitted.best_fixed);
  EXPECT_THAT(close.warnings, Contains(StartsWith("the kernel that is best on average")));
}

TEST(Judge, MarksFitsThatChooseWorseThanADraw) {
  const GroupCalibration worse = judged(1.152, 1.2, 1.133);
  EXPECT_TRUE(worse.fitted.best_fixed);
  EXPECT_THAT(worse.warnings,
              Contains(StartsWith("good for times only: a kernel drawn by chance")));
}

}  // namespace
}  // namespace mapsim::judge_test
