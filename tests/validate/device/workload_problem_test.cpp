// SPDX-License-Identifier: Apache-2.0
#include "validate/workload_problem.hpp"

#include <gmock/gmock.h>

#include "arch/gpu_load.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/load.hpp"

namespace mapsim::workload_problem_test {
namespace {

const std::string kConfigs = source_path("configs/");

std::string convolution_of(const std::string& layer) {
  const Gpu gpu = load_gpu(kConfigs + "arch/h200.yaml");
  GpuRequest request;
  request.precision = GpuPrecision::kF16;
  const auto spec = kernel_problem(gpu, load_workload(kConfigs + "workloads/" + layer), request);
  const auto* reason = std::get_if<std::string>(&spec);
  return reason != nullptr ? *reason : convolution_text(std::get<KernelSpec>(spec));
}

TEST(KernelProblem, FindsAConvolutionsPadding) {
  EXPECT_EQ(convolution_of("resnet50/conv1.yaml"),
            "n1 h224 w224 c3 k64 r7 s7 p112 q112 stride 2x2 dilation 1x1 padding 3x3 groups 1");
  EXPECT_EQ(convolution_of("resnet50/conv2_3x3.yaml"),
            "n1 h56 w56 c64 k64 r3 s3 p56 q56 stride 1x1 dilation 1x1 padding 1x1 groups 1");
  EXPECT_EQ(convolution_of("resnet50/conv3_3x3_first.yaml"),
            "n1 h56 w56 c128 k128 r3 s3 p28 q28 stride 2x2 dilation 1x1 padding 1x1 groups 1");
  EXPECT_EQ(convolution_of("resnet50/conv3_projection.yaml"),
            "n1 h56 w56 c256 k512 r1 s1 p28 q28 stride 2x2 dilation 1x1 padding 0x0 groups 1");
  EXPECT_EQ(convolution_of("resnet50/fc.yaml"), "");
}

std::string convolution_in(const std::string& text) {
  const Gpu gpu = load_gpu(kConfigs + "arch/h200.yaml");
  GpuRequest request;
  request.precision = GpuPrecision::kF16;
  const auto spec = kernel_problem(gpu, parse_workload(text, "x.yaml"), request);
  const auto* reason = std::get_if<std::string>(&spec);
  return reason != nullptr ? *reason : convolution_text(std::get<KernelSpec>(spec));
}

// Several images have as many elements: the layer says which it is.
TEST(KernelProblem, HasTheImageOfConv2d) {
  const std::string layer = "name: x\nconv2d: {in_channels: 64, out_channels: 64, ";
  EXPECT_EQ(convolution_in(layer + "input: [20, 24], kernel: [5, 3], padding: [2, 0]}\n"),
            "n1 h20 w24 c64 k64 r5 s3 p20 q22 stride 1x1 dilation 1x1 padding 2x0 groups 1");
  EXPECT_EQ(convolution_in(layer + "input: [24, 20], kernel: [5, 3], padding: [0, 1]}\n"),
            "n1 h24 w20 c64 k64 r5 s3 p20 q20 stride 1x1 dilation 1x1 padding 0x1 groups 1");
  EXPECT_EQ(convolution_in(layer + "batch: 2, input: [21, 24], kernel: [5, 4], stride: [2, 3], "
                                   "dilation: [1, 2], padding: [1, 3], groups: 2}\n"),
            "n2 h21 w24 c32 k32 r5 s4 p10 q8 stride 2x3 dilation 1x2 padding 1x3 groups 2");
  EXPECT_THAT(convolution_in(layer + "input: [57, 57], kernel: 3, stored: 200704}\n"),
              ::testing::HasSubstr("differs between sides"));
}

// Without the words of conv2d: what is unambiguous.
TEST(KernelProblem, GuessesAnImageOnlyWhereThereIsOne) {
  const Gpu gpu = load_gpu(kConfigs + "arch/h200.yaml");
  GpuRequest request;
  request.precision = GpuPrecision::kF16;
  const auto text = [&](const std::string& shape) {
    Workload workload = parse_workload(
        "name: x\nconv2d: {in_channels: 8, out_channels: 8, " + shape + "}\n", "x.yaml");
    workload.note = "";  // what an importer makes has none
    const auto spec = kernel_problem(gpu, workload, request);
    const auto* reason = std::get_if<std::string>(&spec);
    return reason != nullptr ? *reason : convolution_text(std::get<KernelSpec>(spec));
  };
  EXPECT_EQ(text("input: 56, kernel: 3, padding: 1"),
            "n1 h56 w56 c8 k8 r3 s3 p56 q56 stride 1x1 dilation 1x1 padding 1x1 groups 1");
  EXPECT_THAT(text("input: [20, 24], kernel: [5, 3], padding: [2, 0]"),
              ::testing::HasSubstr("write the layer as conv2d"));
}

TEST(KernelProblem, HasTheGemmOfTheLayer) {
  const Gpu gpu = load_gpu(kConfigs + "arch/h200.yaml");
  GpuRequest request;
  request.precision = GpuPrecision::kBf16;
  const auto spec = std::get<KernelSpec>(kernel_problem(
      gpu, load_workload(kConfigs + "workloads/llama_7b/decode_scores.yaml"), request));
  EXPECT_EQ(spec.problem.batch, 32);
  EXPECT_EQ(spec.problem.m, 1);
  EXPECT_EQ(spec.problem.k, 128);
  EXPECT_EQ(spec.problem.run_a, std::nullopt);
  EXPECT_FALSE(spec.conv);
}

}  // namespace
}  // namespace mapsim::workload_problem_test
