// SPDX-License-Identifier: Apache-2.0
#include "interop/gpu_export.hpp"

#include <gmock/gmock.h>

#include "arch/gpu_load.hpp"

namespace mapsim {
namespace {

Gpu chip(const std::string& name) {
  return load_gpu(MAPSIM_SOURCE_DIR "/configs/arch/" + name + ".yaml");
}

GemmProblem cube(std::int64_t size, GpuPrecision precision) {
  GemmProblem problem;
  problem.m = problem.n = problem.k = size;
  problem.precision = precision;
  return problem;
}

KernelChoice mma() {
  KernelChoice kernel;
  kernel.path = GpuPath::kMma;
  kernel.stages = 3;
  kernel.padding = 0;
  return kernel;
}

TEST(CutlassName, IsThatOfItsLibrary) {
  const Gpu a100 = chip("a100_80gb");
  const auto name = [&](const Gpu& gpu, GpuPrecision precision) {
    return cutlass_name(gpu, cube(4096, precision), mma());
  };
  EXPECT_EQ(name(a100, GpuPrecision::kF16),
            "cutlass_tensorop_s16816gemm_f16_128x128_32x3_tn_align8");
  EXPECT_EQ(name(a100, GpuPrecision::kF16Acc16),
            "cutlass_tensorop_h16816gemm_128x128_32x3_tn_align8");
  EXPECT_EQ(name(a100, GpuPrecision::kBf16),
            "cutlass_tensorop_s16816gemm_bf16_128x128_32x3_tn_align8");
  EXPECT_EQ(name(a100, GpuPrecision::kS8),
            "cutlass_tensorop_i16832gemm_s8_128x128_32x3_tn_align16");
  EXPECT_EQ(name(chip("t4"), GpuPrecision::kF16),
            "cutlass_tensorop_s1688gemm_f16_128x128_32x3_tn_align8");
  EXPECT_EQ(cutlass_name(a100, cube(1022, GpuPrecision::kF16), mma()),
            "cutlass_tensorop_s16816gemm_f16_128x128_32x3_tn_align2");
  KernelChoice wide = mma();
  wide.path = GpuPath::kWgmma;
  wide.block = {128, 256, 64};
  wide.warp = {64, 256, 64};
  wide.fragment = {64, 256, 16};
  EXPECT_EQ(cutlass_name(chip("h200"), cube(4096, GpuPrecision::kF16), wide),
            "cutlass3x_sm90_tensorop_s64x256x16gemm_f16_f16_f32_f16_f16_128x256x64_1x1x1_0_tnt_"
            "align8_warpspecialized_cooperative_epi_tma");
}

TEST(CutlassTestList, HasEachKernelOnce) {
  KernelChoice split = mma();
  split.split_k = 4;
  EXPECT_EQ(
      cutlass_test_list(chip("a100_80gb"), cube(4096, GpuPrecision::kF16), {mma(), split, mma()})
          .text,
      "kernel,m,n,k,cta_m,cta_n,cta_k,stages,warps_m,warps_n,inst_m,inst_n,inst_k,split_k,"
      "swizzle,raster_order\n"
      "cutlass_tensorop_s16816gemm_f16_128x128_32x3_tn_align8,4096,4096,4096,128,128,32,3,2,"
      "2,16,8,16,1,8,along_m\n"
      "cutlass_tensorop_s16816gemm_f16_128x128_32x3_tn_align8,4096,4096,4096,128,128,32,3,2,"
      "2,16,8,16,4,8,along_m\n");
}

// Warpgroups that take columns: CUTLASS has the kernel of C^T = B^T A^T.
TEST(CutlassTestList, ExchangesAAndBAndSaysWhatItLeavesOut) {
  GemmProblem problem = cube(4096, GpuPrecision::kF16);
  problem.m = 2048;
  problem.b = MatrixLayout::kRow;
  KernelChoice columns;
  columns.path = GpuPath::kWgmma;
  columns.block = {256, 128, 64};
  columns.warp = {256, 64, 64};
  columns.fragment = {256, 64, 16};
  columns.cluster = 2;
  columns.raster = 16;
  KernelChoice four = columns;
  four.block = {256, 256, 64};
  const CutlassList list = cutlass_test_list(chip("h200"), problem, {four, columns, four});
  EXPECT_EQ(list.text,
            "kernel,m,n,k,cta_m,cta_n,cta_k,stages,warps_m,warps_n,inst_m,inst_n,inst_k,split_k,"
            "swizzle,raster_order\n"
            "cutlass3x_sm90_tensorop_s64x256x16gemm_f16_f16_f32_f16_f16_128x256x64_1x2x1_0_nnn_"
            "align8_warpspecialized_cooperative_epi_tma,4096,2048,4096,128,256,64,2,8,1,64,256,16,"
            "1,8,along_n\n");
  EXPECT_EQ(list.written, 1U);
  EXPECT_EQ(list.left_out, 2U);
  EXPECT_EQ(cutlass_test_list(chip("h200"), problem, {columns, four}, 1).left_out, 0U);
}

TEST(TritonConfigs, AreAPythonList) {
  KernelChoice plain = mma();
  plain.raster = 0;
  EXPECT_EQ(
      triton_configs(chip("a100_80gb"), cube(4096, GpuPrecision::kF16), {mma(), plain, plain}),
      "import triton\n\nconfigs = [\n"
      "    triton.Config({'BLOCK_M': 128, 'BLOCK_N': 128, 'BLOCK_K': 32, 'GROUP_M': 27, "
      "'SPLIT_K': 1}, num_warps=4, num_stages=3),\n"
      "    triton.Config({'BLOCK_M': 128, 'BLOCK_N': 128, 'BLOCK_K': 32, 'GROUP_M': 1, "
      "'SPLIT_K': 1}, num_warps=4, num_stages=3),\n"
      "]\n");
}

}  // namespace
}  // namespace mapsim
