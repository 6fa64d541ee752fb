// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "arch/gpu_load.hpp"
#include "mapper/gpu/search.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/conv.hpp"
#include "workloads/gemm.hpp"
#include "workloads/load.hpp"

namespace mapsim::gpu_search_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kConfigs = source_path("configs/");

Gpu chip(const std::string& name) { return load_gpu(kConfigs + "arch/" + name + ".yaml"); }

std::vector<GemmForm> forms(const Gpu& gpu, const Workload& workload, const GpuRequest& request) {
  return std::get<0>(gemm_forms(gpu, workload, request));
}

GpuRequest in(GpuPrecision precision) {
  GpuRequest request;
  request.precision = precision;
  return request;
}

// Where the fit is good for times only.
TEST(GpuSearch, PutsTheKernelThatIsBestOnAverageFirst) {
  Gpu gpu = chip("a100_40gb");
  const auto all =
      forms(gpu, gemm("g", {1024, 1024, 1024, std::nullopt, false}), in(GpuPrecision::kF16));
  GpuSearchOptions options;
  options.path = GpuPath::kWmma;
  options.top = 5;
  const GpuSearchResult before = search_kernels(gpu, all, options);
  GpuCalibration block;
  block.precision = GpuPrecision::kF16;
  block.path = GpuPath::kWmma;
  block.best_fixed = FixedKernel{{64, 32, 32}, {32, 16}, {16, 16, 16}, 2, 1, 0, 8, 1};
  gpu.calibrations = {block};
  const GpuSearchResult after = search_kernels(gpu, all, options);
  ASSERT_EQ(after.ranked.size(), 5U);
  EXPECT_TRUE(after.ranked[0].is_fixed);
  EXPECT_EQ(after.ranked[0].kernel.block, (GemmTile{64, 32, 32}));
  EXPECT_FALSE(after.ranked[1].is_fixed);
  EXPECT_LT(after.ranked[1].total, after.ranked[0].total);
  // It stands once, also where the model would have it first; and not where it cannot run.
  const KernelChoice best = before.ranked[0].kernel;
  gpu.calibrations[0].best_fixed = FixedKernel{{best.block.m, best.block.n, best.block.k},
                                               {best.warp.m, best.warp.n},
                                               {best.fragment.m, best.fragment.n, best.fragment.k},
                                               best.stages,
                                               best.split_k,
                                               best.raster,
                                               best.padding,
                                               1};
  const GpuSearchResult same = search_kernels(gpu, all, options);
  EXPECT_EQ(std::count_if(same.ranked.begin(), same.ranked.end(),
                          [&](const RankedKernel& r) { return r.kernel == same.ranked[0].kernel; }),
            1);
  gpu.calibrations[0].best_fixed->stages = 60;
  EXPECT_FALSE(search_kernels(gpu, all, options).ranked[0].is_fixed);
}

TEST(GpuSearch, RanksEveryLegalKernelOfTheSet) {
  const Gpu gpu = chip("t4");
  const auto all =
      forms(gpu, gemm("g", {512, 768, 1024, std::nullopt, false}), in(GpuPrecision::kF16));
  GpuSearchOptions options;
  options.top = 100'000;
  const GpuSearchResult result = search_kernels(gpu, all, options);
  std::int64_t listed = 0;
  Seconds last{0};
  for (const RankedKernel& ranked : result.ranked) {
    EXPECT_LE(last, ranked.total);
    last = ranked.total;
    listed += 1 + ranked.same;
    const GemmProblem& problem = all[ranked.form].problem;
    ASSERT_EQ(illegal(gpu, problem, ranked.kernel), std::nullopt);
    EXPECT_EQ(ranked.estimate.time.total,
              estimate(gpu, gpu.calibration(problem.precision, ranked.kernel.path), problem,
                       ranked.kernel)
                  .time.total);
  }
  EXPECT_EQ(listed, result.legal);
  std::int64_t legal = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const GpuPath path = all[i].tensor_cores ? GpuPath::kMma : GpuPath::kSimt;
    for (const KernelChoice& kernel : kernel_set(gpu, all[i].problem, path)) {
      legal += illegal(gpu, all[i].problem, kernel) ? 0 : 1;
    }
  }
  EXPECT_EQ(legal, result.legal);
}

