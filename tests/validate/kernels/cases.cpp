// SPDX-License-Identifier: Apache-2.0
#include "tests/validate/kernels/cases.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mapsim {
namespace {

using P = GpuPrecision;
constexpr MatrixLayout kRow = MatrixLayout::kRow;
constexpr MatrixLayout kColumn = MatrixLayout::kColumn;

struct Tiles {
  GemmTile block, warp, fragment;
};

GemmTile warp_of(std::int64_t m, std::int64_t n, const GemmTile& block) { return {m, n, block.k}; }

// Tiles of a few warps of a few fragments, in any precision.
Tiles usual(P precision) {
  const GemmTile fragment = wmma_fragments(precision).front();
  const GemmTile block{4 * fragment.m, 2 * fragment.n, 2 * fragment.k};
  return {block, warp_of(2 * fragment.m, fragment.n, block), fragment};
}

KernelCase gemm(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
                P precision, MatrixLayout a = kRow, MatrixLayout b = kColumn) {
  KernelCase result = gemm_case(name, m, n, k, precision, a, b);
  KernelChoice& kernel = result.spec.kernel;
  const Tiles tiles = usual(precision);
  kernel.block = tiles.block;
  kernel.warp = tiles.warp;
  kernel.fragment = tiles.fragment;
  kernel.padding = 16 / result.spec.problem.output.count();
  kernel.stages = 3;
  return result;
}

KernelCase with(KernelCase of, const std::function<void(KernelCase&)>& change) {
  change(of);
  return of;
}
KernelCase with_tiles(KernelCase of, const GemmTile& block, std::int64_t warp_m,
                      std::int64_t warp_n, std::int64_t stages) {
  of.spec.kernel.block = block;
  of.spec.kernel.warp = warp_of(warp_m, warp_n, block);
  of.spec.kernel.stages = stages;
  return of;
}

KernelCase convolution(const std::string& name, const KernelConvolution& shape, P precision) {
  KernelCase result =
      gemm(name, shape.n * shape.p * shape.q, shape.k, shape.r * shape.s * shape.c, precision);
  result.spec.conv = shape;
  result.spec.problem.batch = shape.groups;
  result.spec.problem.run_a = result.spec.problem.run_b = shape.c;
  return result;
}

// An output as large as the shape's stride, dilation and padding (on all sides) make it.
KernelConvolution shape(std::int64_t n, std::int64_t size, std::int64_t c, std::int64_t k,
                        std::int64_t window, std::int64_t stride, std::int64_t padding,
                        std::int64_t dilation = 1) {
  KernelConvolution result;
  result.n = n;
  result.h = size;
  result.w = size + 1;
  result.c = c;
  result.k = k;
  result.r = result.s = window;
  result.stride = {stride, stride};
  result.dilation = {dilation, dilation};
  result.padding = {padding, padding};
  const auto output = [&](std::int64_t extent) {
    return (extent + 2 * padding - dilation * (window - 1) - 1) / stride + 1;
  };
  result.p = output(result.h);
  result.q = output(result.w);
  return result;
}

// Every precision in every layout, ragged on all sides; what else varies goes round.
void add_layouts(std::vector<KernelCase>& cases) {
  std::int64_t number = 0;
  for (const P precision : {P::kF16, P::kF16Acc16, P::kBf16, P::kTf32, P::kS8, P::kF64}) {
    for (const MatrixLayout a : {kRow, kColumn}) {
      for (const MatrixLayout b : {kRow, kColumn}) {
        const GemmTile block = usual(precision).block;
        KernelCase one = gemm(fmt::format("{}_{}{}", to_string(precision), a == kRow ? 'r' : 'c',
                                          b == kRow ? 'r' : 'c'),
                              2 * block.m - 16, 2 * block.n - 8, 5 * block.k - 16, precision, a, b);
        one.spec.kernel.stages = 2 + number % 4;
        one.spec.kernel.raster = number % 3;
        one.spec.epilogue = {number % 2 == 0, number % 3 == 0};
        one.spec.problem.adds_to_output = number % 5 == 0;
        cases.push_back(one);
        ++number;
      }
    }
  }
}

// Rows that are no multiples of 16 B: pieces of 8, 4, 2 and 1 B, or rows that are padded.
void add_pieces(std::vector<KernelCase>& cases) {
  for (const std::int64_t k : {76, 78, 75}) {
    cases.push_back(gemm(fmt::format("f16_k{}", k), 37, 33, k, P::kF16));
    cases.push_back(
        gemm(fmt::format("f16_m{}_n{}", k, k + 2), k, k + 2, 40, P::kF16, kColumn, kRow));
  }
  for (const std::int64_t k : {72, 70, 37}) {
    cases.push_back(gemm(fmt::format("s8_k{}", k), 50, 31, k, P::kS8));
  }
  cases.push_back(gemm("tf32_k27", 33, 29, 27, P::kTf32));
  cases.push_back(gemm("f64_n21", 33, 21, 11, P::kF64, kColumn, kRow));
  cases.push_back(gemm("f16_one_row", 1, 100, 200, P::kF16));
  cases.push_back(with(gemm("f16_padded_rows", 45, 43, 75, P::kF16), [](KernelCase& one) {
    one.spec.problem.run_a = 80;
    one.spec.problem.run_b = 88;
  }));
  cases.push_back(
      with(gemm("s8_padded_columns", 45, 43, 75, P::kS8, kColumn, kRow), [](KernelCase& one) {
        one.spec.problem.run_a = 48;
        one.spec.problem.run_b = 64;
      }));
}

// Tiles of all shapes.
void add_tiles(std::vector<KernelCase>& cases) {
  for (const P precision : {P::kF16, P::kBf16, P::kS8}) {
    for (const GemmTile& fragment : {GemmTile{32, 8, 16}, GemmTile{8, 32, 16}}) {
      KernelCase one = gemm(fmt::format("{}_frag{}", to_string(precision), fragment.m), 90, 75, 64,
                            precision, fragment.m == 8 ? kColumn : kRow, kColumn);
      one = with_tiles(one, {64, 64, 32}, 32, 32, 2);
      one.spec.kernel.fragment = fragment;
      cases.push_back(one);
    }
  }
  const KernelCase f16 = gemm("", 100, 90, 130, P::kF16);
  const auto add = [&](const std::string& name, KernelCase one) {
    one.name = name;
    cases.push_back(one);
  };
  add("one_stage", with_tiles(f16, {32, 32, 32}, 16, 16, 1));
  add("one_fragment_of_k", with_tiles(f16, {32, 32, 16}, 16, 16, 4));
  add("three_fragments_of_k", with_tiles(f16, {32, 32, 48}, 32, 16, 2));
  add("columns_of_chunks_differ", with_tiles(f16, {48, 32, 48}, 24 * 2, 16, 3));
  add("threads_without_a_chunk", with_tiles(f16, {16, 64, 16}, 16, 16, 3));
  add("warps_take_turns",
      with_tiles(with(f16, [](KernelCase& one) { one.spec.kernel.padding = 0; }), {64, 64, 16}, 16,
                 16, 1));
  add("large_warps", with_tiles(f16, {64, 64, 32}, 64, 64, 2));
  add("no_padding", with(with_tiles(f16, {32, 64, 32}, 32, 32, 5),
                         [](KernelCase& one) { one.spec.kernel.padding = 0; }));
  add("padding_24", with(with_tiles(f16, {64, 32, 32}, 32, 32, 3),
                         [](KernelCase& one) { one.spec.kernel.padding = 24; }));
  for (const std::int64_t raster : {0, 1, 3, 16}) {
    add(fmt::format("raster_{}", raster),
        with(with_tiles(f16, {16, 16, 32}, 16, 16, 2),
             [&](KernelCase& one) { one.spec.kernel.raster = raster; }));
  }
}

void add_slices(std::vector<KernelCase>& cases) {
  for (const P precision : {P::kF16, P::kF16Acc16, P::kS8, P::kF64}) {
    const std::int64_t slices = precision == P::kF16 ? 3 : precision == P::kS8 ? 5 : 2;
    cases.push_back(with(gemm(fmt::format("{}_split_{}", to_string(precision), slices), 40, 36,
                              7 * usual(precision).block.k - 4, precision),
                         [&](KernelCase& one) {
                           one.spec.kernel.split_k = slices;
                           one.spec.epilogue = {true, true};
                         }));
  }
  cases.push_back(with(gemm("f16_split_batch_ragged", 37, 33, 200, P::kF16), [](KernelCase& one) {
    one.spec.kernel.split_k = 7;
    one.spec.problem.batch = 2;
    one.spec.epilogue.bias = true;
    one.spec.problem.adds_to_output = true;
  }));
  cases.push_back(
      with(gemm("bf16_batch", 40, 72, 50, P::kBf16, kColumn, kRow), [](KernelCase& one) {
        one.spec.problem.batch = 3;
        one.spec.epilogue = {true, false};
      }));
}

void add_outputs(std::vector<KernelCase>& cases) {
  const auto add = [&](P precision, std::int64_t bytes, std::int64_t n) {
    cases.push_back(with(gemm(fmt::format("{}_to_{}_bytes_n{}", to_string(precision), bytes, n), 40,
                              n, 96, precision),
                         [&](KernelCase& one) {
                           one.spec.problem.output = Bytes{bytes};
                           one.spec.epilogue = {true, true};
                         }));
  };
  add(P::kF16, 4, 36);
  add(P::kF16Acc16, 4, 31);
  add(P::kBf16, 4, 38);
  add(P::kS8, 4, 33);
  add(P::kF64, 4, 30);
  for (const P precision : {P::kF16, P::kTf32, P::kF64}) {
    cases.push_back(
        with(gemm(fmt::format("{}_naive", to_string(precision)), 64, 48, 80, precision,
                  precision == P::kF16 ? kRow : kColumn, precision == P::kF64 ? kRow : kColumn),
             [](KernelCase& one) { one.spec.naive = true; }));
  }
}

// Rows of a fragment of sums that are no multiples of 32 B.
void add_narrow_sums(std::vector<KernelCase>& cases) {
  for (const GemmTile& fragment : {GemmTile{32, 8, 16}, GemmTile{8, 32, 16}}) {
    KernelCase one = gemm(fmt::format("f16_acc16_frag{}", fragment.m), 90, 75, 64, P::kF16Acc16);
    one = with_tiles(one, {64, 64, 32}, 32, 32, 2);
    one.spec.kernel.fragment = fragment;
    cases.push_back(one);
  }
}

// One warp per fragment, of what is no whole fragment.
void add_naive(std::vector<KernelCase>& cases) {
  const auto add = [&](KernelCase one) {
    one.name += "_naive";
    one.spec.naive = true;
    cases.push_back(one);
  };
  add(gemm("f16_ragged", 37, 33, 75, P::kF16));
  add(with(gemm("bf16_columns_batch", 40, 27, 50, P::kBf16, kColumn, kRow), [](KernelCase& one) {
    one.spec.problem.batch = 2;
    one.spec.epilogue = {true, true};
  }));
  add(gemm("s8_ragged", 20, 31, 37, P::kS8));
  add(gemm("tf32_one_row", 1, 40, 30, P::kTf32));
  add(gemm("f64_ragged", 13, 21, 11, P::kF64));
  add(convolution("conv_stem", shape(1, 11, 3, 16, 7, 2, 3), P::kF16));
  add(convolution("conv_3x3", shape(1, 8, 16, 24, 3, 1, 1), P::kF16));
  KernelCase staged = convolution("sm75_conv", shape(1, 7, 8, 8, 3, 1, 1), P::kF16);
  staged.has_async = false;
  add(staged);
}

// Before sm_80: through registers, two buffers at most.
void add_staged(std::vector<KernelCase>& cases) {
  const auto add = [&](KernelCase one, std::int64_t stages) {
    one.has_async = false;
    one.spec.kernel.stages = stages;
    cases.push_back(one);
  };
  add(gemm("sm75_f16_tn", 60, 50, 120, P::kF16), 2);
  add(gemm("sm75_f16_nt", 60, 50, 120, P::kF16, kColumn, kRow), 2);
  add(gemm("sm75_s8_one_stage", 60, 50, 120, P::kS8), 1);
  add(with(gemm("sm75_f16_padded_rows", 45, 43, 75, P::kF16),
           [](KernelCase& one) { one.spec.problem.run_a = one.spec.problem.run_b = 80; }),
      2);
  add(with(gemm("sm75_f16_split", 60, 50, 120, P::kF16),
           [](KernelCase& one) { one.spec.kernel.split_k = 3; }),
      2);
  add(convolution("sm75_conv", shape(1, 9, 8, 16, 3, 1, 1), P::kF16), 2);
}

void add_convolutions(std::vector<KernelCase>& cases) {
  cases.push_back(convolution("conv_1x1", shape(2, 6, 24, 20, 1, 1, 0), P::kF16));
  cases.push_back(with(convolution("conv_1x1_groups", shape(2, 5, 4, 12, 1, 1, 0), P::kF16),
                       [](KernelCase& one) {
                         one.spec.conv->groups = 2;
                         one.spec.problem.batch = 2;
                       }));
  cases.push_back(convolution("conv_1x1_stride", shape(1, 9, 16, 24, 1, 2, 0), P::kBf16));
  cases.push_back(convolution("conv_3x3_halo", shape(2, 8, 16, 24, 3, 1, 1), P::kF16));
  cases.push_back(convolution("conv_3x3_no_halo", shape(1, 9, 8, 16, 3, 1, 0), P::kF16));
  cases.push_back(convolution("conv_3x3_stride", shape(1, 11, 8, 33, 3, 2, 1), P::kTf32));
  cases.push_back(convolution("conv_3x3_dilated", shape(1, 12, 16, 16, 3, 1, 2, 2), P::kS8));
  cases.push_back(convolution("conv_5x5_dilated_stride", shape(1, 15, 4, 12, 5, 2, 3, 3), P::kF16));
  cases.push_back(convolution("conv_stem", shape(1, 15, 3, 16, 7, 2, 3), P::kF16));
  cases.push_back(convolution("conv_c6", shape(1, 7, 6, 16, 3, 1, 1), P::kF16));
  cases.push_back(convolution("conv_f64", shape(1, 6, 5, 9, 3, 1, 1), P::kF64));
  KernelConvolution odd = shape(2, 7, 8, 16, 3, 1, 1);  // all different along h and w
  odd.s = 2;
  odd.stride = {2, 1};
  odd.dilation = {1, 3};
  odd.padding = {0, 2};
  odd.p = 4;  // beyond what the input has below
  odd.q = 8;
  cases.push_back(convolution("conv_asymmetric", odd, P::kF16));
  KernelConvolution groups = shape(1, 7, 8, 10, 3, 1, 1);
  groups.groups = 3;
  cases.push_back(with(convolution("conv_groups", groups, P::kF16),
                       [](KernelCase& one) { one.spec.epilogue = {true, true}; }));
  cases.push_back(
      with(convolution("conv_split", shape(1, 8, 24, 16, 3, 2, 1), P::kF16), [](KernelCase& one) {
        one.spec.kernel.split_k = 4;
        one.spec.epilogue = {true, true};
      }));
}

}  // namespace

