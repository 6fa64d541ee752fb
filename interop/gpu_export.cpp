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
#include "interop/cutlass_tiles.hpp"

namespace mapsim {
namespace {

// MMA instruction of CUTLASS 2 and its letter, by precision and chip: s sums in fp32, h in fp16, i
// in int32, d in fp64.
std::string_view instruction_of(const Gpu& gpu, GpuPrecision precision) {
  const bool ampere = gpu.compute_capability >= 80;
  const bool turing = gpu.compute_capability >= 75;
  switch (precision) {
    case GpuPrecision::kF16:
      return ampere ? "s16816gemm_f16" : turing ? "s1688gemm_f16" : "s884gemm_f16";
    case GpuPrecision::kF16Acc16:
      return ampere ? "h16816gemm" : turing ? "h1688gemm" : "h884gemm";
    case GpuPrecision::kBf16:
      return "s16816gemm_bf16";
    case GpuPrecision::kTf32:
      return "s1688gemm_tf32";
    case GpuPrecision::kS8:
      return ampere ? "i16832gemm_s8" : "i8816gemm_s8";
    case GpuPrecision::kF64:
      return "d884gemm";
    case GpuPrecision::kFp8:
      return "s16832gemm_e4m3";
    case GpuPrecision::kF32:
      return "sgemm";
  }
  return {};
}

// "tn": A row-major, B column-major, in the words of BLAS.
std::string layout_of(const GemmProblem& problem) {
  return std::string{problem.a == MatrixLayout::kRow ? "t" : "n"} +
         (problem.b == MatrixLayout::kColumn ? "n" : "t");
}

// CUTLASS's name of the elements of C, by their width: "f32", "f16", "s8", ...
std::string output_type(const GemmProblem& problem) {
  const bool integer = problem.precision == GpuPrecision::kS8;
  switch (problem.output.count()) {
    case 1:
      return integer ? "s8" : "e4m3";
    case 2:
      return problem.precision == GpuPrecision::kBf16 || problem.precision == GpuPrecision::kFp8
                 ? "bf16"
                 : "f16";
    case 8:
      return "f64";
    default:
      return integer ? "s32" : "f32";
  }
}

std::string sum_type(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kF64:
      return "f64";
    case GpuPrecision::kF16Acc16:
      return "f16";
    case GpuPrecision::kS8:
      return "s32";
    case GpuPrecision::kF32:
    case GpuPrecision::kTf32:
    case GpuPrecision::kF16:
    case GpuPrecision::kBf16:
    case GpuPrecision::kFp8:
      break;
  }
  return "f32";
}

// Operands, sums, C and D of CUTLASS 3: "bf16_bf16_f32_bf16_bf16".
std::string hopper_types(const GemmProblem& problem) {
  const std::string operand = problem.precision == GpuPrecision::kF16Acc16 ? "f16"
                              : problem.precision == GpuPrecision::kFp8
                                  ? "e4m3"
                                  : to_string(problem.precision);
  const std::string output = output_type(problem);
  return fmt::format("{0}_{0}_{1}_{2}_{2}", operand, sum_type(problem.precision), output);
}

struct CutlassKernel {
  GemmProblem problem;
  KernelChoice kernel;
};

// As the profiler packs its operands, padded rows are longer ones: zeros add nothing to the sums.
GemmProblem packed(GemmProblem problem) {
  const auto grow = [](std::int64_t& extent, const std::optional<std::int64_t>& run) {
    extent = std::max(extent, run.value_or(extent));
  };
  grow(problem.a == MatrixLayout::kRow ? problem.k : problem.m, problem.run_a);
  grow(problem.b == MatrixLayout::kColumn ? problem.k : problem.n, problem.run_b);
  return problem;
}

// The kernels of CUTLASS's library write C column-major: ours is theirs of C^T = B^T A^T.
CutlassKernel exchange(const GemmProblem& problem, const KernelChoice& kernel) {
  CutlassKernel result{packed(problem), kernel};
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

// Nothing: CUTLASS has none such. Of warpgroups it puts 64 rows, or two times 64, above each other
// (the latter cooperative); slices of K it cuts for those of its stream-K scheduler only, which are
// cooperative. WMMA kernels are not in its library; operands of 8 bits lie along K.
std::optional<CutlassKernel> in_cutlass(const Gpu& gpu, const GemmProblem& problem,
                                        const KernelChoice& kernel) {
  // The profiler splits K or runs a batch, not both; its convolutions are another operation.
  if (problem.stored_a || (problem.batch > 1 && kernel.split_k > 1)) {
    return std::nullopt;
  }
  const CutlassKernel form = exchange(problem, kernel);
  const KernelChoice& k = form.kernel;
  const bool along_k =
      form.problem.a == MatrixLayout::kRow && form.problem.b == MatrixLayout::kColumn;
  const bool narrow = operand_size(problem.precision) == Bytes{1};
  const bool stacked = k.fragment.m == 64 && k.warp.n == k.block.n && k.warps() <= 2;
  if (k.path == GpuPath::kWmma || (narrow && !along_k) ||
      (k.path == GpuPath::kWgmma && (!stacked || (k.split_k > 1 && k.warps() != 2))) ||
      (k.path == GpuPath::kSimt && problem.precision != GpuPrecision::kF32) ||
      !cutlass_makes(gpu, problem.precision, k) ||
      cutlass_alignment(gpu, form.problem, k.path) == 0) {
    return std::nullopt;
  }
  return form;
}

// C and D in shared memory take 2^20 bits at most, else the results go straight from registers; so
// do those of a kernel of one warpgroup, and rows of C that the TMA does not take.
bool has_tma_epilogue(const CutlassKernel& form) {
  const KernelChoice& kernel = form.kernel;
  const std::int64_t bits = 8 * form.problem.output.count();
  return kernel.warps() == 2 && form.problem.m * form.problem.output.count() % 16 == 0 &&
         2 * bits * kernel.block.m * kernel.block.n <= 1 << 20;
}

std::string hopper_name(const Gpu& gpu, const CutlassKernel& form) {
  const auto& [problem, kernel] = form;
  return fmt::format(
      "cutlass3x_sm90_tensorop_gemm_{}_{}x{}x{}_1x{}x1_0_{}n_align{}{}_warpspecialized"
      "{}{}",
      hopper_types(problem), kernel.block.m, kernel.block.n, kernel.block.k, kernel.cluster,
      layout_of(problem), cutlass_alignment(gpu, problem, kernel.path),
      kernel.split_k > 1 ? "_stream_k" : "", kernel.warps() == 2 ? "_cooperative" : "",
      has_tma_epilogue(form) ? "_epi_tma" : "_epi_nosmem");
}

std::string name_of(const Gpu& gpu, const CutlassKernel& form) {
  const auto& [problem, kernel] = form;
  if (kernel.path == GpuPath::kWgmma) {
    return hopper_name(gpu, form);
  }
  const bool simt = kernel.path == GpuPath::kSimt;
  const std::string output = output_type(problem);
  return fmt::format("cutlass_{}_{}{}_{}x{}_{}x{}_{}_align{}", simt ? "simt" : "tensorop",
                     output == sum_type(problem.precision) ? "" : output + "_",
                     instruction_of(gpu, problem.precision), kernel.block.m, kernel.block.n,
                     kernel.block.k, kernel.stages, layout_of(problem),
                     cutlass_alignment(gpu, problem, kernel.path));
}

// Where CUTLASS's blocks go first: our rows are its columns.
const char* raster_order(const KernelChoice& kernel) {
  return kernel.raster == 0 ? "along_m" : "along_n";
}

std::int64_t swizzle_of(const KernelChoice& kernel) {
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(kernel.raster, 1, 8))));
}

