// SPDX-License-Identifier: Apache-2.0
#include "mapper/branch/fewest_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "core/arithmetic.hpp"
#include "core/rng.hpp"
#include "workloads/load.hpp"

namespace mapsim::fewest_steps_test {
namespace {

using branch::FewSteps;
using branch::Interval;
using branch::Place;

// Three dims, and up to three axes of which each takes some of them.
struct Case {
  Workload workload;
  std::vector<Place> places;
  std::vector<Interval> counts;
};

Case random_case(Rng& rng) {
  const auto draw = [&rng](std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  Case random{
      parse_workload("name: w\neinsum:\n  equation: Z[M][N] += A[M][K] * B[K][N]\n  dims: {M: " +
                         std::to_string(draw(1, 13)) + ", N: " + std::to_string(draw(1, 7)) +
                         ", K: " + std::to_string(draw(1, 9)) + "}\n",
                     "layer"),
      {},
      {}};
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t size = draw(1, 6);
    for (const DimId d : random.workload.dims.ids()) {
      if (draw(0, 2) > 0) {
        random.places.push_back(
            {static_cast<FanoutId>(axis / 2), axis % 2 == 0 ? Axis::kX : Axis::kY, d, size});
        const std::int64_t most = std::min(size, random.workload.dims[d].bound);
        const bool is_given = draw(0, 9) == 0;
        random.counts.push_back(is_given ? Interval{1, 1} : Interval{1, most});
      }
    }
  }
  return random;
}

// Calls `visit` with all counts whose product along an axis is at most its size.
void visit_counts(const Case& all, std::vector<std::int64_t>& counts,
                  const std::function<void()>& visit) {
  const std::size_t at = counts.size();
  if (at == all.places.size()) {
    visit();
    return;
  }
  std::int64_t used = 1;
  for (std::size_t i = 0; i < at; ++i) {
    const bool is_same =
        all.places[i].fanout == all.places[at].fanout && all.places[i].axis == all.places[at].axis;
    used *= is_same ? counts[i] : 1;
  }
  for (std::int64_t count = all.counts[at].least; count <= all.counts[at].most; ++count) {
    if (used * count <= all.places[at].size) {
      counts.push_back(count);
      visit_counts(all, counts, visit);
      counts.pop_back();
    }
  }
}

std::vector<std::int64_t> steps_along(const Case& of, const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> steps;
  for (const DimId d : of.workload.dims.ids()) {
    std::int64_t instances = 1;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      instances *= of.places[i].dim == d ? counts[i] : 1;
    }
    steps.push_back(ceil_div(of.workload.dims[d].bound, instances));
  }
  return steps;
}

double product(const std::vector<std::int64_t>& steps) {
  double all = 1;
  for (const std::int64_t along : steps) {
    all *= real(along);
  }
  return all;
}

TEST(FewestSteps, AreThoseOfAllCounts) {
  Rng rng{3};
  for (int i = 0; i < 300; ++i) {
    const Case random = random_case(rng);
    double least = HUGE_VAL;
    std::vector<std::int64_t> counts;
    visit_counts(random, counts,
                 [&] { least = std::min(least, product(steps_along(random, counts))); });
    const std::vector<FewSteps> found = fewest_steps(random.workload, random.places, random.counts);
    ASSERT_FALSE(found.empty()) << i;
    EXPECT_EQ(found.front().steps, least) << i;
    std::set<std::vector<std::int64_t>> met;
    double before = 0;
    for (const FewSteps& few : found) {
      EXPECT_EQ(few.steps, product(steps_along(random, few.counts))) << i;
      EXPECT_LE(before, few.steps) << i;
      EXPECT_TRUE(met.insert(steps_along(random, few.counts)).second) << i;
      before = few.steps;
    }
  }
}

}  // namespace
}  // namespace mapsim::fewest_steps_test
