// SPDX-License-Identifier: Apache-2.0
#include "validate/kernels/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/arithmetic.hpp"
#include "costmodel/gpu/shared_memory.hpp"
#include "validate/kernels/kernel_text.hpp"
#include "validate/kernels/source_mma.hpp"
#include "validate/kernels/source_parts.hpp"
#include "validate/kernels/source_wgmma.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kPatchPad = 32;  // bytes: Writer::kPad of gemm.cuh

// The tiles that run: a naive kernel's block is one fragment.
KernelChoice tiles_of(const KernelSpec& spec) {
  KernelChoice kernel = spec.kernel;
  if (spec.naive) {
    kernel.block = kernel.warp = kernel.fragment;
    kernel.stages = kernel.split_k = 1;
    kernel.padding = 0;
  }
  return kernel;
}

std::int64_t patch_bytes(const GemmProblem& problem, const GemmTile& fragment, bool pads) {
  const std::int64_t line = fragment.n * sum_size(problem.precision).count();
  return fragment.m * (line + (pads ? kPatchPad : 0));
}

// Whether a naive kernel needs a tile in shared memory: what it reads is not in whole fragments as
// WMMA reads them, in rows of multiples of 16 B.
bool is_guarded(const KernelSpec& spec) {
  const GemmProblem& p = spec.problem;
  const GemmTile& fragment = spec.kernel.fragment;
  const std::int64_t size = operand_size(p.precision).count();
  const KernelRows rows = rows_of(spec);
  return (spec.conv && !is_plain(*spec.conv)) || p.m % fragment.m != 0 || p.n % fragment.n != 0 ||
         p.k % fragment.k != 0 || rows.a * size % 16 != 0 || rows.b * size % 16 != 0;
}

Bytes shared_of(const KernelSpec& spec) {
  if (spec.naive) {
    const std::int64_t patch = patch_bytes(spec.problem, spec.kernel.fragment, true);
    const Bytes tiles = shared_tile_bytes(spec.problem, tiles_of(spec));
    return is_guarded(spec) ? std::max(Bytes{patch}, tiles) : Bytes{patch};
  }
  return shared_bytes(spec.problem, spec.kernel);
}

std::int64_t blocks_of(const KernelSpec& spec) {
  const KernelChoice kernel = tiles_of(spec);
  if (kernel.path == GpuPath::kWgmma) {
    return wgmma_blocks(spec);
  }
  return ceil_div(spec.problem.m, kernel.block.m) * ceil_div(spec.problem.n, kernel.block.n) *
         kernel.split_k * spec.problem.batch;
}

// One thread of the reduction takes 16 B, or less where rows are no multiple of that.
std::int64_t reduce_blocks(const GemmProblem& problem) {
  std::int64_t count = 16 / sum_size(problem.precision).count();
  while (problem.n % count != 0) {
    count /= 2;
  }
  return ceil_div(problem.batch * problem.m * problem.n, count * kReduceThreads);
}

const char* instructions_of(GpuPath path) {
  return path == GpuPath::kMma ? "mma.sync" : path == GpuPath::kWgmma ? "wgmma" : "WMMA";
}

// What a profiler tells kernels apart by.
std::string name_of(const KernelSpec& spec) {
  if (spec.kernel.path == GpuPath::kMma) {
    return mma_name(spec);
  }
  if (spec.kernel.path == GpuPath::kWgmma) {
    return wgmma_name(spec);
  }
  const KernelChoice kernel = tiles_of(spec);
  return fmt::format("{}{}_{}x{}x{}_warp{}x{}_frag{}x{}x{}_stages{}_split{}_raster{}_pad{}",
                     spec.naive  ? "naive_"
                     : spec.conv ? "conv_"
                                 : "",
                     to_string(spec.problem.precision), kernel.block.m, kernel.block.n,
                     kernel.block.k, kernel.warp.m, kernel.warp.n, kernel.fragment.m,
                     kernel.fragment.n, kernel.fragment.k, kernel.stages, kernel.split_k,
                     kernel.raster, kernel.padding);
}