// The name says all of a kernel but how its blocks are put. CUTLASS 2 has one order of them.
constexpr const char* kHeader =
    "operation_name,m,n,k,batch_count,split_k_slices,swizzle_size,raster_order\n";

// A line of a test list; nothing: CUTLASS has no such kernel.
std::string line_of(const Gpu& gpu, const GemmProblem& whole, const KernelChoice& choice) {
  const std::optional<CutlassKernel> form = in_cutlass(gpu, whole, choice);
  if (!form) {
    return "";
  }
  const auto& [problem, kernel] = *form;
  return fmt::format("{},{},{},{},{},{},{},{}\n", name_of(gpu, *form), problem.m, problem.n,
                     problem.k, problem.batch, kernel.split_k, swizzle_of(kernel),
                     kernel.path == GpuPath::kWgmma ? raster_order(kernel) : "heuristic");
}

}  // namespace

std::string triton_configs(const Gpu& gpu, const GemmProblem& problem,
                           const std::vector<KernelChoice>& kernels) {
  std::string text = "import triton\n\nconfigs = [\n";
  std::set<std::string> seen;
  for (const KernelChoice& kernel : kernels) {
    if (kernel.path == GpuPath::kSimt && problem.precision != GpuPrecision::kF32) {
      continue;  // tl.dot takes the tensor cores
    }
    if (std::min({kernel.block.m, kernel.block.n, kernel.block.k}) < 16) {
      continue;  // tl.dot takes no smaller ones
    }
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
  const std::optional<CutlassKernel> form = in_cutlass(gpu, problem, kernel);
  return form ? name_of(gpu, *form) : "";
}

CutlassList cutlass_test_list(const Gpu& gpu, const GemmProblem& problem,
                              const std::vector<KernelChoice>& kernels, std::size_t most) {
  CutlassList list;
  list.text = kHeader;
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
