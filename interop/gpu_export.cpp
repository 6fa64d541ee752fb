// SPDX-License-Identifier: Apache-2.0
#include "interop/gpu_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

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
  return std::gcd(std::gcd(run_of_a(problem), run_of_b(problem)), 16 / size);
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

struct CutlassKernel {
  GemmProblem problem;
  KernelChoice kernel;
  bool exchanged = false;  // C^T = B^T A^T: C is then column-major
};

CutlassKernel exchange(const GemmProblem& problem, const KernelChoice& kernel) {
  CutlassKernel result{problem, kernel, true};
  std::swap(result.problem.m, result.problem.n);
  std::swap(result.problem.run_a, result.problem.run_b);
  const auto other = [](MatrixLayout layout) {
    return layout == MatrixLayout::kRow ? MatrixLayout::kColumn : MatrixLayout::kRow;
  };
  result.problem.a = other(problem.b);
  result.problem.b = other(problem.a);
  for (GemmTile* tile : {&result.kernel.block, &result.kernel.warp, &result.kernel.fragment}) {
    std::swap(tile->m, tile->n);
  }
  return result;
}

// Warpgroups of 64 rows, one or (cooperative) two of them above each other. Nothing: none such.
std::optional<CutlassKernel> in_cutlass(const GemmProblem& problem, const KernelChoice& kernel) {
  for (const CutlassKernel& form :
       {CutlassKernel{problem, kernel, false}, exchange(problem, kernel)}) {
    const KernelChoice& k = form.kernel;
    if (k.path != GpuPath::kWgmma ||
        (k.fragment.m == 64 && k.warp.n == k.block.n && k.warps() <= 2)) {
      return form;
    }
  }
  return std::nullopt;
}

std::string hopper_name(const CutlassKernel& form) {
  const auto& [problem, kernel, exchanged] = form;
  const char letter = problem.precision == GpuPrecision::kF16Acc16 ? 'h'
                      : problem.precision == GpuPrecision::kS8     ? 'i'
                                                                   : 's';
  const std::int64_t row = exchanged ? problem.m : problem.n;  // of C
  const bool tma = row * problem.output.count() % 16 == 0;     // can write it
  return fmt::format(
      "cutlass3x_sm90_tensorop_{}{}x{}x{}gemm_{}_{}x{}x{}_{}x{}x1_0_{}{}_align{}_warpspecialized{}{"
      "}",
      letter, kernel.fragment.m, kernel.fragment.n, kernel.fragment.k,
      hopper_type(problem.precision), kernel.block.m, kernel.block.n, kernel.block.k,
      exchanged ? 1 : kernel.cluster, exchanged ? kernel.cluster : 1, layout_of(problem),
      exchanged ? 'n' : 't', alignment_of(problem), kernel.warps() == 2 ? "_cooperative" : "",
      tma ? "_epi_tma" : "_epi_nosmem");
}

std::string name_of(const Gpu& gpu, const CutlassKernel& form) {
  const auto& [problem, kernel, exchanged] = form;
  if (kernel.path == GpuPath::kWgmma) {
    return hopper_name(form);
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

// A line of a test list; nothing: CUTLASS has no such kernel.
std::string line_of(const Gpu& gpu, const GemmProblem& whole, const KernelChoice& choice) {
  const std::optional<CutlassKernel> form = in_cutlass(whole, choice);
  const std::string name = form ? name_of(gpu, *form) : "";
  if (name.empty()) {
    return "";
  }
  const auto& [problem, kernel, exchanged] = *form;
  const bool wide = kernel.path == GpuPath::kWgmma;
  const GemmTile instruction =
      wide ? kernel.fragment : instruction_of(gpu, problem.precision).shape;
  const auto swizzle = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(kernel.raster, 1, 8))));
  const bool by_rows = (kernel.raster == 0) != exchanged;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", name, problem.m,
                     problem.n, problem.k, kernel.block.m, kernel.block.n, kernel.block.k,
                     kernel.stages, (wide ? 4 : 1) * (kernel.block.m / kernel.warp.m),
                     kernel.block.n / kernel.warp.n, instruction.m, instruction.n, instruction.k,
                     kernel.split_k, swizzle, by_rows ? "along_n" : "along_m");
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
  const std::optional<CutlassKernel> form = in_cutlass(problem, kernel);
  return form ? name_of(gpu, *form) : "";
}

CutlassList cutlass_test_list(const Gpu& gpu, const GemmProblem& problem,
                              const std::vector<KernelChoice>& kernels, std::size_t most) {
  CutlassList list;
  list.text =
      "kernel,m,n,k,cta_m,cta_n,cta_k,stages,warps_m,warps_n,inst_m,inst_n,inst_k,split_k,swizzle,"
      "raster_order\n";
  std::set<std::string> seen;
  for (const KernelChoice& kernel : kernels) {
    if (list.written == most) {
      break;
    }
    const std::string line = line_of(gpu, problem, kernel);
    if (line.empty()) {
      ++list.left_out;
    } else if (seen.insert(line).second) {
      list.text += line;
      ++list.written;
    }
  }
  return list;
}

}  // namespace mapsim