std::optional<std::string> bad_convolution(const GemmProblem& problem,
                                           const KernelConvolution& conv) {
  for (const std::int64_t extent :
       {conv.n, conv.h, conv.w, conv.c, conv.k, conv.r, conv.s, conv.p, conv.q, conv.groups,
        conv.stride[0], conv.stride[1], conv.dilation[0], conv.dilation[1]}) {
    if (extent < 1 || extent > kMost) {
      return fmt::format("a convolution has extents, strides and dilations from 1 to 2^31, not {}",
                         extent);
    }
  }
  if (problem.m != conv.n * conv.p * conv.q || problem.n != conv.k ||
      problem.k != conv.r * conv.s * conv.c || problem.batch != conv.groups) {
    return fmt::format(
        "{} x {} x {} in {} batches is not the GEMM of the convolution: {} x {} x {} in {}",
        problem.m, problem.n, problem.k, problem.batch, conv.n * conv.p * conv.q, conv.k,
        conv.r * conv.s * conv.c, conv.groups);
  }
  if (problem.a != MatrixLayout::kRow || problem.b != MatrixLayout::kColumn) {
    return "a convolution's A is row-major, its B column-major";
  }
  if (std::min(conv.padding[0], conv.padding[1]) < 0) {
    return "padding begins at 0";
  }
  return std::nullopt;
}

std::optional<std::string> bad_rows(const GemmProblem& problem) {
  const std::int64_t a = problem.a == MatrixLayout::kRow ? problem.k : problem.m;
  const std::int64_t b = problem.b == MatrixLayout::kColumn ? problem.k : problem.n;
  if (run_of_a(problem) < a || run_of_b(problem) < b) {
    return fmt::format("rows of {} and {} elements lie {} and {} apart", a, b, run_of_a(problem),
                       run_of_b(problem));
  }
  return std::nullopt;
}

std::optional<std::string> bad_naive(const KernelSpec& spec) {
  const GemmProblem& problem = spec.problem;
  const GemmTile& fragment = spec.kernel.fragment;
  const auto fragments = wmma_fragments(problem.precision);
  if (std::find(fragments.begin(), fragments.end(), fragment) == fragments.end()) {
    return fmt::format("no fragment {}x{}x{} in {}", fragment.m, fragment.n, fragment.k,
                       to_string(problem.precision));
  }
  return std::nullopt;
}

// What WMMA kernels alone do not have.
std::optional<std::string> not_generated_wmma(const KernelSpec& spec) {
  if (spec.epilogue.residual || spec.epilogue.activation != Activation::kNone ||
      spec.epilogue.quantise) {
    return "kernels of the path wmma add a bias and take the ReLU; for another epilogue take mma";
  }
  const std::int64_t patch = patch_bytes(spec.problem, spec.kernel.fragment, false);
  if (shared_of(spec).count() < patch) {
    return fmt::format("{} B of shared memory; a fragment of sums on its way out takes {}",
                       shared_of(spec).count(), patch);
  }
  return std::nullopt;
}