TEST(GpuSearch, SaysWhatIsAsGoodAsTheFirst) {
  const Gpu gpu = chip("h200");
  GpuSearchOptions options;
  options.top = 200;
  const GpuSearchResult result = search_kernels(
      gpu, forms(gpu, gemm("g", {4096, 4096, 4096, std::nullopt, false}), in(GpuPrecision::kBf16)),
      options);
  ASSERT_EQ(result.ranked.size(), 200U);
  const double first = result.ranked.front().total.count();
  for (const RankedKernel& ranked : result.ranked) {
    EXPECT_EQ(ranked.as_good_as_first,
              ranked.total.count() <= first * (1 + result.calibration.resolution));
  }
  EXPECT_TRUE(result.ranked.front().as_good_as_first);
  EXPECT_GT(result.as_good_as_first, 1);
  // The same search again; and the first of fewer is the first of many.
  options.top = 3;
  const GpuSearchResult again = search_kernels(gpu, result.forms, options);
  ASSERT_EQ(again.ranked.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again.ranked[i].kernel, result.ranked[i].kernel);
  }
  EXPECT_EQ(again.as_good_as_first, result.as_good_as_first);
}

TEST(GpuSearch, StopsWhereItsCallerSays) {
  const Gpu gpu = chip("h200");
  const std::atomic<bool> stop{true};
  const GpuSearchResult result = search_kernels(
      gpu, forms(gpu, gemm("g", {4096, 4096, 4096, std::nullopt, false}), in(GpuPrecision::kBf16)),
      {.stop = &stop});
  EXPECT_TRUE(result.interrupted);
  EXPECT_TRUE(result.ranked.empty());
  EXPECT_EQ(result.considered, 0);
}

// Three stages and more, unless they cost a block per SM or do not fit one.
TEST(GpuSearch, TwoStagesAreNoRule) {
  for (const char* name : {"a100_80gb", "h200"}) {
    const Gpu gpu = chip(name);
    for (const std::int64_t side : {1024, 4096}) {
      const auto all =
          forms(gpu, gemm("g", {side, side, side, std::nullopt, false}), in(GpuPrecision::kF16));
      const RankedKernel first = search_kernels(gpu, all, {}).ranked.front();
      KernelChoice deeper = first.kernel;
      deeper.stages = 3;
      const GemmProblem& problem = all[first.form].problem;
      EXPECT_TRUE(first.kernel.stages >= 3 || illegal(gpu, problem, deeper) ||
                  resources(gpu, problem, deeper).blocks_per_sm <
                      first.work.resources.blocks_per_sm)
          << name << ' ' << side << ' ' << to_string(first.kernel);
    }
  }
}

TEST(GpuSearch, WmmaOnHopperEndsAtItsOwnCeiling) {
  const Gpu gpu = chip("h200");
  const auto all =
      forms(gpu, gemm("g", {8192, 8192, 8192, std::nullopt, false}), in(GpuPrecision::kF16));
  GpuSearchOptions options;
  const RankedKernel chips = search_kernels(gpu, all, options).ranked.front();
  EXPECT_EQ(chips.kernel.path, GpuPath::kWgmma);
  options.path = GpuPath::kWmma;
  const RankedKernel wmma = search_kernels(gpu, all, options).ranked.front();
  EXPECT_EQ(wmma.kernel.path, GpuPath::kWmma);
  EXPECT_EQ(wmma.kernel.padding, 8);
  const double ceiling = 8192.0 * 8192 * 8192 / (1324 * 132 * 1830e6);  // seconds
  EXPECT_GT(wmma.total.count(), ceiling);
  // The best CUTLASS 2 kernel that was measured has 401.6 of 624 TFLOP/s (microbench_facts.csv).
  EXPECT_LT(wmma.total.count(), 624 / 401.6 * ceiling);
  EXPECT_LT(chips.total, wmma.total);
  EXPECT_LT(chips.total.count(), 1.1 * ceiling);
}

// Each fragment that WMMA has, in f16 summed in fp32 and in f16, and each padding, once.
TEST(GpuSearch, TriesEveryFragmentAndPaddingOnce) {
  const Gpu gpu = chip("l20");
  for (const GpuPrecision precision : {GpuPrecision::kF16, GpuPrecision::kF16Acc16}) {
    GemmProblem problem;
    problem.precision = precision;
    problem.m = problem.n = problem.k = 4096;
    const std::vector<KernelChoice> set = kernel_set(gpu, problem, GpuPath::kWmma);
    EXPECT_EQ((std::set<KernelChoice>{set.begin(), set.end()}.size()), set.size());
    std::set<std::pair<GemmTile, std::int64_t>> legal;
    for (const KernelChoice& kernel : set) {
      if (!illegal(gpu, problem, kernel)) {
        legal.emplace(kernel.fragment, kernel.padding);
      }
    }
    std::set<std::pair<GemmTile, std::int64_t>> all;
    for (const GemmTile& fragment : wmma_fragments(precision)) {
      for (const std::int64_t padding : {0, 8, 16}) {
        all.emplace(fragment, padding);
      }
    }
    EXPECT_EQ(all.size(), 9U);
    EXPECT_EQ(legal, all);
  }
}

