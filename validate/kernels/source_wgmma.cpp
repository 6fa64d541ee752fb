// SPDX-License-Identifier: Apache-2.0
#include "validate/kernels/source_wgmma.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/arithmetic.hpp"
#include "costmodel/gpu/shared_memory.hpp"
#include "validate/kernels/kernel_text.hpp"
#include "validate/kernels/source_mma.hpp"
#include "validate/kernels/source_parts.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kWarpgroup = 128;                        // threads
constexpr std::int64_t kRows = 64;                              // of one instruction
constexpr std::int64_t kAtomLines = 8;                          // after which the swizzle repeats
constexpr std::int64_t kWidestLine = 128, kNarrowestLine = 32;  // bytes that the TMA can swizzle
constexpr std::int64_t kMostBox = 256;  // elements along a side (CUDA driver API, boxDim)
constexpr std::int64_t kLeastPatch = 16 * (16 + 8);  // sums of a warp on their way out

// The instruction's 64 rows are columns of C.
bool is_turned(const KernelChoice& kernel) { return kernel.fragment.m != kRows; }

// An operand's tile: lines along K where K is contiguous in memory, else across, in columns of at
// most 128 B (wgmma_gemm.cuh, TmaTile).
struct TileShape {
  std::int64_t lines, width, line_bytes, parts;
  std::int64_t atom() const { return kAtomLines * line_bytes; }
  std::int64_t bytes() const { return lines * width; }
};
TileShape tile_of(const KernelSpec& spec, bool of_a) {
  const GemmProblem& problem = spec.problem;
  const KernelChoice& kernel = spec.kernel;
  const bool along_k = of_a ? problem.a == MatrixLayout::kRow : problem.b == MatrixLayout::kColumn;
  const std::int64_t across = of_a ? kernel.block.m : kernel.block.n;
  TileShape tile{};
  tile.lines = along_k ? across : kernel.block.k;
  tile.width = (along_k ? kernel.block.k : across) * operand_size(problem.precision).count();
  tile.line_bytes = std::min(kWidestLine, tile.width);
  tile.parts = of_a ? 1 : kernel.cluster;
  return tile;
}

std::optional<std::string> bad_tile(const KernelSpec& spec, bool of_a) {
  const TileShape tile = tile_of(spec, of_a);
  const char* const name = of_a ? "A" : "B";
  if (tile.line_bytes < kNarrowestLine || tile.width % tile.line_bytes != 0 ||
      (tile.line_bytes & (tile.line_bytes - 1)) != 0) {
    return fmt::format(
        "lines of {} B of {} in shared memory; the swizzle takes 32, 64 and "
        "multiples of 128",
        tile.width, name);
  }
  if (tile.lines % (kAtomLines * tile.parts) != 0 || tile.lines / tile.parts > kMostBox) {
    return fmt::format("{} lines of {} in {} parts; the TMA takes multiples of 8 up to 256",
                       tile.lines, name, tile.parts);
  }
  return std::nullopt;
}

// A warpgroup's part of an operand that lies across K begins at a column of its tile.
std::optional<std::string> bad_part(const KernelSpec& spec, bool of_a) {
  const bool along_k =
      of_a ? spec.problem.a == MatrixLayout::kRow : spec.problem.b == MatrixLayout::kColumn;
  const std::int64_t part = (of_a ? spec.kernel.warp.m : spec.kernel.warp.n) *
                            operand_size(spec.problem.precision).count();
  const TileShape tile = tile_of(spec, of_a);
  if (!along_k && part % tile.line_bytes != 0) {
    return fmt::format("{} B of {} across K for a warpgroup; its columns have {} B", part,
                       of_a ? "A" : "B", tile.line_bytes);
  }
  return std::nullopt;
}