KernelCase gemm_case(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
                     GpuPrecision precision, MatrixLayout a, MatrixLayout b) {
  KernelCase result;
  result.name = name;
  GemmProblem& problem = result.spec.problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.precision = precision;
  problem.output = operand_size(precision);
  problem.a = a;
  problem.b = b;
  return result;
}

Gpu case_gpu(bool has_async) {
  Gpu gpu;
  gpu.name = has_async ? "sm_80" : "sm_75";
  gpu.compute_capability = has_async ? 80 : 75;
  gpu.shared_per_sm = Bytes{164 * 1024};
  gpu.shared_per_block = Bytes{(has_async ? 163 : 64) * 1024};
  gpu.rates.fill({1024, 1024, 64});
  return gpu;
}

Gpu case_gpu(const KernelCase& of) {
  Gpu gpu = case_gpu(of.has_async);
  if (of.spec.kernel.path == GpuPath::kWgmma) {
    gpu.name = "sm_90";
    gpu.compute_capability = 90;
    gpu.shared_per_sm = Bytes{228 * 1024};
    gpu.shared_per_block = Bytes{227 * 1024};
  }
  return gpu;
}

std::vector<KernelCase> kernel_cases() {
  std::vector<KernelCase> cases;
  add_layouts(cases);
  add_pieces(cases);
  add_tiles(cases);
  add_slices(cases);
  add_outputs(cases);
  add_staged(cases);
  add_convolutions(cases);
  add_narrow_sums(cases);
  add_naive(cases);
  return cases;
}