// One kernel of each tile, and the best of these; without a time limit all.
TEST(GpuSearch, EndsWithALegalKernelOnceTimeIsOver) {
  for (const char* name : {"a100_80gb", "h100_sxm", "jetson_orin"}) {
    const Gpu gpu = chip(name);
    for (const GpuPrecision precision : {GpuPrecision::kF16, GpuPrecision::kF32}) {
      const auto all = forms(gpu, gemm("g", {96, 4096, 4096, std::nullopt, false}), in(precision));
      GpuSearchOptions options;
      options.end = std::chrono::steady_clock::now() + std::chrono::hours{1};
      const GpuSearchResult whole = search_kernels(gpu, all, options);
      EXPECT_EQ(whole.considered, search_kernels(gpu, all, {}).considered);
      options.end = std::chrono::steady_clock::now();
      const GpuSearchResult part = search_kernels(gpu, all, options);
      ASSERT_FALSE(part.ranked.empty());
      const RankedKernel& best = part.ranked.front();
      EXPECT_EQ(illegal(gpu, all[best.form].problem, best.kernel), std::nullopt);
      EXPECT_GE(best.total, whole.ranked.front().total);
      EXPECT_LE(best.total.count(), 5 * whole.ranked.front().total.count());
      EXPECT_LT(part.considered, whole.considered / 100);
      EXPECT_FALSE(part.interrupted);
    }
  }
}

// 8 columns: fragments of 16 would multiply as much padding again.
TEST(GpuSearch, NarrowProblemsTakeNarrowFragments) {
  Gpu gpu = chip("a100_80gb");
  gpu.calibrations.clear();  // fitted to libraries, whose fragments have 16 columns
  GpuSearchOptions options;
  options.path = GpuPath::kWmma;
  const auto first = [&](std::int64_t m, std::int64_t n) {
    return search_kernels(
               gpu,
               forms(gpu, gemm("g", {m, n, 4096, std::nullopt, false}), in(GpuPrecision::kF16)),
               options)
        .ranked.front();
  };
  EXPECT_EQ(first(4096, 8).kernel.fragment, (GemmTile{32, 8, 16}));
  EXPECT_EQ(first(8, 4096).kernel.fragment, (GemmTile{8, 32, 16}));
  EXPECT_EQ(first(4096, 8).work.padded_macs, 4096.0 * 8 * 4096);
}

TEST(GpuForms, AConvolutionIsAnImplicitGemm) {
  const Gpu gpu = chip("a100_80gb");
  const Workload layer = load_workload(kConfigs + "workloads/resnet50/conv2_3x3.yaml");
  const auto all = forms(gpu, layer, in(GpuPrecision::kF16));
  ASSERT_EQ(all.size(), 2U);  // tensor cores, and without
  const GemmProblem& problem = all[0].problem;
  EXPECT_EQ(problem.m, 56 * 56);
  EXPECT_EQ(problem.n, 64);
  EXPECT_EQ(problem.k, 64 * 3 * 3);
  EXPECT_EQ(problem.stored_a, 64 * 56 * 56);
  EXPECT_THAT(all[0].notes, IsEmpty());
  EXPECT_THAT(all[1].notes, ElementsAre("without tensor cores"));
}

