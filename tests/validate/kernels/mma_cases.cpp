// SPDX-License-Identifier: Apache-2.0
// Kernels of the path mma: few texts, many problems.
#include <fmt/format.h>

#include "tests/validate/kernels/cases.hpp"

namespace mapsim {
namespace {

using P = GpuPrecision;
constexpr MatrixLayout kRow = MatrixLayout::kRow;
constexpr MatrixLayout kColumn = MatrixLayout::kColumn;

KernelCase gemm(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
                P precision = P::kF16, MatrixLayout a = kRow, MatrixLayout b = kColumn) {
  KernelCase result = gemm_case(name, m, n, k, precision, a, b);
  KernelChoice& kernel = result.spec.kernel;
  kernel.path = GpuPath::kMma;
  kernel.block = {64, 64, 64 / result.spec.problem.output.count()};
  kernel.warp = {32, 32, kernel.block.k};
  kernel.fragment = wmma_fragments(precision).front();
  kernel.padding = 0;
  kernel.stages = 3;
  return result;
}

template <class Change>
KernelCase with(KernelCase of, const Change& change) {
  change(of);
  return of;
}
KernelCase with_tiles(KernelCase of, const GemmTile& block, std::int64_t warp_m,
                      std::int64_t warp_n, std::int64_t stages) {
  of.spec.kernel.block = block;
  of.spec.kernel.warp = {warp_m, warp_n, block.k};
  of.spec.kernel.stages = stages;
  return of;
}

// One text, problems of all shapes.
void add_problems(std::vector<KernelCase>& cases) {
  cases.push_back(gemm("tn_whole", 128, 192, 160));
  cases.push_back(gemm("tn_ragged", 100, 72, 88));
  cases.push_back(gemm("tn_one_row", 1, 64, 320));
  cases.push_back(gemm("tn_one_step", 64, 64, 16));
  cases.push_back(gemm("tn_two_steps", 70, 8, 40));
  for (const std::int64_t raster : {0, 1, 3}) {
    cases.push_back(with(gemm(fmt::format("raster_{}", raster), 190, 320, 32),
                         [&](KernelCase& one) { one.spec.kernel.raster = raster; }));
  }
  cases.push_back(with(gemm("batch", 40, 72, 48), [](KernelCase& one) {
    one.spec.problem.batch = 3;
    one.alpha = 0.5;
  }));
  cases.push_back(with(gemm("padded_rows", 45, 48, 75), [](KernelCase& one) {
    one.spec.problem.run_a = 80;
    one.spec.problem.run_b = 88;
  }));
  for (const std::int64_t k : {76, 78, 75}) {  // pieces of 8, 4 and 2 B
    cases.push_back(gemm(fmt::format("tn_k{}", k), 37, k - 40, k));
  }
  cases.push_back(gemm("nt_m78_n75", 78, 75, 40, P::kF16, kColumn, kRow));
}

void add_layouts(std::vector<KernelCase>& cases) {
  for (const P precision : {P::kF16, P::kF16Acc16, P::kBf16, P::kTf32, P::kS8, P::kF64}) {
    for (const bool along : {true, false}) {
      if (precision == P::kS8 && !along) {
        continue;
      }
      const std::int64_t k = 5 * 64 / operand_size(precision).count() - 16;
      cases.push_back(gemm(fmt::format("{}_{}", to_string(precision), along ? "tn" : "nt"), 112, 80,
                           k, precision, along ? kRow : kColumn, along ? kColumn : kRow));
    }
  }
  cases.push_back(gemm("f16_nn", 112, 80, 144, P::kF16, kColumn, kColumn));
  cases.push_back(gemm("bf16_tt", 112, 80, 144, P::kBf16, kRow, kRow));
  cases.push_back(gemm("s8_k70", 50, 31, 70, P::kS8));
}

void add_tiles(std::vector<KernelCase>& cases) {
  cases.push_back(with_tiles(gemm("large_tile", 130, 136, 200), {128, 128, 64}, 64, 64, 2));
  cases.push_back(with_tiles(gemm("one_warp", 40, 40, 128), {16, 16, 32}, 16, 16, 5));
  cases.push_back(with_tiles(gemm("tall", 300, 24, 72), {256, 16, 32}, 64, 16, 4));
  cases.push_back(
      with_tiles(gemm("wide_nt", 24, 300, 72, P::kF16, kColumn, kRow), {16, 256, 32}, 16, 64, 2));
  cases.push_back(
      with_tiles(gemm("tf32_lines_longer_than_threads", 24, 300, 40, P::kTf32, kColumn, kRow),
                 {16, 256, 16}, 16, 128, 2));
  cases.push_back(with_tiles(gemm("f64_deep", 40, 40, 40, P::kF64), {32, 32, 16}, 32, 16, 2));
}

void add_epilogues(std::vector<KernelCase>& cases) {
  cases.push_back(with(gemm("split_bias_gelu", 70, 72, 300), [](KernelCase& one) {
    one.spec.kernel.split_k = 3;
    one.spec.epilogue.bias = true;
    one.spec.epilogue.activation = Activation::kGelu;
    one.alpha = 0.0625;
  }));
  cases.push_back(with(gemm("split_batch_ragged", 37, 33, 200), [](KernelCase& one) {
    one.spec.kernel.split_k = 7;
    one.spec.problem.batch = 2;
    one.spec.problem.adds_to_output = true;
    one.beta = 2;
  }));
  cases.push_back(with(gemm("bias_relu", 70, 72, 96),
                       [](KernelCase& one) { one.spec.epilogue = {true, true}; }));
  cases.push_back(with(gemm("residual_silu", 70, 72, 96, P::kBf16), [](KernelCase& one) {
    one.spec.epilogue.residual = true;
    one.spec.epilogue.activation = Activation::kSilu;
    one.alpha = 0.125;
    one.beta = -0.5;
  }));
  cases.push_back(with(gemm("quantised", 70, 80, 96), [](KernelCase& one) {
    one.spec.epilogue.quantise = true;
    one.spec.epilogue.bias = true;
    one.scale = 3.7;
  }));
  cases.push_back(with(gemm("f16_to_fp32", 70, 44, 96),
                       [](KernelCase& one) { one.spec.problem.output = Bytes{4}; }));
  cases.push_back(with(gemm("s8_to_s32_bias", 70, 44, 96, P::kS8), [](KernelCase& one) {
    one.spec.problem.output = Bytes{4};
    one.spec.epilogue.bias = true;
    one.alpha = 3;
  }));
  cases.push_back(with(gemm("acc16_split", 70, 72, 200, P::kF16Acc16),
                       [](KernelCase& one) { one.spec.kernel.split_k = 2; }));
}

void add_sm75(std::vector<KernelCase>& cases) {
  for (const P precision : {P::kF16, P::kS8}) {
    cases.push_back(with(gemm(fmt::format("sm75_{}", to_string(precision)), 70, 80, 144, precision),
                         [](KernelCase& one) {
                           one.has_async = false;
                           one.spec.kernel.stages = 2;
                         }));
  }
}

KernelCase convolution(const std::string& name, const KernelConvolution& shape, P precision) {
  KernelCase result =
      gemm(name, shape.n * shape.p * shape.q, shape.k, shape.r * shape.s * shape.c, precision);
  result.spec.conv = shape;
  result.spec.problem.batch = shape.groups;
  result.spec.problem.run_a = result.spec.problem.run_b = shape.c;
  return result;
}

void add_convolutions(std::vector<KernelCase>& cases) {
  KernelConvolution shape;
  shape.n = 2, shape.h = 7, shape.w = 8, shape.c = 24, shape.k = 40;
  shape.r = shape.s = 3;
  shape.padding = {1, 1};
  shape.p = 7, shape.q = 8;
  cases.push_back(convolution("conv_3x3", shape, P::kF16));
  KernelConvolution odd = shape;  // all different along h and w, and beyond the input below
  odd.s = 2;
  odd.stride = {2, 1}, odd.dilation = {1, 3}, odd.padding = {0, 2};
  odd.p = 4, odd.q = 8;
  cases.push_back(convolution("conv_asymmetric", odd, P::kF16));
  KernelConvolution groups = shape;
  groups.groups = 3, groups.c = 8, groups.k = 16;
  cases.push_back(with(convolution("conv_groups", groups, P::kF16),
                       [](KernelCase& one) { one.spec.epilogue = {true, true}; }));
  KernelConvolution strided = shape;
  strided.r = strided.s = 1, strided.padding = {0, 0}, strided.stride = {2, 2};
  strided.p = strided.q = 4;
  strided.c = 48;
  cases.push_back(convolution("conv_1x1_stride", strided, P::kF16));
  KernelConvolution plain = strided;
  plain.stride = {1, 1}, plain.p = 7, plain.q = 8;
  cases.push_back(convolution("conv_1x1", plain, P::kF16));
  KernelConvolution bytes = shape;
  bytes.c = 32;
  cases.push_back(convolution("conv_s8", bytes, P::kS8));
}

}  // namespace

std::vector<KernelCase> mma_cases() {
  std::vector<KernelCase> cases;
  add_problems(cases);
  add_layouts(cases);
  add_tiles(cases);
  add_epilogues(cases);
  add_sm75(cases);
  add_convolutions(cases);
  return cases;
}

std::vector<KernelMutant> mma_mutants() {
  const KernelCase plain = gemm("", 64, 64, 192);
  const KernelCase ragged = gemm("", 60, 56, 150 + 2);
  const auto staged = with(plain, [](KernelCase& one) {
    one.has_async = false;
    one.spec.kernel.stages = 2;
  });
  const auto split = with(plain, [](KernelCase& one) { one.spec.kernel.split_k = 2; });
  KernelConvolution shape;
  shape.n = 1, shape.h = 7, shape.w = 8, shape.c = 24, shape.k = 16;
  shape.r = shape.s = 3;
  shape.padding = {1, 1};
  shape.p = 7, shape.q = 8;
  const KernelCase window = convolution("", shape, P::kF16);
  return {
      {"no barrier before a tile is used", "barrier();  // next tile landed", "", plain},
      {"no barrier before the first tile", "barrier();  // first tile landed", "", plain},
      {"no barrier before the patches", "barrier();  // all tiles read", "", plain},
      {"registers: no barrier", "barrier();  // next tile landed", "", staged},
      {"a stage is read before its wait", "wait_copies<S::kStages - 2>();\n          barrier();",
       "wait_copies<S::kStages - 1>();\n          barrier();", plain},
      {"one tile too far ahead", "free = S::kStages - 1;", "free = 0;", plain},
      {"patch read too early", "warp_barrier();  // patch written", "", plain},
      {"patch overwritten", "warp_barrier();  // patch read", "", plain},
      {"halo one too wide", "static_cast<unsigned>(pixel_w[pass] + w) < static_cast<unsigned>(p.w)",
       "static_cast<unsigned>(pixel_w[pass] + w) <= static_cast<unsigned>(p.w)", window},
      {"a tap is not left", "while (c >= p.channels)", "while (c > p.channels)", window},
      {"tail of K not zero", "clamp(inside, kPiece / kSize) * kSize", "kPiece", ragged},
      {"lines beyond the edge", "first + line(pass) < extent", "true", ragged},
      {"columns beyond the edge", "n + column >= end", "false", ragged},
      {"slices overlap", "static_cast<int>(rest % static_cast<unsigned>(p.slices))", "0", split},
      {"a slice forgotten", "slice < p.slices; ++slice", "slice + 1 < p.slices; ++slice", split},
      {"another swizzle to read", "swizzled<Load::kChunks, false>(line, chunk) * 16", "chunk * 16",
       plain},
      {"halves of K exchanged",
       "const int low = lane & 7, eighth = lane >> 3 & 1, half = lane >> 4;",
       "const int low = lane & 7, half = lane >> 3 & 1, eighth = lane >> 4;", plain},
  };
}

}  // namespace mapsim
