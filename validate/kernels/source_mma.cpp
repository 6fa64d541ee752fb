// SPDX-License-Identifier: Apache-2.0
#include "validate/kernels/source_mma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "core/arithmetic.hpp"
#include "costmodel/gpu/shared_memory.hpp"
#include "validate/kernels/kernel_text.hpp"
#include "validate/kernels/source_parts.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kChunk = 16;     // bytes of the widest copy, and of a row of ldmatrix
constexpr std::int64_t kMmaBytes = 32;  // of K in one MMA instruction
constexpr std::int64_t kMmaSide = 16;   // rows and columns that a warp loads at once
constexpr std::int64_t kLeastColumns = 16, kLeastPad = 8;  // Patch::widest(), at least

std::int64_t output_bytes(const KernelSpec& spec) {
  return spec.epilogue.quantise ? 1 : spec.problem.output.count();
}

// Bytes that one instruction moves: what all first elements of rows and batches are multiples of.
struct Pieces {
  std::int64_t a, b, c;
};
Pieces pieces_of(const KernelSpec& spec) {
  const GemmProblem& problem = spec.problem;
  const KernelRows rows = rows_of(spec);
  const std::int64_t size = operand_size(problem.precision).count();
  const std::int64_t channels = is_window(spec) ? spec.conv->c : rows.a;
  return {std::gcd(kChunk, std::gcd(rows.a, channels) * size), std::gcd(kChunk, rows.b * size),
          std::gcd(kChunk, std::gcd(problem.n, rows.c) * output_bytes(spec))};
}

// Sums and outputs meet in this type; s8 stays whole where nothing but a bias is added.
std::string scalar_of(const KernelSpec& spec) {
  const bool whole = spec.problem.output == Bytes{4} && !spec.epilogue.quantise &&
                     spec.epilogue.activation == Activation::kNone;
  switch (spec.problem.precision) {
    case GpuPrecision::kF64:
      return "double";
    case GpuPrecision::kS8:
      return whole ? "int" : "float";
    default:
      return "float";
  }
}

Activation activation_of(const Epilogue& epilogue) {
  return epilogue.relu ? Activation::kRelu : epilogue.activation;
}

bool is_power_of_two(std::int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

std::optional<std::string> bad_tiles(const KernelSpec& spec) {
  const KernelChoice& kernel = spec.kernel;
  const GemmProblem& problem = spec.problem;
  const std::int64_t size = operand_size(problem.precision).count();
  if (kernel.stages < 2) {
    return "kernels of the path mma have two stages or more";
  }
  if (kernel.padding != 0) {
    return "kernels of the path mma swizzle their tiles: padding 0";
  }
  if (kernel.warp.m % kMmaSide != 0 || kernel.warp.n % kMmaSide != 0) {
    return fmt::format("warps of {}x{}; mma takes multiples of 16", kernel.warp.m, kernel.warp.n);
  }
  if (kernel.block.k * size % (2 * kMmaBytes) != 0) {
    return fmt::format("steps of {} along K; mma takes multiples of {}", kernel.block.k,
                       2 * kMmaBytes / size);
  }
  for (const bool of_a : {true, false}) {
    if (!is_power_of_two(shared_row_bytes(problem, kernel, of_a))) {
      return fmt::format("rows of {} B in shared memory; the swizzle takes powers of two",
                         shared_row_bytes(problem, kernel, of_a));
    }
  }
  const std::int64_t patch =
      kMmaSide * (kLeastColumns + kLeastPad) * sum_size(problem.precision).count() * kernel.warps();
  const std::int64_t shared = shared_tile_bytes(problem, kernel).count() * kernel.stages;
  if (shared < patch) {
    return fmt::format("{} B of shared memory; sums on their way out take {}", shared, patch);
  }
  return std::nullopt;
}

std::optional<std::string> bad_window(const KernelSpec& spec) {
  if (!is_window(spec)) {
    return std::nullopt;
  }
  const KernelConvolution& conv = *spec.conv;
  if (pieces_of(spec).a != kChunk) {
    return fmt::format(
        "{} channels are no multiple of {} elements, which mma kernels copy: pad them, or take the "
        "path wmma",
        conv.c, kChunk / operand_size(spec.problem.precision).count());
  }
  if (conv.n * conv.h * conv.w * conv.groups * conv.c > std::numeric_limits<std::int32_t>::max()) {
    return "an input of 2^31 elements or more";
  }
  return std::nullopt;
}

}  // namespace

std::string type_letters(const KernelSpec& spec) {
  const Pieces pieces = pieces_of(spec);
  const GemmProblem& problem = spec.problem;
  return fmt::format("{}_{}{}_to{}_align{}x{}x{}", to_string(problem.precision),
                     problem.a == MatrixLayout::kRow ? "t" : "n",
                     problem.b == MatrixLayout::kColumn ? "n" : "t", output_bytes(spec), pieces.a,
                     pieces.b, pieces.c);
}

std::string epilogue_letters(const KernelSpec& spec) {
  const Epilogue& epilogue = spec.epilogue;
  constexpr std::array kActivations{"", "_relu", "_gelu", "_silu"};
  return fmt::format("{}{}{}{}{}", spec.kernel.split_k > 1 ? "_split" : "",
                     epilogue.bias ? "_bias" : "",
                     epilogue.residual || spec.problem.adds_to_output ? "_residual" : "",
                     kActivations[static_cast<std::size_t>(activation_of(epilogue))],
                     epilogue.quantise ? "_quantise" : "");
}