TEST(GpuForms, ThreeChannelsArePaddedOrCopiedInPieces) {
  const Gpu gpu = chip("a100_80gb");
  const Workload layer = load_workload(kConfigs + "workloads/resnet50/conv1.yaml");
  const auto all = forms(gpu, layer, in(GpuPrecision::kF16));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].problem.k, 8 * 49);
  EXPECT_THAT(all[0].notes, ElementsAre("3 channels are no multiple of 8: padded to 8"));
  ASSERT_EQ(all[0].passes.size(), 1U);
  EXPECT_EQ(all[0].passes[0].what, "3 channels copied to 8");
  EXPECT_DOUBLE_EQ(all[0].passes[0].bytes, 224 * 224 * (3 + 8) * 2);
  EXPECT_EQ(all[1].problem.k, 3 * 49);
  EXPECT_THAT(all[1].notes,
              ElementsAre("rows of 3 elements are no multiple of 8: copied in smaller pieces"));
  const GpuSearchResult result = search_kernels(gpu, all, {});
  ASSERT_FALSE(result.ranked.empty());
  EXPECT_GT(pass_time(gpu, {}, all[0]), Seconds{0});
}

// The TMA takes strides of multiples of 16 B: what is not aligned is padded, or does without.
TEST(GpuForms, HopperPaysForRowsThatTheTmaDoesNotTake) {
  const Gpu gpu = chip("h200");
  const auto best = [&](std::int64_t k, std::optional<GpuPath> path) {
    GpuSearchOptions options;
    options.path = path;
    return search_kernels(
               gpu,
               forms(gpu, gemm("g", {4096, 4096, k, std::nullopt, false}), in(GpuPrecision::kBf16)),
               options)
        .ranked.front();
  };
  EXPECT_GT(best(4095, {}).total.count(), 1.1 * best(4096, {}).total.count());
  EXPECT_EQ(best(4095, GpuPath::kWgmma).form, 0U);  // the padded one
  const auto all =
      forms(gpu, gemm("g", {4096, 4096, 4095, std::nullopt, false}), in(GpuPrecision::kBf16));
  ASSERT_EQ(all.size(), 3U);
  ASSERT_EQ(all[0].passes.size(), 2U);
  EXPECT_EQ(all[0].passes[0].what, "A's rows of 4095 elements copied to 4096");
  EXPECT_DOUBLE_EQ(all[0].passes[0].bytes, 2.0 * 4096 * (4095 + 4096));
  EXPECT_EQ(all[0].problem.k, 4095);
  EXPECT_THAT(all[1].notes, ElementsAre("rows of 4095 elements are no multiple of 8: copied in "
                                        "smaller pieces, without the TMA and so without warpgroup "
                                        "MMA"));
  GpuSearchOptions options;
  options.top = 100'000;
  for (const RankedKernel& ranked : search_kernels(gpu, all, options).ranked) {
    const bool allowed = ranked.form == 0   ? ranked.kernel.path != GpuPath::kSimt
                         : ranked.form == 1 ? ranked.kernel.path == GpuPath::kMma
                                            : ranked.kernel.path == GpuPath::kSimt;
    EXPECT_TRUE(allowed);
  }
}

// Where rows are aligned both instructions are tried, so that more work is not faster.
TEST(GpuSearch, HopperMayUseEitherInstruction) {
  const Gpu gpu = chip("h200");
  const auto best = [&](std::int64_t m, std::int64_t k, std::optional<GpuPath> path) {
    GpuSearchOptions options;
    options.path = path;
    return search_kernels(
               gpu,
               forms(gpu, gemm("g", {m, 4096, k, std::nullopt, false}), in(GpuPrecision::kF16)),
               options)
        .ranked.front()
        .total;
  };
  EXPECT_LE(best(4096, 8, {}), best(4096, 9, {}));
  for (const auto& [m, k] : {std::pair{4096, 8}, {1, 4096}, {4096, 4096}}) {
    EXPECT_EQ(best(m, k, {}), std::min(best(m, k, GpuPath::kWgmma), best(m, k, GpuPath::kMma)));
  }
}

// Without tensor cores f16 is summed in fp32 at fp32's pace; HFMA2 is for sums of 16 bits.
TEST(GpuSearch, HalvesWithoutTensorCoresTakeFp32Units) {
  const Gpu gpu = chip("a100_80gb");
  const auto best = [&](GpuPrecision precision) {
    GpuSearchOptions options;
    options.path = GpuPath::kSimt;
    return search_kernels(
               gpu, forms(gpu, gemm("g", {4096, 4096, 4096, std::nullopt, false}), in(precision)),
               options)
        .ranked.front()
        .total.count();
  };
  EXPECT_NEAR(best(GpuPrecision::kF16) / best(GpuPrecision::kF32), 1, 0.1);
  EXPECT_EQ(best(GpuPrecision::kF16), best(GpuPrecision::kBf16));
  EXPECT_LT(best(GpuPrecision::kF16Acc16), 0.5 * best(GpuPrecision::kF16));
}