// The whole `Spec` of the kernel text.
std::string constants(const Gpu& gpu, const KernelSpec& spec, const std::string& name) {
  const GemmProblem& problem = spec.problem;
  const KernelChoice kernel = tiles_of(spec);
  const KernelTypes types = types_of(problem);
  const KernelConvolution conv = spec.conv.value_or(KernelConvolution{});
  const KernelRows rows = rows_of(spec);
  const bool along_a = problem.a == MatrixLayout::kRow;
  const bool along_b = problem.b == MatrixLayout::kColumn;
  SpecText text{name};
  text.type("Operand", types.operand);
  text.type("Fragment", types.fragment);
  text.type("Sum", types.sum);
  text.type("Output", types.output);
  text.type("LayoutA", along_a ? "wmma::row_major" : "wmma::col_major");
  text.type("LayoutB", along_b ? "wmma::col_major" : "wmma::row_major");
  text.flag("kRoundsToTf32", problem.precision == GpuPrecision::kTf32);
  text.flag("kAsync", gpu.compute_capability >= 80);
  text.number("kM", problem.m), text.number("kN", problem.n), text.number("kK", problem.k);
  text.wide("kBatch", problem.batch);
  text.flag("kAlongA", along_a), text.flag("kAlongB", along_b);
  text.wide("kRunA", rows.a), text.wide("kRunB", rows.b), text.wide("kRowC", rows.c);
  text.number("kBlockM", kernel.block.m), text.number("kBlockN", kernel.block.n);
  text.number("kBlockK", kernel.block.k);
  text.number("kWarpM", kernel.warp.m), text.number("kWarpN", kernel.warp.n);
  text.number("kFragM", kernel.fragment.m), text.number("kFragN", kernel.fragment.n);
  text.number("kFragK", kernel.fragment.k);
  text.number("kStages", kernel.stages), text.number("kSplit", kernel.split_k);
  text.number("kRaster", kernel.raster), text.number("kPadding", kernel.padding);
  text.flag("kBias", spec.epilogue.bias), text.flag("kRelu", spec.epilogue.relu);
  text.flag("kAdds", problem.adds_to_output);
  text.number("kReduceThreads", kReduceThreads);
  text.flag("kNaive", spec.naive), text.flag("kGuarded", spec.naive && is_guarded(spec));
  text.number("kPatchBytes", spec.naive ? shared_of(spec).count() : 0);
  text.flag("kConv", spec.conv && !is_plain(*spec.conv));
  text.number("kH", conv.h), text.number("kW", conv.w), text.number("kC", conv.c);
  text.number("kR", conv.r), text.number("kS", conv.s), text.number("kP", conv.p),
      text.number("kQ", conv.q);
  text.number("kStrideH", conv.stride[0]), text.number("kStrideW", conv.stride[1]);
  text.number("kDilationH", conv.dilation[0]), text.number("kDilationW", conv.dilation[1]);
  text.number("kPadH", conv.padding[0]), text.number("kPadW", conv.padding[1]);
  return text.text();
}

}  // namespace

std::string spec_text(const Gpu& gpu, const KernelSpec& spec, const std::string& name) {
  return fmt::format("namespace mapsim_kernel {{\n{}}}  // namespace mapsim_kernel\n",
                     spec.kernel.path == GpuPath::kMma     ? mma_constants(gpu, spec, name)
                     : spec.kernel.path == GpuPath::kWgmma ? wgmma_constants(gpu, spec, name)
                                                           : constants(gpu, spec, name));
}

std::optional<std::string> not_generated(const Gpu& gpu, const KernelSpec& spec) {
  const GemmProblem& problem = spec.problem;
  const GpuPath path = spec.kernel.path;
  if (path == GpuPath::kSimt) {
    return "kernels are written for the paths wmma, mma and wgmma, not simt";
  }
  constexpr std::int64_t kLeastCapability = 75;  // of ldmatrix and mma.m16n8k8
  if (gpu.compute_capability < kLeastCapability) {
    return fmt::format("kernels are written for sm_75 and later; {} is sm_{}", gpu.name,
                       gpu.compute_capability);
  }
  if (gpu.rate(problem.precision, path) <= 0) {
    return fmt::format("{} has no {} of {}", gpu.name, instructions_of(path),
                       to_string(problem.precision));
  }
  if (types_of(problem).operand.empty()) {
    return fmt::format("kernels are not written for {}", to_string(problem.precision));
  }
  if (types_of(problem).output.empty() && !spec.epilogue.quantise) {
    return fmt::format("no output of {} B of {}", problem.output.count(),
                       to_string(problem.precision));
  }
  if (std::max({problem.m, problem.n, problem.k}) > kMost ||
      std::min({problem.m, problem.n, problem.k, problem.batch}) < 1) {
    return "extents from 1 to 2^31";
  }
  if (auto reason = spec.conv ? bad_convolution(problem, *spec.conv) : bad_rows(problem)) {
    return reason;
  }
  if (auto reason = spec.naive ? bad_naive(spec) : illegal(gpu, problem, spec.kernel)) {
    return reason;
  }
  if (blocks_of(spec) > kMost || reduce_blocks(problem) > kMost) {
    return "a grid has at most 2^31 - 1 blocks";
  }
  return path == GpuPath::kMma     ? not_generated_mma(spec)
         : path == GpuPath::kWgmma ? not_generated_wgmma(spec)
                                   : not_generated_wmma(spec);
}