std::vector<KernelMutant> kernel_mutants() {
  const KernelCase plain = with_tiles(gemm("", 64, 64, 160, P::kF16), {64, 32, 32}, 32, 16, 3);
  const KernelCase ragged = with_tiles(gemm("", 60, 50, 150, P::kF16), {64, 32, 32}, 32, 16, 3);
  const KernelCase window = convolution("", shape(1, 9, 8, 16, 3, 1, 1), P::kF16);
  const KernelCase dilated = convolution("", shape(1, 12, 8, 16, 3, 1, 2, 2), P::kF16);
  const KernelCase six_steps = with(plain, [](KernelCase& one) { one.spec.problem.k = 192; });
  const auto staged = with(plain, [](KernelCase& one) {
    one.has_async = false;
    one.spec.kernel.stages = 2;
  });
  const auto split = with(plain, [](KernelCase& one) { one.spec.kernel.split_k = 2; });
  const auto naive = with(ragged, [](KernelCase& one) { one.spec.naive = true; });
  const auto single = with(plain, [](KernelCase& one) { one.spec.kernel.stages = 1; });
  return {
      {"no barrier before a tile is used", "barrier();  // next tile landed", "", plain},
      {"no barrier before the first tile", "barrier();  // first tile landed", "", plain},
      {"no barrier before the patches", "barrier();  // all tiles read", "", six_steps},
      {"one stage: overwritten while read", "barrier();  // only buffer read", "", single},
      {"registers: no barrier", "barrier();  // next tile landed", "", staged},
      {"waits for one copy less", "wait_copies<kPending>();\n    barrier();  // next",
       "wait_copies<kPending + 1>();\n    barrier();  // next", plain},
      {"one tile too far ahead", "free = S::kStages - 1;", "free = 0;", plain},
      {"patch read too early", "warp_barrier();  // patch written", "", plain},
      {"naive: a tile used too early", "warp_barrier();  // naive: tile there", "", naive},
      {"naive: a tile overwritten", "warp_barrier();  // naive: tile read", "", naive},
      {"patch overwritten", "warp_barrier();  // patch read", "", plain},
      {"halo one too wide", "static_cast<unsigned>(pixel.w + w) < static_cast<unsigned>(S::kW)",
       "static_cast<unsigned>(pixel.w + w) <= static_cast<unsigned>(S::kW)", window},
      {"halo above forgotten", "static_cast<unsigned>(pixel.h + h) < static_cast<unsigned>(S::kH)",
       "pixel.h + h < S::kH", window},
      {"a tap off", "const int w = s * S::kDilationW", "const int w = s", dilated},
      {"tail of K not zero", "clamp(left, kPiece / kSize) * kSize", "kPiece", ragged},
      {"rows beyond the edge", "? first + line(pass) < kExtent", "? true", ragged},
      {"columns beyond the edge", "n + column >= S::kN)", "false)", ragged},
      {"slices overlap", "result.slice = rest % S::kSplit;", "result.slice = 0;", split},
      {"a slice forgotten", "slice < S::kSplit; ++slice", "slice + 1 < S::kSplit; ++slice", split},
  };
}

}  // namespace mapsim