// mma.sync of 8 bits is row.col.
TEST(GpuForms, EightBitsAcrossKAreTransposedOnEveryChip) {
  GpuRequest request = in(GpuPrecision::kS8);
  request.a = MatrixLayout::kColumn;
  const Gpu gpu = chip("a100_80gb");
  const auto all = forms(gpu, gemm("g", {4096, 4096, 4096, std::nullopt, false}), request);
  EXPECT_THAT(all[0].notes,
              ElementsAre("A is contiguous across K; mma of s8 reads along K: transposed"));
  const RankedKernel first = search_kernels(gpu, all, {}).ranked.front();
  EXPECT_EQ(first.form, 0U);
  request.precision = GpuPrecision::kF16;
  EXPECT_THAT(forms(gpu, gemm("g", {4096, 4096, 4096, std::nullopt, false}), request)[0].passes,
              IsEmpty());
}

TEST(GpuForms, ABatchOfGemmsIsNoConvolution) {
  const Workload scores = load_workload(kConfigs + "workloads/bert_base/scores.yaml");
  EXPECT_FALSE(is_convolution(scores));
  EXPECT_TRUE(is_convolution(load_workload(kConfigs + "workloads/resnet50/conv2_1x1a.yaml")));
  GpuRequest request = in(GpuPrecision::kF16);
  request.b = MatrixLayout::kRow;
  EXPECT_EQ(forms(chip("a100_80gb"), scores, request)[0].problem.b, MatrixLayout::kRow);
}

// Only operands of 16 bits may lie across K for warpgroup MMA.
TEST(GpuForms, HopperTransposesWhatDoesNotLieAlongK) {
  const Gpu gpu = chip("h200");
  const Workload layer = gemm("g", {4096, 2048, 1024, std::nullopt, false});
  GpuRequest request = in(GpuPrecision::kFp8);
  request.b = MatrixLayout::kRow;
  const auto all = forms(gpu, layer, request);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].problem.b, MatrixLayout::kColumn);
  ASSERT_EQ(all[0].passes.size(), 1U);
  EXPECT_EQ(all[0].passes[0].what, "B transposed");
  EXPECT_DOUBLE_EQ(all[0].passes[0].bytes, 2.0 * 2048 * 1024);
  EXPECT_EQ(all[1].problem.b, MatrixLayout::kRow);
  KernelChoice kernel;
  kernel.path = GpuPath::kWgmma;
  kernel.block = {128, 128, 128};
  kernel.warp = {64, 128, 128};
  kernel.fragment = {64, 128, 32};
  kernel.padding = 0;
  EXPECT_EQ(illegal(gpu, all[1].problem, kernel),
            "B is contiguous across K; wgmma of fp8 reads along K: transpose it");
  EXPECT_EQ(illegal(gpu, all[0].problem, kernel), std::nullopt);
  const RankedKernel first = search_kernels(gpu, all, {}).ranked.front();
  EXPECT_EQ(first.form, 0U);
  EXPECT_GT(first.passes, Seconds{0});
  request.precision = GpuPrecision::kBf16;  // may lie as it does
  EXPECT_THAT(forms(gpu, layer, request).front().passes, IsEmpty());
}

TEST(GpuForms, OutputChannelsArePaddedOrWrittenInPieces) {
  const Gpu gpu = chip("h200");
  ConvShape shape;
  shape.in_channels = shape.out_channels = 100;
  shape.input = {28, 28};
  shape.kernel = {3, 3};
  shape.padding = {1, 1};
  const auto all = forms(gpu, conv2d("c", shape), in(GpuPrecision::kF16));
  ASSERT_EQ(all.size(), 5U);  // inputs padded or not, outputs padded or not; without tensor cores
  EXPECT_THAT(all[0].notes, ElementsAre("100 channels are no multiple of 8: padded to 104",
                                        "100 output channels are no multiple of 8: padded to 104"));
  EXPECT_EQ(all[0].problem.n, 104);
  EXPECT_EQ(all[0].problem.k, 104 * 9);
  EXPECT_EQ(all[0].problem.run_a, 104);
  ASSERT_EQ(all[0].passes.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].passes[1].bytes, 28.0 * 28 * (100 + 104) * 2);
  EXPECT_EQ(all[3].problem.run_a, 100);
  GpuSearchOptions wide;
  wide.path = GpuPath::kWgmma;
  wide.top = 100'000;
  for (const RankedKernel& ranked : search_kernels(gpu, all, wide).ranked) {
    EXPECT_LE(ranked.form, 1U);  // where the channels are padded
  }
}

