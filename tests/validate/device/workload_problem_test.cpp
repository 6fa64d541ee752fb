// SPDX-License-Identifier: Apache-2.0
#include "validate/workload_problem.hpp"

#include <gtest/gtest.h>

#include "arch/gpu_load.hpp"
#include "workloads/load.hpp"

namespace mapsim {
namespace {

const std::string kConfigs = MAPSIM_SOURCE_DIR "/configs/";

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
}  // namespace mapsim