std::optional<std::string> bad_shape(const KernelSpec& spec) {
  const KernelChoice& kernel = spec.kernel;
  if (kernel.padding != 0) {
    return "kernels of the path wgmma swizzle their tiles: padding 0";
  }
  if (kernel.stages < 2) {
    return "kernels of the path wgmma have two stages or more";
  }
  if (kernel.cluster > 2) {
    return fmt::format("clusters of {}; kernels of the path wgmma have 1 or 2", kernel.cluster);
  }
  const bool turned = is_turned(kernel);
  if (turned ? kernel.fragment.n != kRows || kernel.fragment.m != kernel.warp.m
             : kernel.fragment.n != kernel.warp.n) {
    return fmt::format("warpgroups of {}x{} in instructions of {}x{}: one for the free side",
                       kernel.warp.m, kernel.warp.n, kernel.fragment.m, kernel.fragment.n);
  }
  for (const bool of_a : {true, false}) {
    if (auto reason = bad_tile(spec, of_a)) {
      return reason;
    }
    if (auto reason = bad_part(spec, of_a)) {
      return reason;
    }
  }
  const TileShape a = tile_of(spec, true), b = tile_of(spec, false);
  const std::int64_t stage = a.bytes() + b.bytes();
  if (a.bytes() % b.atom() != 0 || stage % a.atom() != 0 || stage % b.atom() != 0) {
    return fmt::format("tiles of {} and {} B; the swizzle repeats after {} and {} B", a.bytes(),
                       b.bytes(), a.atom(), b.atom());
  }
  const std::int64_t patches =
      4 * kernel.warps() * kLeastPatch * sum_size(spec.problem.precision).count();
  if (stage * kernel.stages < patches) {
    return fmt::format("{} B of shared memory; sums on their way out take {}",
                       stage * kernel.stages, patches);
  }
  return std::nullopt;
}

// Registers of a thread that multiplies and of one that loads, where those of the launch would not
// do; 0: they do. All of the block's together stay what they are (PTX ISA, setmaxnreg).
struct RegisterSplit {
  std::int64_t consumer = 0, producer = 0;
};
RegisterSplit split_registers(const Gpu& gpu, const KernelSpec& spec) {
  constexpr std::int64_t kProducer = 40, kMostOfOne = 240, kUnit = 8, kEnough = 80;
  const KernelChoice& kernel = spec.kernel;
  const std::int64_t sums =
      kernel.warp.m * kernel.warp.n * sum_size(spec.problem.precision).count() / 4 / kWarpgroup;
  const std::int64_t launch = most_registers(gpu, kernel);
  if (launch >= sums + kEnough || launch <= kProducer) {
    return {};
  }
  const std::int64_t more = (launch - kProducer) / kernel.warps() / kUnit * kUnit;
  return {std::min(kMostOfOne, launch + more), kProducer};
}

struct InstructionWords {
  const char *sum, *operand, *constraint, *tail;
};
InstructionWords words_of(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kF16Acc16:
      return {"f16", "f16", "r", ", 1, 1"};
    case GpuPrecision::kBf16:
      return {"f32", "bf16", "f", ", 1, 1"};
    case GpuPrecision::kTf32:
      return {"f32", "tf32", "f", ", 1, 1"};
    case GpuPrecision::kS8:
      return {"s32", "s8", "r", ""};
    default:
      return {"f32", "f16", "f", ", 1, 1"};
  }
}

}  // namespace

std::string wgmma_name(const KernelSpec& spec) {
  const KernelChoice& kernel = spec.kernel;
  return fmt::format("wgmma_{}_{}x{}x{}_warpgroup{}x{}{}_stages{}_cluster{}{}", type_letters(spec),
                     kernel.block.m, kernel.block.n, kernel.block.k, kernel.warp.m, kernel.warp.n,
                     is_turned(kernel) ? "_turned" : "", kernel.stages, kernel.cluster,
                     epilogue_letters(spec));
}

std::string wgmma_text() {
  return std::string{kernel_text::tile_loader} + kernel_text::epilogue + kernel_text::wgmma_gemm;
}

std::string wgmma_instruction(const KernelSpec& spec) {
  const KernelChoice& kernel = spec.kernel;
  const GemmProblem& problem = spec.problem;
  const bool turned = is_turned(kernel);
  const bool across_a = problem.a != MatrixLayout::kRow;
  const bool across_b = problem.b != MatrixLayout::kColumn;
  const bool across_rows = turned ? across_b : across_a;
  const bool across_columns = turned ? across_a : across_b;
  const std::int64_t columns = turned ? kernel.fragment.m : kernel.fragment.n;
  const std::int64_t words = columns / 2 * sum_size(problem.precision).count() / 4;
  const KernelTypes types = types_of(problem);
  const InstructionWords say = words_of(problem.precision);
  std::string registers, outputs;
  for (std::int64_t i = 0; i < words; ++i) {
    registers += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    outputs += fmt::format("{}\"+{}\"(sums[{}])", i == 0 ? "" : ", ", say.constraint, i);
  }
  const bool has_transposes = operand_size(problem.precision) == Bytes{2};
  return fmt::format(
      "namespace mapsim_kernel {{\n"
      "template <>\nstruct WarpgroupMma<{0}, {1}, {2}, {3}, {4}, {5}> {{\n"
      "  __device__ __forceinline__ static void run(SumWord<{1}>::Type (&sums)[{6}], unsigned long "
      "long rows,\n      unsigned long long columns, bool adds) {{\n"
      "#if __CUDA_ARCH_FEAT_SM90_ALL\n"
      "    asm volatile(\n        \"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{7}, 0;\\n\"\n"
      "        \"wgmma.mma_async.sync.aligned.m64n{3}k{8}.{9}.{10}.{10} \"\n"
      "        \"{{{11}}}, \"\n        \"%{12}, %{13}, p{14}{15};\\n}}\"\n        : {16}\n"
      "        : \"l\"(rows), \"l\"(columns), \"r\"(static_cast<int>(adds)));\n"
      "#endif\n  }}\n}};\n}}  // namespace mapsim_kernel\n",
      types.operand, types.sum, problem.precision == GpuPrecision::kTf32, columns, across_rows,
      across_columns, words, words + 2, kernel.fragment.k, say.sum, say.operand, registers, words,
      words + 1, say.tail,
      has_transposes ? fmt::format(", {:d}, {:d}", across_rows, across_columns) : "", outputs);
}

