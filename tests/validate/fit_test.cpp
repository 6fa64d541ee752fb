// SPDX-License-Identifier: Apache-2.0
#include "validate/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/rng.hpp"

namespace mapsim::fit_test {
namespace {

// t = a + x / b at a hundred x, with some noise and some outliers.
struct Line {
  double noise = 0;
  double outliers = 0;  // of the points, five times as slow
  std::vector<double> x, t;

  Line(double a, double b, double noise_part, double outlier_part) {
    Rng rng{3};
    for (int i = 1; i <= 100; ++i) {
      x.push_back(i);
      const double wrong = rng.uniform() < outlier_part ? 5 : 1;
      t.push_back((a + i / b) * (1 + noise_part * (2 * rng.uniform() - 1)) * wrong);
    }
  }
  Residuals residuals() const {
    return [this](std::span<const double> p, std::span<double> out) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        out[i] = std::log((p[0] + x[i] / p[1]) / t[i]);
      }
    };
  }
};

const std::vector<FitParameter> kTwo{{"a", 1, 0.01, 100}, {"b", 1, 0.01, 100}};

TEST(Fit, FindsWhatMadeTheData) {
  const Line line{3, 0.5, 0, 0};
  const Fit found = fit(kTwo, 100, line.residuals());
  EXPECT_NEAR(found.parameters[0].value, 3, 1e-4);
  EXPECT_NEAR(found.parameters[1].value, 0.5, 1e-5);
  EXPECT_TRUE(found.parameters[0].determined && found.parameters[1].determined);
  EXPECT_LT(found.cost, 1e-9);
}

TEST(Fit, OutliersHardlyMoveIt) {
  const Line line{3, 0.5, 0.02, 0.1};
  const Fit found = fit(kTwo, 100, line.residuals());
  EXPECT_NEAR(found.parameters[1].value, 0.5, 0.02);
  FitOptions squares;
  squares.soft_scale = 1e3;
  EXPECT_GT(std::abs(fit(kTwo, 100, line.residuals(), {}, squares).parameters[1].value - 0.5),
            std::abs(found.parameters[1].value - 0.5));
}

TEST(Fit, ErrorsShrinkAsTheNoiseDoes) {
  const Line loud{3, 0.5, 0.2, 0};
  const Line quiet{3, 0.5, 0.02, 0};
  const double many = fit(kTwo, 100, loud.residuals()).parameters[1].relative_error;
  const double few = fit(kTwo, 100, quiet.residuals()).parameters[1].relative_error;
  EXPECT_NEAR(many / few, 10, 3);
  EXPECT_GT(few, 0);
}

TEST(Fit, StaysWithinBoundsAndSaysSo) {
  const Line line{3, 0.5, 0, 0};
  const Fit found = fit({{"a", 1, 0.01, 2}, {"b", 1, 0.01, 100}}, 100, line.residuals());
  EXPECT_LE(found.parameters[0].value, 2);
  EXPECT_TRUE(found.parameters[0].at_bound);
  EXPECT_FALSE(found.parameters[0].determined);
}

TEST(Fit, NoticesWhatTheDataDoNotDetermine) {
  const Line line{3, 0.5, 0.02, 0};
  const Residuals only_product = [&](std::span<const double> p, std::span<double> out) {
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      out[i] = std::log((p[0] * p[1] + line.x[i] * p[2]) / line.t[i]);
    }
  };
  const std::vector<FitParameter> three{
      {"a", 1, 0.01, 100, 1}, {"b", 1, 0.01, 100, 1}, {"c", 1, 0.01, 100, 1}};
  const Fit found = fit(three, 100, only_product);
  EXPECT_TRUE(std::isinf(found.parameters[0].relative_error));
  EXPECT_TRUE(std::isinf(found.parameters[1].relative_error));
  EXPECT_TRUE(found.parameters[2].determined);
  EXPECT_NEAR(found.parameters[2].value, 2, 0.05);
  EXPECT_NEAR(found.parameters[0].value * found.parameters[1].value, 3, 0.2);
}

TEST(Fit, APriorHoldsOnlyWhatTheDataLeaveFree) {
  const Line line{3, 0.5, 0.02, 0};
  const Residuals without_third = [&](std::span<const double> p, std::span<double> out) {
    line.residuals()(p.first(2), out);
  };
  const Fit found = fit({{"a", 1, 0.01, 100, 0.5}, {"b", 1, 0.01, 100, 0.5}, {"c", 7, 1, 10, 0.5}},
                        100, without_third);
  EXPECT_NEAR(found.parameters[0].value, 3, 0.2);
  EXPECT_NEAR(found.parameters[1].value, 0.5, 0.02);
  EXPECT_NEAR(found.parameters[2].value, 7, 1e-6);
  EXPECT_FALSE(found.parameters[2].determined);
}

TEST(Fit, SoftL1IsASquareWhenSmallAndLinearWhenLarge) {
  EXPECT_NEAR(soft_l1(1e-4, 0.1), 1e-8, 1e-13);
  EXPECT_NEAR(soft_l1(100, 0.1), 2 * 0.1 * 100, 0.05);
}

TEST(FitDetermined, LeavesWhatTheDataDoNotKnow) {
  const Line line{3, 0.5, 0.02, 0};
  const Residuals product = [&](std::span<const double> p, std::span<double> out) {
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      out[i] = std::log((p[0] * p[1] + line.x[i] / p[2]) / line.t[i]);
    }
  };
  const std::vector<FitParameter> three{{"a", 2, 0.01, 100, 0.5},
                                        {"c", 1, 0.01, 100, 0.5},
                                        {"b", 1, 0.01, 100, 0.5},
                                        {"unused", 7, 1, 10, 0.5}};
  const Fit found = fit_determined(three, 100, product);
  // Of a product one factor stays, and the other has all that is known.
  EXPECT_EQ(found.parameters[0].fixed + found.parameters[1].fixed, 1);
  EXPECT_NEAR(found.parameters[0].value * found.parameters[1].value, 3, 0.2);
  EXPECT_NEAR(found.parameters[2].value, 0.5, 0.02);
  EXPECT_TRUE(found.parameters[2].determined);
  EXPECT_TRUE(found.parameters[3].fixed);
  EXPECT_DOUBLE_EQ(found.parameters[3].value, 7);
}

TEST(FitDetermined, KeepsWhatTheDataPressAgainstABound) {
  const Line line{3, 0.5, 0.02, 0};
  const Fit found = fit_determined({{"a", 1, 0.01, 2}, {"b", 1, 0.01, 100}}, 100, line.residuals());
  EXPECT_TRUE(found.parameters[0].at_bound);
  EXPECT_FALSE(found.parameters[0].fixed);
  EXPECT_NEAR(found.parameters[0].value, 2, 0.05);
}

}  // namespace
}  // namespace mapsim::fit_test
