// SPDX-License-Identifier: Apache-2.0
#include "interop/gpu_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "costmodel/gpu/estimate.hpp"

namespace mapsim {
namespace {

// MMA instruction of CUTLASS 2 and its letter, by precision and chip: s sums in fp32, h in fp16, i
// in int32, d in fp64.
struct Instruction {
  std::string_view name;
  GemmTile shape;
};

Instruction instruction_of(const Gpu& gpu, GpuPrecision precision) {
  const bool ampere = gpu.compute_capability >= 80;
  const bool turing = gpu.compute_capability >= 75;
  const GemmTile half = ampere   ? GemmTile{16, 8, 16}
                        : turing ? GemmTile{16, 8, 8}
                                 : GemmTile{8, 8, 4};
  const std::string_view shape = ampere ? "16816" : turing ? "1688" : "884";
  switch (precision) {
    case GpuPrecision::kF16:
      return {shape == "16816" ? "s16816gemm_f16"
              : turing         ? "s1688gemm_f16"
                               : "s884gemm_f16",
              half};
    case GpuPrecision::kF16Acc16:
      return {shape == "16816" ? "h16816gemm" : turing ? "h1688gemm" : "h884gemm", half};
    case GpuPrecision::kBf16:
      return {"s16816gemm_bf16", half};
    case GpuPrecision::kTf32:
      return {"s1688gemm_tf32", {16, 8, 8}};
    case GpuPrecision::kS8:
      return ampere ? Instruction{"i16832gemm_s8", {16, 8, 32}}
                    : Instruction{"i8816gemm_s8", {8, 8, 16}};
    case GpuPrecision::kF64:
      return {"d884gemm", {8, 8, 4}};
    case GpuPrecision::kFp8:
      return {"s16832gemm_e4m3", {16, 8, 32}};
    case GpuPrecision::kF32:
      return {"sgemm", {1, 1, 1}};
  }
  return {};
}

// "tn": A row-major, B column-major, in the words of BLAS.
std::string layout_of(const GemmProblem& problem) {
  return std::string{problem.a == MatrixLayout::kRow ? "t" : "n"} +
         (problem.b == MatrixLayout::kColumn ? "n" : "t");
}

// Elements that both operands can be copied in, 16 B at most.
std::int64_t alignment_of(const GemmProblem& problem) {
  const std::int64_t size = operand_size(problem.precision).count();
  const std::int64_t a = problem.a == MatrixLayout::kRow ? problem.k : problem.m;
  const std::int64_t b = problem.b == MatrixLayout::kColumn ? problem.k : problem.n;
  return std::gcd(std::gcd(a, b), 16 / size);
}

std::string hopper_type(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kBf16:
      return "bf16_bf16_f32_bf16_bf16";
    case GpuPrecision::kF16Acc16:
      return "f16_f16_f16_f16_f16";
    case GpuPrecision::kS8:
      return "s8_s8_s32_s8_s8";
    case GpuPrecision::kFp8:
      return "e4m3_e4m3_f32_bf16_bf16";
    case GpuPrecision::kTf32:
      return "tf32_tf32_f32_f32_f32";
    case GpuPrecision::kF16:
    case GpuPrecision::kF32:
    case GpuPrecision::kF64:
      break;
  }
  return "f16_f16_f32_f16_f16";
}

// Warpgroups take 64 rows; the exchanged form, 64 columns, is CUTLASS's with A and B exchanged.
std::string hopper_name(const GemmProblem& problem, const KernelChoice& kernel) {
  if (kernel.fragment.m != 64 || kernel.warps() > 2) {
    return "";
  }
  const char letter = problem.precision == GpuPrecision::kF16Acc16 ? 'h'
                      : problem.precision == GpuPrecision::kS8     ? 'i'
                                                                   : 's';
  return fmt::format(
      "cutlass3x_sm90_tensorop_{}{}x{}x{}gemm_{}_{}x{}x{}_{}x1x1_0_{}t_align{}_warpspecialized{}",
      letter, kernel.fragment.m, kernel.fragment.n, kernel.fragment.k,
      hopper_type(problem.precision), kernel.block.m, kernel.block.n, kernel.block.k,
      kernel.cluster, layout_of(problem), alignment_of(problem),
      kernel.warps() == 2 ? "_cooperative_epi_tma" : "_epi_tma");
}

}  // namespace

std::string triton_configs(const Gpu& gpu, const GemmProblem& problem,
                           const std::vector<KernelChoice>& kernels) {
  std::string text = "import triton\n\nconfigs = [\n";
  std::set<std::string> seen;
  for (const KernelChoice& kernel : kernels) {
    const std::int64_t blocks = resources(gpu, problem, kernel).blocks_per_sm;
    const std::int64_t rows =
        kernel.raster == 0 ? 1 : waves(gpu, problem, kernel, blocks).wave_rows;
    const std::string line = fmt::format(
        "    triton.Config({{'BLOCK_M': {}, 'BLOCK_N': {}, 'BLOCK_K': {}, 'GROUP_M': {}, "
        "'SPLIT_K': {}}}, num_warps={}, num_stages={}),\n",
        kernel.block.m, kernel.block.n, kernel.block.k, rows, kernel.split_k,
        kernel.path == GpuPath::kWgmma ? 4 * kernel.warps() : kernel.warps(), kernel.stages);
    if (seen.insert(line).second) {
      text += line;
    }
  }
  return text + "]\n";
}

std::string cutlass_name(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel) {
  if (kernel.path == GpuPath::kWgmma) {
    return hopper_name(problem, kernel);
  }
  const bool simt = kernel.path == GpuPath::kSimt;
  if (simt && problem.precision != GpuPrecision::kF32) {
    return "";
  }
  return fmt::format("cutlass_{}_{}_{}x{}_{}x{}_{}_align{}", simt ? "simt" : "tensorop",
                     instruction_of(gpu, problem.precision).name, kernel.block.m, kernel.block.n,
                     kernel.block.k, kernel.stages, layout_of(problem),
                     simt ? 1 : alignment_of(problem));
}

std::string cutlass_test_list(const Gpu& gpu, const GemmProblem& problem,
                              const std::vector<KernelChoice>& kernels) {
  std::string text =
      "kernel,m,n,k,cta_m,cta_n,cta_k,stages,warps_m,warps_n,inst_m,inst_n,inst_k,split_k,swizzle,"
      "raster_order\n";
  std::set<std::string> seen;
  for (const KernelChoice& kernel : kernels) {
    const std::string name = cutlass_name(gpu, problem, kernel);
    const GemmTile instruction = kernel.path == GpuPath::kWgmma
                                     ? kernel.fragment
                                     : instruction_of(gpu, problem.precision).shape;
    const std::int64_t groups = kernel.path == GpuPath::kWgmma ? 4 : 1;
    const std::string line = fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", name, problem.m, problem.n, problem.k,
        kernel.block.m, kernel.block.n, kernel.block.k, kernel.stages,
        groups * (kernel.block.m / kernel.warp.m), kernel.block.n / kernel.warp.n, instruction.m,
        instruction.n, instruction.k, kernel.split_k, std::max<std::int64_t>(1, kernel.raster),
        kernel.raster == 0 ? "along_n" : "along_m");
    if (!name.empty() && seen.insert(line).second) {
      text += line;
    }
  }
  return text;
}

}  // namespace mapsim