std::string wgmma_constants(const Gpu& gpu, const KernelSpec& spec, const std::string& name) {
  const KernelChoice& kernel = spec.kernel;
  const RegisterSplit registers = split_registers(gpu, spec);
  SpecText text{name};
  add_constants(spec, text);
  text.number("kWarps", 4 * kernel.warps());  // those that multiply
  text.flag("kTurned", is_turned(kernel));
  text.number("kCluster", kernel.cluster);
  text.number("kConsumerRegisters", registers.consumer);
  text.number("kProducerRegisters", registers.producer);
  return text.text();
}

std::string wgmma_entry(const KernelSpec& spec, const std::string& name, std::int64_t threads) {
  const std::string cluster = fmt::format("__cluster_dims__({}, 1, 1) ", spec.kernel.cluster);
  return fmt::format(
      "extern \"C\" __global__ void {}__launch_bounds__({}, 1)\n"
      "{}(const __grid_constant__ mapsim_kernel::TmaArguments arguments) {{\n"
      "  mapsim_kernel::wgmma_gemm<mapsim_kernel::Spec>(arguments);\n"
      "}}\n",
      spec.kernel.cluster > 1 ? cluster : "", threads, name);
}

const char* map_type_name(GpuPrecision precision) {
  switch (precision) {
    case GpuPrecision::kBf16:
      return "CU_TENSOR_MAP_DATA_TYPE_BFLOAT16";
    case GpuPrecision::kTf32:
      return "CU_TENSOR_MAP_DATA_TYPE_TFLOAT32";
    case GpuPrecision::kS8:
      return "CU_TENSOR_MAP_DATA_TYPE_UINT8";
    default:
      return "CU_TENSOR_MAP_DATA_TYPE_FLOAT16";
  }
}

std::int64_t wgmma_blocks(const KernelSpec& spec) {
  const GemmProblem& problem = spec.problem;
  const KernelChoice& kernel = spec.kernel;
  return ceil_div(problem.m, kernel.block.m * kernel.cluster) * kernel.cluster *
         ceil_div(problem.n, kernel.block.n) * kernel.split_k * problem.batch;
}

std::optional<std::string> not_generated_wgmma(const KernelSpec& spec) {
  if (spec.naive) {
    return "naive kernels are of the path wmma";
  }
  if (is_window(spec)) {
    return "the TMA reads matrices here, no windows of a convolution: take the path mma";
  }
  if (auto reason = bad_epilogue(spec)) {
    return reason;
  }
  return bad_shape(spec);
}

std::optional<std::array<TensorMapPlan, 2>> tensor_maps(const KernelSpec& spec) {
  if (spec.kernel.path != GpuPath::kWgmma) {
    return std::nullopt;
  }
  const GemmProblem& problem = spec.problem;
  const KernelRows rows = rows_of(spec);
  const std::int64_t size = operand_size(problem.precision).count();
  std::array<TensorMapPlan, 2> plans;
  for (const bool of_a : {true, false}) {
    const bool along_k =
        of_a ? problem.a == MatrixLayout::kRow : problem.b == MatrixLayout::kColumn;
    const std::int64_t across = of_a ? problem.m : problem.n;
    const std::int64_t row = of_a ? rows.a : rows.b;
    const TileShape tile = tile_of(spec, of_a);
    TensorMapPlan& plan = plans[of_a ? 0 : 1];
    plan.precision = problem.precision;
    plan.extents = {along_k ? problem.k : across, along_k ? across : problem.k, problem.batch};
    plan.strides = {row * size, row * size * plan.extents[1]};
    plan.box = {tile.line_bytes / size, tile.lines / tile.parts, 1};
    plan.swizzle = tile.line_bytes;
  }
  return plans;
}

}  // namespace mapsim
