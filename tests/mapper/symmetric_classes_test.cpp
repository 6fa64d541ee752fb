// SPDX-License-Identifier: Apache-2.0
// Groups of unrollings that are alike but for the names of dims, or of axes: what one of them costs
// at best the other one does.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "mapper/mapper.hpp"
#include "mapper/mapspace/symmetry.hpp"
#include "workloads/conv.hpp"

namespace mapsim::symmetric_classes_test {
namespace {

Arch small_array() {
  Arch arch;
  arch.name = "array";
  for (const double energy : {16.0, 2.0, 0.25}) {
    Storage storage;
    storage.name = "L" + std::to_string(arch.levels.size());
    storage.energy = {PicojoulesPerBit{energy}, PicojoulesPerBit{energy}, PicojoulesPerBit{energy}};
    storage.bandwidth.shared = BitsPerCycle{64 / energy};
    arch.levels.push_back(storage);
  }
  arch.levels[LevelId{1}].capacity.shared = Bits{256 * 8};
  arch.levels[LevelId{2}].capacity.shared = Bits{8 * 8};
  Fanout fanout;
  fanout.name = "PEs";
  fanout.x = 4;
  fanout.y = 4;
  fanout.multicast = {Role::kInput, Role::kWeight};
  fanout.spatial_reduction = true;
  arch.fanouts.push_back(fanout);
  arch.levels_above.push_back(2);
  arch.compute.energy = Picojoules{1};
  return arch;
}

Workload conv(std::int64_t height, std::int64_t width, std::int64_t channels,
              std::int64_t out_channels = 2) {
  ConvShape shape;
  shape.in_channels = channels;
  shape.out_channels = out_channels;
  shape.input = {height, width};
  shape.kernel = {2, 2};
  return conv2d("conv", shape);
}

// Only the unrolling of one group.
Mapspace part_of(const Mapspace& space, const UnrollingClass& unrolling_class) {
  Constraints constraints = space.constraints();
  constraints.spatial = unrolling_class.first;
  for (const Axis axis : {Axis::kX, Axis::kY}) {
    constraints.spatial->push_back({DimId{0}, FanoutId{0}, axis, 1});
  }
  return Mapspace{space.problem(), constraints};
}

void expect_equal_optima(const Mapspace& space, std::size_t least_symmetric) {
  const std::vector<std::size_t> first = branch::symmetric_classes(space);
  ASSERT_EQ(first.size(), space.unrolling_classes().size());
  std::size_t count = 0;
  for (std::size_t g = 0; g < first.size(); ++g) {
    ASSERT_LE(first[g], g);
    EXPECT_EQ(first[first[g]], first[g]);
    if (first[g] == g) {
      continue;
    }
    ++count;
    for (const Objective objective : {Objective::kEnergy, Objective::kEdp}) {
      SearchOptions options;
      options.objective = objective;
      const auto optimum = [&](std::size_t unrolling_class) {
        const SearchResult found =
            search_exact(part_of(space, space.unrolling_classes()[unrolling_class]), options);
        return found.cost ? objective_value(objective, *found.cost) : 0.0;
      };
      const double value = optimum(g);
      EXPECT_NEAR(value, optimum(first[g]), 1e-9 * value);
    }
  }
  EXPECT_GE(count, least_symmetric);
}

TEST(SymmetricClasses, OfATurnedImageCostTheSame) {
  const Problem problem{small_array(), conv(5, 5, 2)};
  expect_equal_optima(Mapspace{problem, {}}, 10);
}

TEST(SymmetricClasses, OfImperfectFactorsCostTheSame) {
  const Problem problem{small_array(), conv(4, 4, 1, 1)};
  Constraints constraints;
  constraints.factors.imperfect = true;
  expect_equal_optima(Mapspace{problem, constraints}, 10);
}

TEST(SymmetricClasses, AreToldFromThoseThatWereSearched) {
  const Problem problem{small_array(), conv(4, 4, 1, 1)};
  Constraints constraints;
  constraints.factors.imperfect = true;
  const Mapspace space{problem, constraints};
  const std::vector<std::size_t> first = branch::symmetric_classes(space);
  const SearchResult found = search_exact(space, {});
  ASSERT_EQ(found.classes.size(), first.size());
  for (std::size_t g = 0; g < first.size(); ++g) {
    EXPECT_EQ(found.classes[g].is_symmetric, first[g] != g) << g;
  }
}

TEST(SymmetricClasses, AreOnlyThoseThatNothingTellsApart) {
  const auto symmetric_in = [](const Mapspace& space) {
    const std::vector<std::size_t> first = branch::symmetric_classes(space);
    std::vector<std::size_t> own(first.size());
    std::iota(own.begin(), own.end(), std::size_t{0});
    return std::inner_product(first.begin(), first.end(), own.begin(), 0, std::plus<>(),
                              std::not_equal_to<>());
  };
  const Problem square{small_array(), conv(5, 5, 2)};
  const Problem oblong{small_array(), conv(5, 4, 2)};
  EXPECT_GT(symmetric_in(Mapspace{square, {}}), 0);
  EXPECT_EQ(symmetric_in(Mapspace{oblong, {}}), 0);
  Arch far = small_array();
  far.fanouts[FanoutId{0}].energy_per_hop = PicojoulesPerBit{0.01};
  const Problem routed{far, conv(5, 5, 2)};
  EXPECT_EQ(symmetric_in(Mapspace{routed, {}}), 0);
  Constraints ruled;
  ruled.extents.push_back({});
  EXPECT_EQ(symmetric_in(Mapspace{square, ruled}), 0);
}

}  // namespace
}  // namespace mapsim::symmetric_classes_test