std::string mma_name(const KernelSpec& spec) {
  const KernelChoice& kernel = spec.kernel;
  return fmt::format("mma_{}{}_{}x{}x{}_warp{}x{}_stages{}{}", is_window(spec) ? "conv_" : "",
                     type_letters(spec), kernel.block.m, kernel.block.n, kernel.block.k,
                     kernel.warp.m, kernel.warp.n, kernel.stages, epilogue_letters(spec));
}

std::string mma_text() {
  return std::string{kernel_text::device_mma} + kernel_text::tile_loader + kernel_text::epilogue +
         kernel_text::mma_gemm;
}

void add_constants(const KernelSpec& spec, SpecText& text) {
  const GemmProblem& problem = spec.problem;
  const KernelChoice& kernel = spec.kernel;
  const KernelTypes types = types_of(problem);
  const Pieces pieces = pieces_of(spec);
  text.type("Operand", types.operand);
  text.type("Sum", types.sum);
  text.type("Scalar", scalar_of(spec));
  text.type("Output", spec.epilogue.quantise ? "signed char" : types.output);
  text.flag("kRoundsToTf32", problem.precision == GpuPrecision::kTf32);
  text.flag("kAlongA", problem.a == MatrixLayout::kRow);
  text.flag("kAlongB", problem.b == MatrixLayout::kColumn);
  text.number("kBlockM", kernel.block.m), text.number("kBlockN", kernel.block.n);
  text.number("kBlockK", kernel.block.k);
  text.number("kWarpM", kernel.warp.m), text.number("kWarpN", kernel.warp.n);
  text.number("kThreads", kernel.threads());
  text.number("kStages", kernel.stages);
  text.flag("kSplit", kernel.split_k > 1);
  text.number("kPieceA", pieces.a), text.number("kPieceB", pieces.b);
  text.number("kPieceC", pieces.c);
  text.number("kPatchesBytes", shared_tile_bytes(problem, kernel).count() * kernel.stages);
  text.flag("kBias", spec.epilogue.bias);
  text.flag("kResidual", spec.epilogue.residual || problem.adds_to_output);
  text.number("kActivation", static_cast<std::int64_t>(activation_of(spec.epilogue)));
  text.flag("kQuantise", spec.epilogue.quantise);
  text.number("kReduceThreads", kReduceThreads);
}

std::string mma_constants(const Gpu& gpu, const KernelSpec& spec, const std::string& name) {
  SpecText text{name};
  add_constants(spec, text);
  text.flag("kAsync", gpu.compute_capability >= 80);
  text.flag("kConv", is_window(spec));
  text.number("kWarps", spec.kernel.warps());
  return text.text();
}

std::int64_t mma_reduce_blocks(const KernelSpec& spec) {
  const GemmProblem& problem = spec.problem;
  const std::int64_t sums = kChunk / sum_size(problem.precision).count();
  const std::int64_t count = std::gcd(pieces_of(spec).c / output_bytes(spec), sums);
  return ceil_div(problem.batch * problem.m * (problem.n / count), kReduceThreads);
}

std::optional<std::string> bad_epilogue(const KernelSpec& spec) {
  const Activation activation = activation_of(spec.epilogue);
  if (spec.problem.precision == GpuPrecision::kF64 &&
      (spec.epilogue.quantise || activation == Activation::kGelu ||
       activation == Activation::kSilu)) {
    return "GELU, SiLU and quantising are in fp32, not for f64";
  }
  if (spec.epilogue.residual && spec.problem.adds_to_output) {
    return "the problem adds to its output, which is a residual already; a second one is not "
           "written";
  }
  return std::nullopt;
}

std::optional<std::string> not_generated_mma(const KernelSpec& spec) {
  if (spec.naive) {
    return "naive kernels are of the path wmma";
  }
  for (const auto& bad : {bad_epilogue, bad_tiles}) {
    if (auto reason = bad(spec)) {
      return reason;
    }
  }
  return bad_window(spec);
}

void add_run_time(const KernelSpec& spec, KernelBuffers& buffers) {
  const GemmProblem& problem = spec.problem;
  const KernelRows rows = rows_of(spec);
  const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  KernelArguments& to = buffers.arguments;
  to.row_a = rows.a, to.row_b = rows.b, to.row_c = to.row_residual = rows.c;
  to.batch_residual = to.batch_c;
  to.m = narrow(problem.m), to.n = narrow(problem.n), to.k = narrow(problem.k);
  to.batch = narrow(problem.batch), to.slices = narrow(spec.kernel.split_k);
  to.raster = narrow(spec.kernel.raster);
  if (spec.conv) {
    const KernelConvolution& conv = *spec.conv;
    to.h = narrow(conv.h), to.w = narrow(conv.w), to.channels = narrow(conv.c);
    to.taps_h = narrow(conv.r), to.taps_w = narrow(conv.s);
    to.outputs_h = narrow(conv.p), to.outputs_w = narrow(conv.q);
    to.stride_h = narrow(conv.stride[0]), to.stride_w = narrow(conv.stride[1]);
    to.dilation_h = narrow(conv.dilation[0]), to.dilation_w = narrow(conv.dilation[1]);
    to.pad_h = narrow(conv.padding[0]), to.pad_w = narrow(conv.padding[1]);
  }
  buffers.c = Bytes{problem.batch * problem.m * problem.n * output_bytes(spec)};
  buffers.residual = spec.epilogue.residual ? buffers.c : Bytes{0};
  const std::int64_t sum = sum_size(problem.precision).count();
  const std::int64_t row = ceil_div(problem.n, kChunk / sum) * kChunk;
  buffers.workspace =
      Bytes{spec.kernel.split_k > 1 ? spec.kernel.split_k * problem.batch * problem.m * row : 0};
}

}  // namespace mapsim