TEST(GpuForms, HopperMultipliesDoublesWithMmaSync) {
  const Gpu gpu = chip("h200");
  EXPECT_EQ(gpu.rate(GpuPrecision::kF64, GpuPath::kWgmma), 0);
  EXPECT_EQ(gpu.rate(GpuPrecision::kF64, GpuPath::kMma), gpu.rate(GpuPrecision::kF64).chip);
  EXPECT_EQ(gpu.rate(GpuPrecision::kF64, GpuPath::kWmma), gpu.rate(GpuPrecision::kF64).wmma);
  const auto all =
      forms(gpu, gemm("g", {4096, 4096, 4096, std::nullopt, false}), in(GpuPrecision::kF64));
  EXPECT_EQ(search_kernels(gpu, all, {}).ranked.front().kernel.path, GpuPath::kMma);
}

TEST(GpuForms, PlanarTensorsAreTransposedForTensorCores) {
  const Gpu gpu = chip("a100_80gb");
  const Workload layer = load_workload(kConfigs + "workloads/resnet50/conv2_3x3.yaml");
  GpuRequest request = in(GpuPrecision::kF16);
  request.layout = ConvLayout::kNchw;
  const auto all = forms(gpu, layer, request);
  ASSERT_EQ(all[0].passes.size(), 2U);
  EXPECT_DOUBLE_EQ(all[0].passes[0].bytes, 2 * 64 * 56 * 56 * 2);
  EXPECT_THAT(all[0].notes.front(), HasSubstr("NCHW"));
  EXPECT_THAT(all[1].passes, IsEmpty());
  ConvShape shape;  // one pass pads and transposes; what has one channel lies as it should
  shape.in_channels = 3;
  shape.out_channels = 64;
  shape.input = {28, 28};
  const auto padded = forms(gpu, conv2d("c", shape), request);
  ASSERT_EQ(padded[0].passes.size(), 2U);
  EXPECT_EQ(padded[0].passes[0].what, "NCHW input to NHWC of 8 channels");
  EXPECT_DOUBLE_EQ(padded[0].passes[0].bytes, 28 * 28 * (3 + 8) * 2);
  shape.in_channels = 1;
  EXPECT_EQ(forms(gpu, conv2d("c", shape), request)[1].passes.size(), 1U);
  const Seconds planar = search_kernels(gpu, all, {}).ranked.front().total;
  const Seconds interleaved =
      search_kernels(gpu, forms(gpu, layer, in(GpuPrecision::kF16)), {}).ranked.front().total;
  EXPECT_GT(planar, interleaved);
}

TEST(GpuForms, WhatTheChipLacksRunsWithoutTensorCoresOrNotAtAll) {
  const Workload layer = gemm("g", {1024, 1024, 1024, std::nullopt, false});
  const Gpu v100 = chip("v100");
  const auto int8 = forms(v100, layer, in(GpuPrecision::kS8));
  ASSERT_EQ(int8.size(), 1U);
  EXPECT_FALSE(int8[0].tensor_cores);
  EXPECT_THAT(int8[0].notes, ElementsAre("v100 has no tensor cores for s8: FMA instructions"));
  EXPECT_EQ(search_kernels(v100, int8, {}).ranked.front().kernel.path, GpuPath::kSimt);
  EXPECT_EQ(
      std::get<std::string>(gemm_forms(v100, layer, in(GpuPrecision::kBf16))),
      "v100 cannot multiply bf16; it has f64, f32, f16, f16_acc16, s8: converted in a pass it "
      "is f32");
}

TEST(GpuForms, DepthwiseConvolutionsSaySo) {
  const Gpu gpu = chip("a100_80gb");
  const Workload layer =
      load_workload(kConfigs + "workloads/mobilenet_v2/depthwise_96_112_stride2.yaml");
  const auto all = forms(gpu, layer, in(GpuPrecision::kF16));
  EXPECT_EQ(all[0].problem.n, 1);
  EXPECT_EQ(all[0].problem.batch, 96);
  EXPECT_THAT(all[0].notes.back(), HasSubstr("most of a tile is padding"));
  EXPECT_FALSE(search_kernels(gpu, all, {}).ranked.empty());
}

}  // namespace
}  // namespace mapsim::gpu_search_test
