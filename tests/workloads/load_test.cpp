// SPDX-License-Identifier: Apache-2.0
#include "workloads/load.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/bad_inputs.hpp"
#include "tests/support/yaml_example.hpp"
#include "workloads/conv.hpp"
#include "workloads/einsum.hpp"
#include "workloads/gemm.hpp"
#include "workloads/inline_layer.hpp"
#include "workloads/print.hpp"

namespace mapsim::load_test {
namespace {

Workload parse(const std::string& text) { return parse_workload(text, "w.yaml"); }

ConvShape resnet_3x3() {
  ConvShape shape;
  shape.in_channels = 64;
  shape.out_channels = 64;
  shape.input = {56, 56};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  return shape;
}

TEST(LoadWorkload, ReadsAConvolution) {
  const std::string text =
      "name: c\nconv2d: {in_channels: 64, out_channels: 64, kernel: 3, padding: 1, ";
  const Workload expected = conv2d("c", resnet_3x3());
  EXPECT_EQ(parse(text + "input: [56, 56]}\n"), expected);
  EXPECT_EQ(parse(text + "output: 56}\n"), expected);
  EXPECT_EQ(parse("name: c\nconv2d: {in_channels: 64, out_channels: 64, kernel: [3, 3], "
                  "padding: same, input: 56, stride: [1, 1], groups: 1, bias: false}\n"),
            expected);
}

TEST(LoadWorkload, TakesDensitiesByNameBeforeRole) {
  const Workload sparse = parse(
      "name: w\neinsum: {equation: 'Z[m] += A[m][k] * B[k] * C[k]', dims: {m: 2, k: 4},\n"
      "         roles: {A: input, B: weight, C: weight}}\n"
      "density: {B: 0.25, weight: 0.5, input: 0.75}\n");
  EXPECT_EQ(sparse.tensors[TensorId{0}].density, 0.75);
  EXPECT_EQ(sparse.tensors[TensorId{1}].density, 0.25);
  EXPECT_EQ(sparse.tensors[TensorId{2}].density, 0.5);
  EXPECT_EQ(sparse.tensors[TensorId{3}].density, 1);
  EXPECT_EQ(parse(print_workload(sparse)), sparse);
}

TEST(LoadWorkload, ReadsTheExampleOfTheDocument) {
  EXPECT_EQ(parse(yaml_example("Workload")).macs(), 64LL * 64 * 56 * 56 * 9);
}

TEST(LoadWorkload, ReadsEveryKeyOfAConvolution) {
  ConvShape shape;
  shape.batch = 2;
  shape.in_channels = 6;
  shape.out_channels = 9;
  shape.input = {30, 40};
  shape.kernel = {3, 5};
  shape.stride = {2, 1};
  shape.dilation = {1, 3};
  shape.padding = {1, 6};
  shape.groups = 3;
  shape.bias = true;
  EXPECT_EQ(parse("name: c\nconv2d: {batch: 2, in_channels: 6, out_channels: 9, input: [30, 40], "
                  "kernel: [3, 5], stride: [2, 1], dilation: [1, 3], padding: same, groups: 3, "
                  "bias: true}\n"),
            conv2d("c", shape));
}

TEST(LoadWorkload, ReadsGemms) {
  EXPECT_EQ(parse("name: g\ngemm: {m: 5, n: 6, k: 7}\n"), gemm("g", {5, 6, 7, {}, false}));
  EXPECT_EQ(parse("name: g\ngemm: {m: 5, n: 6, k: 7, bias: true}\n"),
            gemm("g", {5, 6, 7, {}, true}));
  EXPECT_EQ(parse("name: g\nbatched_gemm: {batch: 3, m: 5, n: 6, k: 7}\n"),
            gemm("g", {5, 6, 7, 3, false}));
}

TEST(LoadWorkload, ReadsAnEinsumWithRoles) {
  const std::string equation = "Z[m][n] += A[m][k] * B[k][n] * S[n]";
  EXPECT_EQ(parse("name: e\neinsum:\n  equation: " + equation +
                  "\n  dims: {m: 2, n: 3, k: 4}\n  roles: {A: weight, B: input}\n"),
            einsum("e", equation, {{"m", 2}, {"n", 3}, {"k", 4}}, {},
                   {{"A", Role::kWeight}, {"B", Role::kInput}}));
}

TEST(LoadWorkload, GivesTensorsTheWidthOfTheirNameOrRole) {
  const Workload workload = parse(
      "name: g\ngemm: {m: 5, n: 6, k: 7}\n"
      "precision: {input: 16 b, A: 4 b, weight: 2 B, partial: 32 b}\n");
  EXPECT_EQ(workload.tensors[TensorId{0}].bits, Bits{4});
  EXPECT_EQ(workload.tensors[TensorId{1}].bits, Bits{16});
  EXPECT_EQ(workload.tensors[TensorId{1}].partial_bits, Bits{16});
  EXPECT_EQ(workload.tensors[TensorId{2}].bits, Bits{16});  // as the widest operand
  EXPECT_EQ(workload.tensors[TensorId{2}].partial_bits, Bits{32});
}

TEST(InlineLayer, BeginsWithItsKindAndAColon) {
  EXPECT_TRUE(is_inline_layer("gemm:64x64x128"));
  EXPECT_TRUE(is_inline_layer("conv:"));
  for (const char* file : {"gemm", "conv", "", ":", "gemms:64x64x128", "gemm.yaml", "C:gemm"}) {
    EXPECT_FALSE(is_inline_layer(file)) << file;
  }
}

TEST(LoadWorkload, TellsAllThatIsWrong) { expect_errors("workloads/bad_workloads.txt", 50, parse); }

TEST(LoadWorkload, SurvivesDamagedFiles) {
  expect_survival(
      "name: e\neinsum:\n  equation: O[n][k][p] += I[n][c][2*p+r] * W[k][c][r]\n"
      "  dims: {n: 4, k: 8, c: 3, p: 16, r: 3}\nprecision: {I: 8 b, partial: 32 b}\n",
      parse);
  expect_survival(
      "name: c\nconv2d: {batch: 2, in_channels: 6, out_channels: 9, input: [30, 40], kernel: "
      "[3, 5], stride: [2, 1], dilation: [1, 3], padding: same, groups: 3}\n",
      parse);
}

}  // namespace
}  // namespace mapsim::load_test
