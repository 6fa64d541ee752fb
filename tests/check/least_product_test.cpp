// SPDX-License-Identifier: Apache-2.0
#include "check/least_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.hpp"

namespace mapsim::check {
namespace {

// Against all choices of points of random layers, whose bounds are those of their points.
TEST(LeastProduct, IsNoMoreThanAnyChoice) {
  Rng rng{7};
  for (int tries = 0; tries < 200; ++tries) {
    std::vector<LayerBounds> bounds;
    std::vector<std::vector<std::pair<double, double>>> points;
    for (std::size_t l = 0; l < 3; ++l) {
      auto& own = points.emplace_back();
      auto& bound = bounds.emplace_back();
      bound.count = 1 + static_cast<double>(rng.below(3));
      bound.cycles = bound.root = 1e9;
      for (int i = 0; i < 4; ++i) {
        own.emplace_back(1 + rng.below(50), 1 + rng.below(50));
        bound.cycles = std::min(bound.cycles, own.back().second);
        bound.root = std::min(bound.root, std::sqrt(own.back().first * own.back().second));
      }
      for (int w = 0; w < 60; ++w) {
        const double weight = w == 0 ? 0 : std::pow(1.2, w - 30);
        double least = 1e9;
        for (const auto& [energy, cycles] : own) {
          least = std::min(least, energy + weight * cycles);
        }
        bound.lines.emplace_back(weight, least);
      }
    }
    double best = 1e99;
    for (int choice = 0; choice < 64; ++choice) {
      double energy = 0;
      double cycles = 0;
      for (std::size_t l = 0; l < 3; ++l) {
        const auto& point = points[l][(choice >> (2 * l)) % 4];
        energy += bounds[l].count * point.first;
        cycles += bounds[l].count * point.second;
      }
      best = std::min(best, energy * cycles);
    }
    const double bound = least_product(bounds);
    EXPECT_LE(bound, best * (1 + 1e-12));
    EXPECT_GE(bound, best * 0.99);  // weights lie close
  }
}

}  // namespace
}  // namespace mapsim::check
