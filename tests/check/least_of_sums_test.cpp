// SPDX-License-Identifier: Apache-2.0
#include "check/least_of_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace mapsim::least_of_sums_test {
namespace {

using Points = std::vector<std::pair<double, double>>;  // energy, cycles

Points random_points(std::mt19937& random) {
  std::uniform_int_distribution<int> figure{1, 200};
  std::uniform_int_distribution<int> count{1, 12};
  Points points;
  for (int i = count(random); i > 0; --i) {
    points.emplace_back(figure(random), figure(random));
  }
  return points;
}

check::ProvenSum least_sum(const Points& points, const ObjectiveFunction& function) {
  check::ProvenSum sum{function, HUGE_VAL};
  for (const auto& [energy, cycles] : points) {
    sum.least = std::min(sum.least, function.value(energy, cycles));
  }
  return sum;
}

std::vector<check::ProvenSum> sums_of(const Points& points, const std::vector<double>& weights) {
  std::vector<check::ProvenSum> sums{least_sum(points, ObjectiveFunction::product(1, 0)),
                                     least_sum(points, ObjectiveFunction::product(0, 1))};
  for (const double weight : weights) {
    sums.push_back(least_sum(points, ObjectiveFunction::weighted_sum(weight)));
  }
  return sums;
}

const std::vector<ObjectiveFunction> kFunctions{
    ObjectiveFunction::product(1, 1), ObjectiveFunction::product(2, 0.5),
    ObjectiveFunction::product(1, 0), ObjectiveFunction::product(0, 1),
    ObjectiveFunction::weighted_sum(3)};

// No point within the limits is below it, whatever the weights.
TEST(LeastOfSums, IsALowerBound) {
  std::mt19937 random{7};
  std::uniform_real_distribution<double> exponent{-4, 4};
  std::uniform_int_distribution<int> limit{1, 250};
  int nothing = 0;
  for (int n = 0; n < 2'000; ++n) {
    const Points points = random_points(random);
    std::vector<double> weights;
    for (int i = n % 5; i > 0; --i) {
      weights.push_back(std::exp(exponent(random)));
    }
    check::Goal goal;
    goal.function = kFunctions[static_cast<std::size_t>(n) % kFunctions.size()];
    if (n % 3 == 1) {
      goal.max_latency = limit(random);
    }
    if (n % 4 == 1) {
      goal.max_energy = limit(random);
    }
    double least = HUGE_VAL;
    for (const auto& [energy, cycles] : points) {
      least = goal.is_within_limits(energy, cycles) ? std::min(least, goal.value(energy, cycles))
                                                    : least;
    }
    const double bound = check::least_of_sums(goal, sums_of(points, weights));
    EXPECT_LE(bound, least * (1 + 1e-9)) << n;
    nothing += bound < HUGE_VAL ? 0 : 1;
  }
  EXPECT_GT(nothing, 50);
}

// Nor where weights are so large or small that 1e-10 of a sum, which the checker accepts, is more
// than all energy.
TEST(LeastOfSums, IsALowerBoundWhateverTheWeights) {
  std::mt19937_64 random{13};
  std::uniform_real_distribution<double> part{0, 1};
  const auto between = [&](double a, double b) { return a + (b - a) * part(random); };
  for (int n = 0; n < 40'000; ++n) {
    Points points;
    for (int i = 1 + n % 6; i > 0; --i) {
      points.emplace_back(std::floor(std::exp(between(5, 20))),
                          std::floor(std::exp(between(3, 15))));
    }
    const auto& [energy, cycles] = points.back();
    const double span = n % 2 == 0 ? 3 : 60;
    std::vector<double> weights;
    for (int i = 0; i < 3; ++i) {
      weights.push_back(energy / cycles * std::pow(10, between(-span, span)));
    }
    check::Goal goal;
    goal.function = kFunctions[static_cast<std::size_t>(n) % kFunctions.size()];
    if (n % 3 == 1) {
      goal.max_latency = cycles;
    }
    if (n % 4 == 1) {
      goal.max_energy = energy;
    }
    double least = HUGE_VAL;
    for (const auto& [e, t] : points) {
      least = goal.is_within_limits(e, t) ? std::min(least, goal.value(e, t)) : least;
    }
    std::vector<check::ProvenSum> sums = sums_of(points, weights);
    for (check::ProvenSum& sum : sums) {
      sum.least *= n % 5 == 0 ? 1 : 1 + between(0.5, 1) * 1e-10;
    }
    EXPECT_LE(check::least_of_sums(goal, sums), least * (1 + 1e-9)) << n;
  }
}

// What is beyond all numbers is not taken for what no tree reaches, and a bound of 0 keeps a sum.
TEST(LeastOfSums, TellsLargeValuesFromNone) {
  check::Goal goal;
  goal.function = ObjectiveFunction::product(8, 8);
  const Points points{{1e40, 1e10}};
  EXPECT_LT(check::least_of_sums(goal, sums_of(points, {1})), HUGE_VAL);
  EXPECT_EQ(check::needed_sums(goal, sums_of(points, {1}), 0).size(), 1);
}

// The least of all points that the sums leave: no place along the edge is below it, and with a
// weight for each pair of points it is the least value of a point.
TEST(LeastOfSums, IsTheLeastOfWhatIsLeft) {
  std::mt19937 random{11};
  for (int n = 0; n < 300; ++n) {
    const Points points = random_points(random);
    check::Goal goal;
    goal.function = kFunctions[static_cast<std::size_t>(n) % kFunctions.size()];
    const std::vector<check::ProvenSum> some = sums_of(points, {0.3, 2});
    double edge = HUGE_VAL;
    for (double cycles = some[1].least; cycles < 1'000; cycles += 0.01) {
      double energy = some[0].least;
      for (std::size_t i = 2; i < some.size(); ++i) {
        energy = std::max(energy, some[i].least - some[i].function.value(0, 1) * cycles);
      }
      edge = std::min(edge, goal.value(energy, cycles));
    }
    const double bound = check::least_of_sums(goal, some);
    EXPECT_LE(bound, edge * (1 + 1e-9)) << n;
    EXPECT_GE(bound, edge * (1 - 1e-2)) << n;

    std::vector<double> weights;
    for (const auto& [energy, cycles] : points) {
      for (const auto& [other_energy, other_cycles] : points) {
        const double weight = (energy - other_energy) / (other_cycles - cycles);
        if (weight > 0 && weight < HUGE_VAL) {
          weights.push_back(weight);
        }
      }
    }
    const std::vector<check::ProvenSum> all = sums_of(points, weights);
    const double least = least_sum(points, goal.function).least;
    EXPECT_NEAR(check::least_of_sums(goal, all), least, 1e-9 * least) << n;
    const auto needed = check::needed_sums(goal, all, least * (1 - 1e-9));
    EXPECT_GE(check::least_of_sums(goal, needed), least * (1 - 1e-9)) << n;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      std::vector<check::ProvenSum> others = needed;
      others[i] = others.back();
      others.pop_back();
      EXPECT_LT(check::least_of_sums(goal, others), least * (1 - 1e-9)) << n;
    }
  }
}

}  // namespace
}  // namespace mapsim::least_of_sums_test
