// SPDX-License-Identifier: Apache-2.0
#include "interop/gpu_export.hpp"

#include <gmock/gmock.h>

#include "arch/gpu_load.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim::gpu_export_test {
namespace {

Gpu chip(const std::string& name) {
  return load_gpu(source_path("configs/arch/") + name + ".yaml");
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

KernelChoice columns_of_warpgroups() {
  KernelChoice columns;
  columns.path = GpuPath::kWgmma;
  columns.block = {256, 128, 64};
  columns.warp = {256, 64, 64};
  columns.fragment = {256, 64, 16};
  columns.cluster = 2;
  columns.raster = 16;
  return columns;
}

// Names as CUTLASS's own lists and logs have them: the type of C in front where sums have another.
TEST(CutlassName, IsThatOfItsLibrary) {
  const Gpu a100 = chip("a100_80gb");
  const auto name = [&](const Gpu& gpu, GpuPrecision precision, std::int64_t output, GemmTile block,
                        std::int64_t stages) {
    GemmProblem problem = cube(4096, precision);
    problem.output = Bytes{output};
    KernelChoice kernel = mma();
    kernel.block = block;
    kernel.stages = stages;
    return cutlass_name(gpu, problem, kernel);
  };
  const GemmTile square{128, 128, 32};
  EXPECT_EQ(name(a100, GpuPrecision::kF16, 2, square, 3),
            "cutlass_tensorop_f16_s16816gemm_f16_128x128_32x3_tn_align8");
  EXPECT_EQ(name(a100, GpuPrecision::kF16, 4, square, 3),
            "cutlass_tensorop_s16816gemm_f16_128x128_32x3_tn_align8");
  EXPECT_EQ(name(a100, GpuPrecision::kF16Acc16, 2, square, 3),
            "cutlass_tensorop_h16816gemm_128x128_32x3_tn_align8");
  EXPECT_EQ(name(a100, GpuPrecision::kBf16, 2, square, 3),
            "cutlass_tensorop_bf16_s16816gemm_bf16_128x128_32x3_tn_align8");
  EXPECT_EQ(name(a100, GpuPrecision::kTf32, 4, square, 3),
            "cutlass_tensorop_s1688gemm_tf32_128x128_32x3_tn_align4");
  const GemmTile deep{128, 128, 64};
  EXPECT_EQ(name(a100, GpuPrecision::kS8, 4, deep, 5),
            "cutlass_tensorop_i16832gemm_s8_128x128_64x5_tn_align16");
  EXPECT_EQ(name(a100, GpuPrecision::kS8, 1, deep, 5),
            "cutlass_tensorop_s8_i16832gemm_s8_128x128_64x5_tn_align16");
  EXPECT_EQ(name(chip("t4"), GpuPrecision::kF16, 4, square, 2),
            "cutlass_tensorop_s1688gemm_f16_128x128_32x2_tn_align8");
  EXPECT_EQ(name(chip("v100"), GpuPrecision::kF16, 4, square, 2),
            "cutlass_tensorop_s884gemm_f16_128x128_32x2_tn_align8");
  EXPECT_EQ(cutlass_name(a100, cube(1022, GpuPrecision::kF16), mma()),
            "cutlass_tensorop_f16_s16816gemm_f16_128x128_32x3_tn_align2");
  EXPECT_EQ(cutlass_name(chip("h200"), cube(4096, GpuPrecision::kBf16), columns_of_warpgroups()),
            "cutlass3x_sm90_tensorop_gemm_bf16_bf16_f32_bf16_bf16_128x256x64_1x2x1_0_tnn_align8_"
            "warpspecialized_cooperative_epi_tma");
}

// Of stages, warps and tiles that its generator does not make, and rows of odd lengths, which its
// asynchronous copies cannot take.
TEST(CutlassName, IsEmptyForWhatItsGeneratorDoesNotMake) {
  const Gpu a100 = chip("a100_80gb");
  const GemmProblem problem = cube(4096, GpuPrecision::kF16);
  ASSERT_NE(cutlass_name(a100, problem, mma()), "");
  KernelChoice kernel = mma();
  kernel.stages = 2;
  EXPECT_EQ(cutlass_name(a100, problem, kernel), "");
  kernel = mma();
  kernel.warp = {64, 32, 32};  // 2x4 warps
  EXPECT_EQ(cutlass_name(a100, problem, kernel), "");
  kernel = mma();
  kernel.block = {128, 96, 32};
  kernel.warp = {64, 48, 32};
  EXPECT_EQ(cutlass_name(a100, problem, kernel), "");
  EXPECT_EQ(cutlass_name(a100, cube(1021, GpuPrecision::kF16), mma()), "");
  KernelChoice volta = mma();
  volta.stages = 2;
  EXPECT_EQ(cutlass_name(chip("v100"), cube(1021, GpuPrecision::kF16), volta),
            "cutlass_tensorop_f16_s884gemm_f16_128x128_32x2_tn_align1");
  const Gpu h200 = chip("h200");
  for (const std::int64_t cluster : {1, 4}) {
    KernelChoice columns = columns_of_warpgroups();
    columns.cluster = cluster;
    EXPECT_EQ(cutlass_name(h200, problem, columns), "") << cluster;
  }
  KernelChoice columns = columns_of_warpgroups();
  columns.block.k = 32;
  EXPECT_EQ(cutlass_name(h200, problem, columns), "");
}

// C and D of 128x256 in f32 do not fit into shared memory, one warpgroup has no TMA epilogue, and
// slices of K are the stream-K scheduler's.
TEST(CutlassName, SaysTheScheduleThatCutlassHas) {
  const Gpu h200 = chip("h200");
  GemmProblem wide = cube(4096, GpuPrecision::kF16);
  wide.output = Bytes{4};
  EXPECT_EQ(cutlass_name(h200, wide, columns_of_warpgroups()),
            "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_f32_f32_128x256x64_1x2x1_0_tnn_align8_"
            "warpspecialized_cooperative_epi_nosmem");
  KernelChoice one = columns_of_warpgroups();
  one.block = one.warp;
  EXPECT_EQ(cutlass_name(h200, cube(4096, GpuPrecision::kF16), one),
            "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_f16_f16_64x256x64_1x2x1_0_tnn_align8_"
            "warpspecialized_epi_nosmem");
  one.split_k = 2;
  EXPECT_EQ(cutlass_name(h200, cube(4096, GpuPrecision::kF16), one), "");
  KernelChoice sliced = columns_of_warpgroups();
  sliced.split_k = 4;
  EXPECT_EQ(cutlass_name(h200, cube(4096, GpuPrecision::kF16), sliced),
            "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_f16_f16_128x256x64_1x2x1_0_tnn_align8_"
            "stream_k_warpspecialized_cooperative_epi_tma");
}

TEST(CutlassTestList, HasEachKernelOnce) {
  KernelChoice split = mma();
  split.split_k = 4;
  GemmProblem problem = cube(4096, GpuPrecision::kF16);
  problem.m = 2048;
  EXPECT_EQ(
      cutlass_test_list(chip("a100_80gb"), problem, {mma(), split, mma()}).text,
      "operation_name,m,n,k,batch_count,split_k_slices,swizzle_size,raster_order\n"
      "cutlass_tensorop_f16_s16816gemm_f16_128x128_32x3_tn_align8,4096,2048,4096,1,1,8,heuristic\n"
      "cutlass_tensorop_f16_s16816gemm_f16_128x128_32x3_tn_align8,4096,2048,4096,1,4,8,"
      "heuristic\n");
}

// C is row-major here and column-major there: CUTLASS's kernel is that of C^T = B^T A^T, whose
// warpgroups take rows where ours take columns.
TEST(CutlassTestList, ExchangesAAndBAndSaysWhatItLeavesOut) {
  GemmProblem problem = cube(4096, GpuPrecision::kF16);
  problem.m = 2048;
  problem.b = MatrixLayout::kRow;
  const KernelChoice columns = columns_of_warpgroups();
  KernelChoice four = columns;
  four.block = {256, 256, 64};
  const CutlassList list = cutlass_test_list(chip("h200"), problem, {four, columns, four, mma()});
  EXPECT_EQ(list.text,
            "operation_name,m,n,k,batch_count,split_k_slices,swizzle_size,raster_order\n"
            "cutlass3x_sm90_tensorop_gemm_f16_f16_f32_f16_f16_128x256x64_1x2x1_0_nnn_align8_"
            "warpspecialized_cooperative_epi_tma,4096,2048,4096,1,1,8,along_n\n"
            "cutlass_tensorop_f16_s16816gemm_f16_128x128_32x3_nn_align8,4096,2048,4096,1,1,8,"
            "heuristic\n");
  EXPECT_EQ(list.written, 2U);
  EXPECT_EQ(list.left_out, 2U);
  EXPECT_EQ(cutlass_test_list(chip("h200"), problem, {columns, four}, 1).left_out, 0U);
}

// What the profiler would run otherwise than it was ranked is left out, or written as it will run.
TEST(CutlassTestList, KeepsTheProblem) {
  const Gpu gpu = chip("a100_80gb");
  GemmProblem problem = cube(4096, GpuPrecision::kF16);
  problem.batch = 12;
  EXPECT_NE(cutlass_test_list(gpu, problem, {mma()}).text.find("4096,4096,4096,12,1,"),
            std::string::npos);
  problem.batch = 1;
  problem.k = 4095;
  problem.run_a = problem.run_b = 4096;  // rows that a pass has padded
  EXPECT_NE(cutlass_test_list(gpu, problem, {mma()}).text.find("_align8,4096,4096,4096,1"),
            std::string::npos);
  problem.stored_a = 4096;  // an implicit GEMM
  EXPECT_EQ(cutlass_test_list(gpu, problem, {mma()}).written, 0U);
  KernelChoice plain = mma();
  plain.path = GpuPath::kSimt;
  EXPECT_EQ(triton_configs(gpu, cube(64, GpuPrecision::kF16), {plain}),
            "import triton\n\nconfigs = [\n]\n");
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
}  // namespace mapsim::gpu_export_test
