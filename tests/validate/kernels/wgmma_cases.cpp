// SPDX-License-Identifier: Apache-2.0
// Kernels of the path wgmma: few texts, many problems.
#include <fmt/format.h>

#include "tests/validate/kernels/cases.hpp"

namespace mapsim {
namespace {

using P = GpuPrecision;
constexpr MatrixLayout kRow = MatrixLayout::kRow;
constexpr MatrixLayout kColumn = MatrixLayout::kColumn;

template <class Change>
KernelCase with(KernelCase of, const Change& change) {
  change(of);
  return of;
}

// Tiles in elements; a warpgroup of 64 rows, or turned of 64 columns where its rows are fewer.
KernelCase with_tiles(KernelCase of, const GemmTile& block, std::int64_t warp_m,
                      std::int64_t warp_n, std::int64_t stages) {
  KernelChoice& kernel = of.spec.kernel;
  const std::int64_t depth = 32 / operand_size(of.spec.problem.precision).count();
  kernel.block = block;
  kernel.warp = {warp_m, warp_n, block.k};
  kernel.fragment = warp_m % 64 == 0 ? GemmTile{64, warp_n, depth} : GemmTile{warp_m, 64, depth};
  kernel.stages = stages;
  return of;
}

KernelCase gemm(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
                P precision = P::kF16, MatrixLayout a = kRow, MatrixLayout b = kColumn) {
  KernelCase result = gemm_case(name, m, n, k, precision, a, b);
  result.spec.kernel.path = GpuPath::kWgmma;
  result.spec.kernel.padding = 0;
  return with_tiles(result, {128, 64, 128 / result.spec.problem.output.count()}, 64, 64, 3);
}

void add_problems(std::vector<KernelCase>& cases) {
  cases.push_back(gemm("f16_tn", 128, 128, 320));
  cases.push_back(gemm("ragged", 100, 72, 88));
  cases.push_back(gemm("one_row", 1, 64, 704));
  cases.push_back(gemm("one_step", 130, 8, 16));
  for (const std::int64_t raster : {0, 1, 3}) {
    cases.push_back(with(gemm(fmt::format("raster_{}", raster), 300, 320, 64),
                         [&](KernelCase& one) { one.spec.kernel.raster = raster; }));
  }
  cases.push_back(with(gemm("batch", 40, 72, 144), [](KernelCase& one) {
    one.spec.problem.batch = 3;
    one.alpha = 0.5;
  }));
  cases.push_back(with(gemm("padded_rows", 45, 48, 75), [](KernelCase& one) {
    one.spec.problem.run_a = 80;
    one.spec.problem.run_b = 88;
  }));
  cases.push_back(gemm("odd_n", 70, 75, 72));
}

void add_layouts(std::vector<KernelCase>& cases) {
  for (const P precision : {P::kF16, P::kBf16}) {
    for (const MatrixLayout a : {kRow, kColumn}) {
      for (const MatrixLayout b : {kRow, kColumn}) {
        if (precision == P::kBf16 || a == kColumn || b == kRow) {
          cases.push_back(gemm(fmt::format("{}_{}{}", to_string(precision), a == kRow ? "t" : "n",
                                           b == kColumn ? "n" : "t"),
                               112, 136, 144, precision, a, b));
        }
      }
    }
  }
  cases.push_back(gemm("acc16", 112, 80, 144, P::kF16Acc16));
  cases.push_back(gemm("tf32_tn", 112, 80, 76, P::kTf32));
  cases.push_back(gemm("s8_tn", 112, 80, 304, P::kS8));
  cases.push_back(gemm("s8_ragged", 50, 31, 80, P::kS8));
}

void add_tiles(std::vector<KernelCase>& cases) {
  cases.push_back(with_tiles(gemm("large", 130, 264, 200), {128, 256, 64}, 64, 256, 2));
  cases.push_back(with_tiles(gemm("half_lines", 130, 120, 200), {128, 128, 32}, 64, 128, 5));
  cases.push_back(with_tiles(gemm("half_lines_nt", 72, 120, 104, P::kF16, kColumn, kRow),
                             {64, 128, 32}, 64, 128, 2));
  cases.push_back(with_tiles(gemm("one_warpgroup", 64, 24, 128), {64, 8, 64}, 64, 8, 4));
  cases.push_back(with_tiles(gemm("four_warpgroups", 130, 130, 72), {128, 128, 64}, 64, 64, 2));
  cases.push_back(with_tiles(gemm("two_products", 200, 72, 136), {128, 64, 64}, 128, 64, 2));
  cases.push_back(
      with_tiles(gemm("narrow_columns", 64, 40, 72, P::kF16, kRow, kRow), {64, 32, 64}, 64, 32, 2));
  cases.push_back(
      with_tiles(gemm("bf16_turned", 20, 200, 136, P::kBf16), {16, 128, 64}, 16, 64, 3));
  cases.push_back(with_tiles(gemm("turned_8", 11, 72, 200), {8, 64, 32}, 8, 64, 4));
  cases.push_back(with_tiles(gemm("turned_128", 11, 136, 72), {8, 128, 64}, 8, 128, 2));
  cases.push_back(
      with_tiles(gemm("turned_nt", 40, 136, 72, P::kF16, kColumn, kRow), {32, 128, 64}, 32, 64, 2));
  cases.push_back(with_tiles(gemm("turned_16_nt", 40, 72, 72, P::kF16, kColumn, kRow), {16, 64, 64},
                             16, 64, 2));
  cases.push_back(with_tiles(gemm("turned_s8", 33, 72, 160, P::kS8), {32, 64, 64}, 32, 64, 2));
  cases.push_back(with_tiles(gemm("turned_two_down", 60, 72, 72), {32, 64, 64}, 16, 64, 2));
}

KernelCase in_cluster(KernelCase of) {
  of.spec.kernel.cluster = 2;
  return of;
}
void add_clusters(std::vector<KernelCase>& cases) {
  cases.push_back(in_cluster(gemm("cluster", 300, 200, 400)));
  cases.push_back(with(in_cluster(gemm("cluster_raster", 520, 200, 72)),
                       [](KernelCase& one) { one.spec.kernel.raster = 2; }));
  cases.push_back(in_cluster(gemm("cluster_nt", 200, 136, 200, P::kF16, kColumn, kRow)));
  cases.push_back(
      in_cluster(with_tiles(gemm("cluster_turned", 70, 136, 304), {16, 128, 64}, 16, 64, 2)));
  cases.push_back(with(in_cluster(gemm("cluster_split", 200, 72, 512, P::kS8)),
                       [](KernelCase& one) { one.spec.kernel.split_k = 2; }));
}

void add_epilogues(std::vector<KernelCase>& cases) {
  cases.push_back(with(gemm("split_bias_gelu", 70, 72, 304), [](KernelCase& one) {
    one.spec.kernel.split_k = 3;
    one.spec.epilogue.bias = true;
    one.spec.epilogue.activation = Activation::kGelu;
    one.alpha = 0.0625;
  }));
  cases.push_back(with(gemm("split_batch_ragged", 37, 33, 200), [](KernelCase& one) {
    one.spec.kernel.split_k = 3;
    one.spec.problem.batch = 2;
    one.spec.problem.adds_to_output = true;
    one.beta = 2;
  }));
  cases.push_back(with(gemm("bias_relu", 70, 72, 96),
                       [](KernelCase& one) { one.spec.epilogue = {true, true}; }));
  cases.push_back(
      with(with_tiles(gemm("turned_residual_silu", 30, 72, 96, P::kBf16), {32, 64, 64}, 32, 64, 2),
           [](KernelCase& one) {
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
  cases.push_back(with(gemm("acc16_split", 70, 72, 200, P::kF16Acc16),
                       [](KernelCase& one) { one.spec.kernel.split_k = 2; }));
}

// A window of one pixel: the input is a matrix.
void add_convolution(std::vector<KernelCase>& cases) {
  KernelConvolution shape;
  shape.n = 2, shape.h = shape.p = 7, shape.w = shape.q = 8, shape.c = 48, shape.k = 40;
  KernelCase one = gemm("conv_1x1", 112, 40, 48);
  one.spec.conv = shape;
  one.spec.problem.run_a = one.spec.problem.run_b = 48;
  cases.push_back(one);
}

}  // namespace

std::vector<KernelCase> wgmma_cases() {
  std::vector<KernelCase> cases;
  add_problems(cases);
  add_layouts(cases);
  add_tiles(cases);
  add_clusters(cases);
  add_epilogues(cases);
  add_convolution(cases);
  return cases;
}

std::vector<KernelMutant> wgmma_mutants() {
  const KernelCase plain = gemm("", 128, 64, 704);
  const KernelCase across =
      with_tiles(gemm("", 128, 128, 192, P::kF16, kColumn, kRow), {64, 128, 64}, 64, 128, 2);
  const KernelCase wide = with_tiles(gemm("", 128, 128, 192), {128, 128, 64}, 64, 64, 2);
  const KernelCase pair = in_cluster(gemm("", 256, 64, 704));
  const KernelCase turned = with_tiles(gemm("", 24, 64, 192), {8, 64, 64}, 8, 64, 2);
  return {
      {"a tile is read before it has landed",
       "wait_for(Line::full(line.buffer), line.parity);  // tile landed", "", plain},
      {"the wrong phase of a full buffer",
       "wait_for(Line::full(line.buffer), line.parity);  // tile landed",
       "wait_for(Line::full(line.buffer), line.parity ^ 1);  // tile landed", plain},
      {"a buffer is filled before it is free",
       "wait_for(Line::empty(line.buffer), line.parity ^ 1);  // buffer free", "", plain},
      {"the wrong phase of an empty buffer",
       "wait_for(Line::empty(line.buffer), line.parity ^ 1);  // buffer free",
       "wait_for(Line::empty(line.buffer), line.parity);  // buffer free", plain},
      {"a buffer is never free", "arrive<S::kCluster>(Line::empty(before), lane);  // buffer read",
       "", plain},
      {"a buffer is free while it is read", "wait_products<1>();", "", plain},
      {"the last products are not waited for", "wait_products<0>();", "", plain},
      {"the buffer of now is freed", "Line::empty(before)", "Line::empty(line.buffer)", plain},
      {"the phase does not change", "parity ^= 1;", "", plain},
      {"too few bytes", "expect_bytes(full, Line::kStageBytes);",
       "expect_bytes(full, Line::TileA::kBytes);", plain},
      {"no fence", "begin_products();", "", plain},
      {"barriers not shown to the TMA", "show_barriers();", "", plain},
      {"barriers used before they are started", "Pipeline<S>::meet();  // barriers started", "",
       plain},
      {"sums leave through tiles that are read",
       "consumer_barrier<kConsumers>();  // all tiles read", "", wide},
      {"patch read too early", "warp_barrier();  // patch written", "", plain},
      {"another swizzle", "kLineBytes == 128 ? 1 :", "kLineBytes == 128 ? 2 :", plain},
      {"the next eight lines elsewhere", "static_cast<unsigned long long>(kAtom / 16) << 32",
       "static_cast<unsigned long long>(kAtom / 32) << 32", plain},
      {"the next column elsewhere", "kAlongK ? 1 : kColumnBytes / 16",
       "kAlongK ? 1 : kColumnBytes / 32", across},
      {"K steps of half the bytes", "k % kStepsPerLine * 32", "k % kStepsPerLine * 16", plain},
      {"old sums are added to", "multiply(line.tile(), step > 0);", "multiply(line.tile(), true);",
       plain},
      {"both blocks bring the same part", "const int skipped = kParts > 1 ? rank * kPart : 0;",
       "const int skipped = 0;", pair},
      {"a buffer is free when one block is done",
       "start_barrier(empty(i), S::kWarps * S::kCluster);", "start_barrier(empty(i), S::kWarps);",
       pair},
      {"one block alone is told", "lane < S::kCluster", "lane < 1", pair},
      {"rows of the block below", "const int last = S::kTurned ? m + 8 * kAtOnce : m + 16;",
       "const int last = m + 16;", turned},
      {"turned sums as if they were not", "Out::put_turned(c, side * 8);", "Out::put(c, side * 8);",
       turned},
  };
}

}  // namespace mapsim
