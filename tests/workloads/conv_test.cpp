// SPDX-License-Identifier: Apache-2.0
#include "workloads/conv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/rng.hpp"

namespace mapsim::conv_test {
namespace {

std::string dims(const Workload& workload) {
  std::string text;
  for (const Dim& dim : workload.dims) {
    text += dim.name + std::to_string(dim.bound) + ' ';
  }
  return text;
}

TEST(Conv2d, IsAnEinsumOverThePaddedInput) {
  ConvShape shape;
  shape.in_channels = 64;
  shape.out_channels = 32;
  shape.input = {56, 56};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  const Workload conv = conv2d("c", shape);
  EXPECT_EQ(conv.equation(), "O[N][K][P][Q] += I[N][C][P+R][Q+S] * W[K][C][R][S]");
  EXPECT_EQ(dims(conv), "N1 K32 C64 P56 Q56 R3 S3 ");
  EXPECT_EQ(conv.note,
            "padding 1: counted on the padded 58x58 input; the roofline uses the stored 56x56");
  EXPECT_EQ(conv.tensors[TensorId{0}].stored_elements, 64 * 56 * 56);
  EXPECT_EQ(conv.tensors[TensorId{1}].stored_elements, std::nullopt);
  EXPECT_EQ(conv.tensors[TensorId{0}].role, Role::kInput);
  EXPECT_EQ(conv.tensors[TensorId{1}].role, Role::kWeight);
  EXPECT_EQ(conv.tensors[TensorId{2}].role, Role::kOutput);
}

TEST(Conv2d, StoresAtMostItsInput) {
  ConvShape shape;
  shape.in_channels = 8;
  shape.input = {14, 14};
  for (const auto& [stored, may] :
       {std::pair{0, false}, {1, true}, {8 * 14 * 14, true}, {8 * 14 * 14 + 1, false}}) {
    shape.stored = stored;
    EXPECT_EQ(problem_of(shape).has_value(), !may) << stored;
  }
}

TEST(Conv2d, PutsStrideAndDilationIntoTheIndices) {
  ConvShape shape;
  shape.input = {11, 20};
  shape.kernel = {3, 2};
  shape.stride = {2, 4};
  shape.dilation = {1, 3};
  const Workload conv = conv2d("c", shape);
  EXPECT_EQ(conv.equation(), "O[N][K][P][Q] += I[N][C][2*P+R][4*Q+3*S] * W[K][C][R][S]");
  EXPECT_EQ(dims(conv), "N1 K1 C1 P5 Q5 R3 S2 ");
  EXPECT_EQ(conv.note, "");
}

TEST(Conv2d, SplitsChannelsIntoGroups) {
  ConvShape shape;
  shape.in_channels = 6;
  shape.out_channels = 9;
  shape.groups = 3;
  const Workload conv = conv2d("c", shape);
  EXPECT_EQ(conv.equation(), "O[N][G][K][P][Q] += I[N][G][C][P+R][Q+S] * W[G][K][C][R][S]");
  EXPECT_EQ(dims(conv), "N1 G3 K3 C2 P1 Q1 R1 S1 ");
}

TEST(Conv2d, HasNeitherInputNorOutputChannelsWhenDepthwise) {
  ConvShape shape;
  shape.in_channels = 6;
  shape.out_channels = 6;
  shape.groups = 6;
  EXPECT_EQ(conv2d("c", shape).equation(), "O[N][G][P][Q] += I[N][G][P+R][Q+S] * W[G][R][S]");
  shape.out_channels = 12;  // a channel multiplier keeps its own dim
  EXPECT_EQ(dims(conv2d("c", shape)), "N1 G6 K2 C1 P1 Q1 R1 S1 ");
}

TEST(Conv2d, NotesWhatTheStrideLeavesUnused) {
  ConvShape shape;
  shape.input = {224, 225};
  shape.kernel = {11, 11};
  shape.stride = {4, 4};
  EXPECT_EQ(shape.output(), (HeightWidth{54, 54}));
  EXPECT_EQ(conv2d("c", shape).note, "the stride uses 223x223 of the 224x225 input");
  shape.padding = {2, 0};
  EXPECT_EQ(conv2d("c", shape).note,
            "padding 2x0: counted on the padded 228x225 input, of which the stride uses 227x223; "
            "the roofline uses the stored 224x225");
}

TEST(ConvShape, AgreesWithTheWalkOverItsInput) {
  Rng rng{5};
  for (int i = 0; i < 2000; ++i) {
    ConvShape shape;
    const auto draw = [&rng](std::uint64_t most) {
      return static_cast<std::int64_t>(rng.below(most));
    };
    shape.input = {1 + draw(20), 1 + draw(20)};
    shape.kernel = {1 + draw(4), 1 + draw(4)};
    shape.stride = {1 + draw(5), 1 + draw(5)};
    shape.dilation = {1 + draw(3), 1 + draw(3)};
    shape.padding = {draw(3), draw(3)};
    std::int64_t positions = 0;  // windows along the height that lie within the padded input
    const std::int64_t reach = shape.dilation[0] * (shape.kernel[0] - 1);
    const std::int64_t height = shape.input[0] + 2 * shape.padding[0];
    for (std::int64_t top = 0; top + reach < height; top += shape.stride[0]) {
      ++positions;
    }
    if (problem_of(shape)) {
      EXPECT_TRUE(positions == 0 || shape.dilation[1] * (shape.kernel[1] - 1) + 1 >
                                        shape.input[1] + 2 * shape.padding[1]);
      continue;
    }
    EXPECT_EQ(shape.output()[0], positions);
    // The least input for an output gives that output, and is no larger than this one.
    ConvShape least = shape;
    least.input = input_for(shape, shape.output());
    EXPECT_LE(least.input[0], shape.input[0]);
    if (least.input[0] >= 1 && least.input[1] >= 1) {
      EXPECT_EQ(least.output(), shape.output());
    }
  }
}

TEST(Conv2d, ThrowsForShapesThatAreNone) {
  ConvShape shape;
  shape.kernel = {2, 1};
  EXPECT_THROW(conv2d("c", shape), std::invalid_argument);
  shape.kernel = {0, 1};
  EXPECT_THROW(conv2d("c", shape), std::invalid_argument);
  shape.kernel = {std::numeric_limits<std::int64_t>::max(), 1};
  EXPECT_THROW(conv2d("c", shape), std::invalid_argument);
}

}  // namespace
}  // namespace mapsim::conv_test