KernelBuffers kernel_buffers(const KernelSpec& spec) {
  const GemmProblem& problem = spec.problem;
  const std::int64_t size = operand_size(problem.precision).count();
  const std::int64_t sum = sum_size(problem.precision).count();
  const KernelRows rows = rows_of(spec);
  KernelBuffers result;
  KernelArguments& strides = result.arguments;
  if (spec.conv) {
    const KernelConvolution& conv = *spec.conv;
    strides.batch_a = conv.c;
    strides.batch_b = conv.k * rows.b;
    strides.batch_c = conv.k;
    result.a = Bytes{conv.n * conv.h * conv.w * rows.a * size};
  } else {
    strides.batch_a = rows.a * (problem.a == MatrixLayout::kRow ? problem.m : problem.k);
    strides.batch_b = rows.b * (problem.b == MatrixLayout::kColumn ? problem.n : problem.k);
    strides.batch_c = problem.m * problem.n;
    result.a = Bytes{problem.batch * strides.batch_a * size};
  }
  strides.batch_bias = spec.epilogue.bias ? problem.n : 0;
  result.b = Bytes{problem.batch * strides.batch_b * size};
  result.bias = Bytes{problem.batch * strides.batch_bias * sum};
  result.c = Bytes{problem.batch * problem.m * problem.n * problem.output.count()};
  if (spec.kernel.path != GpuPath::kWmma) {
    add_run_time(spec, result);
    return result;
  }
  const std::int64_t slices = tiles_of(spec).split_k;
  result.workspace = Bytes{slices > 1 ? slices * problem.batch * problem.m * problem.n * sum : 0};
  return result;
}

std::string kernel_entry(const KernelSpec& spec) { return "mapsim_" + name_of(spec); }

std::string kernel_body(const KernelSpec& spec) {
  return std::string{kernel_text::device} + kernel_text::common +
         (spec.kernel.path == GpuPath::kMma ? mma_text()
          : spec.kernel.path == GpuPath::kWgmma
              ? kernel_text::device_wgmma + wgmma_instruction(spec) + wgmma_text()
              : std::string{kernel_text::operand} + kernel_text::gemm);
}

KernelSource kernel_source(const Gpu& gpu, const KernelSpec& spec) {
  const KernelChoice kernel = tiles_of(spec);
  KernelSource source;
  const std::string tiles = name_of(spec);
  source.entry = kernel_entry(spec);
  source.threads = kernel.threads();
  source.grid = {blocks_of(spec), 1, 1};
  source.shared = shared_of(spec);
  source.workspace = kernel_buffers(spec).workspace;
  const bool is_wmma = kernel.path == GpuPath::kWmma;
  source.is_for_one_chip = kernel.path == GpuPath::kWgmma;
  const char* const argument = is_wmma ? "Arguments" : "RunArguments";
  source.text = "// " + (is_wmma ? to_string(kernel) : tiles) + "\n" + kernel_body(spec) +
                spec_text(gpu, spec, "Spec") +
                (kernel.path == GpuPath::kWgmma ? wgmma_entry(spec, source.entry, source.threads)
                                                : entry_text(argument, source.entry, source.threads,
                                                             !is_wmma     ? "mma_gemm"
                                                             : spec.naive ? "naive"
                                                                          : "gemm"));
  if (kernel.split_k > 1) {
    source.reduce_entry = "mapsim_reduce_" + tiles;
    source.reduce_threads = kReduceThreads;
    source.reduce_grid = {is_wmma ? reduce_blocks(spec.problem) : mma_reduce_blocks(spec), 1, 1};
    source.text += entry_text(argument, source.reduce_entry, source.reduce_threads,
                              is_wmma ? "reduce" : "reduce_slices");
  }
  return source;
}

}  // namespace mapsim
