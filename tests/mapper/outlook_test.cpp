// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/outlook.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.hpp"
#include "mapper/exact/cutting_planes.hpp"
#include "mapper/exact/staircase.hpp"

namespace mapsim {
namespace {

using exact::Corner;
using exact::CuttingPlanes;
using exact::Line;
using exact::Outlook;

std::vector<Corner> corners(const Outlook& outlook) {
  std::vector<Corner> found;
  exact::for_each_corner(outlook, [&](const Corner& corner) { found.push_back(corner); });
  return found;
}

TEST(Outlook, HasTheCornersOfItsBorder) {
  const std::vector<Line> lines{{100, 10}, {60, 2}, {20, 1}};  // the last is below the others
  const auto found = corners({40, 4, lines});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].energy, 60);  // 100 - 10 * 4
  EXPECT_EQ(found[0].latency, 4);
  EXPECT_EQ(found[1].energy, 50);
  EXPECT_EQ(found[1].latency, 5);
  EXPECT_EQ(found[2].energy, 40);
  EXPECT_EQ(found[2].latency, 10);
  EXPECT_EQ(corners({70, 4, lines}).size(), 1U);
}

// Of energy^a * latency^b, over a fine grid of the border.
TEST(Outlook, HasTheLeastOfEveryProductAtACorner) {
  Rng rng{1};
  const auto draw = [&] { return static_cast<double>(1 + rng.below(1'000)); };
  for (int i = 0; i < 500; ++i) {
    std::vector<Line> lines;
    for (int l = 0; l < i % 5; ++l) {
      const double slope = draw() / 50;
      lines.push_back({draw() + slope * 20, slope});
    }
    const Outlook outlook{draw(), draw() / 100, lines};
    for (const double a : {0.0, 1.0, 2.5}) {
      for (const double b : {0.0, 1.0, 3.0}) {
        double least = exact::kInfinity;
        for (const Corner& corner : corners(outlook)) {
          EXPECT_NEAR(outlook.energy_at(corner.latency), corner.energy, 1e-9 * corner.energy);
          least = std::min(least, std::pow(corner.energy, a) * std::pow(corner.latency, b));
        }
        for (double t = outlook.latency; t < 2'000; t *= 1.01) {
          EXPECT_LE(least, std::pow(outlook.energy_at(t), a) * std::pow(t, b) * (1 + 1e-9));
        }
      }
    }
  }
}

TEST(Outlook, IsCoveredOnlyWhereNothingOfItIsFree) {
  exact::Staircase stairs;
  stairs.insert({10, 30}, 0);
  stairs.insert({20, 20}, 1);
  stairs.insert({40, 10}, 2);
  EXPECT_FALSE(stairs.covers_all({5, 5}));
  EXPECT_TRUE(stairs.covers_all({10, 30}));
  EXPECT_FALSE(stairs.covers_all({10, 29}));
  EXPECT_TRUE(stairs.covers_all({40, 10}));
  EXPECT_FALSE(stairs.covers_all({50, 9}));
  const std::vector<Line> over{{71, 2}};  // needs 13 at 29 cycles, 33 at 19
  EXPECT_FALSE(stairs.covers_all({10, 10, over}));
  const std::vector<Line> beyond{{80, 2}};  // needs 22 at 29 cycles, 42 at 19
  EXPECT_TRUE(stairs.covers_all({10, 10, beyond}));
  EXPECT_FALSE(stairs.covers_all({10, 9, beyond}));
}

TEST(CuttingPlanes, FindTheHighestPointOfTheModel) {
  Rng rng{2};
  const auto draw = [&] { return static_cast<double>(rng.below(2'001)) - 1'000; };
  for (int i = 0; i < 300; ++i) {
    CuttingPlanes model(2);
    for (int p = 0; p < 1 + i % 7; ++p) {
      model.add(draw() * 1e6, {draw() * 1e3, draw()});
    }
    const std::vector<double> most{1e3, 1e6};
    model.require({1, -1e-3}, 200);
    const std::vector<double> x = model.highest(most);
    EXPECT_GE(x[0], 0);
    EXPECT_GE(x[1], 0);
    EXPECT_LE(x[0], most[0] * (1 + 1e-9));
    EXPECT_LE(x[1], most[1] * (1 + 1e-9));
    EXPECT_LE(x[0] - 1e-3 * x[1], 200 + 1e-6);
    for (double a = 0; a <= 1; a += 0.02) {
      for (double b = 0; b <= 1; b += 0.02) {
        if (a * 1e3 - b * 1e3 <= 200) {
          EXPECT_LE(model.at({a * 1e3, b * 1e6}), model.at(x) + 1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace mapsim
