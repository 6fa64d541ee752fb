// SPDX-License-Identifier: Apache-2.0
#include "app/cmd_export_cuda.hpp"

#include <fmt/format.h>

#include "app/gpu_request.hpp"
#include "app/one_kernel.hpp"
#include "arch/gpu_load.hpp"
#include "mapper/gpu/search.hpp"
#include "validate/candidates.hpp"
#include "validate/kernels/harness.hpp"
#include "validate/workload_problem.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

constexpr std::int64_t kHarnessKernels = 5;

// The one that was asked for.
std::optional<KernelWish> read_wish(const ExportArguments& arguments) {
  if (arguments.mapping.empty()) {
    return std::nullopt;
  }
  const auto kernels = read_kernels(read_yaml(arguments.mapping));
  if (arguments.kernel > std::ssize(kernels)) {
    throw UsageError(
        fmt::format("--kernel {}: {} has {}", arguments.kernel, arguments.mapping, kernels.size()));
  }
  return kernels[static_cast<std::size_t>(arguments.kernel - 1)];
}

// The model's first choices on `path`, of different tiles; empty: none is generated.
std::vector<KernelSpec> best_kernels(const Gpu& gpu, const KernelSpec& problem, GpuPath path,
                                     std::size_t top) {
  CandidateOptions options;
  options.top = top;
  options.sample = 0;
  options.fixed = false;
  return choose_candidates(gpu, problem, kernel_set(gpu, problem.problem, path), options);
}

// The best kernel of `path`; without one, of the first path of wgmma, mma and wmma that has a text.
KernelChoice best_kernel(const Gpu& gpu, const Workload& workload, const KernelSpec& problem,
                         const std::string& path) {
  for (const GpuPath candidate : {GpuPath::kWgmma, GpuPath::kMma, GpuPath::kWmma}) {
    if (path.empty() || path == to_string(candidate)) {
      const auto best = best_kernels(gpu, problem, candidate, 1);
      if (!best.empty()) {
        return best.front().kernel;
      }
    }
  }
  throw UsageError(fmt::format("{}: no {} kernel on {}", workload.name,
                               path.empty() ? "wgmma, mma or wmma" : path, gpu.name));
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

Epilogue epilogue_of(const ExportArguments& a) {
  if (a.relu + a.gelu + a.silu > 1) {
    throw UsageError("--relu, --gelu and --silu: one of them at most");
  }
  Epilogue epilogue{a.bias, a.relu, a.residual};
  epilogue.activation = a.gelu ? Activation::kGelu : a.silu ? Activation::kSilu : Activation::kNone;
  epilogue.quantise = a.quantise;
  return epilogue;
}

// What the TMA copies, for cuTensorMapEncodeTiled.
std::string map_lines(const KernelSpec& spec) {
  const auto plans = tensor_maps(spec);
  if (!plans) {
    return "";
  }
  std::string text =
      "//   map_a, map_b: CUtensorMaps of three dimensions (innermost first) from "
      "cuTensorMapEncodeTiled, element strides 1, no interleave, no NaN fill:\n";
  for (const char* const name : {"a", "b"}) {
    const TensorMapPlan& plan = (*plans)[name[0] == 'a' ? 0 : 1];
    text += fmt::format(
        "//     {}: {}, globalDim {} x {} x {}, globalStrides {} and {} B, boxDim {} x {} x {}, "
        "CU_TENSOR_MAP_SWIZZLE_{}B\n",
        name, map_type_name(plan.precision), plan.extents[0], plan.extents[1], plan.extents[2],
        plan.strides[0], plan.strides[1], plan.box[0], plan.box[1], plan.box[2], plan.swizzle);
  }
  return text;
}

// What is a run-time argument of kernels of the paths mma and wgmma.
std::string argument_lines(const KernelSpec& spec) {
  if (spec.kernel.path == GpuPath::kWmma) {
    return "";
  }
  const KernelArguments a = kernel_buffers(spec).arguments;
  std::string text = fmt::format(
      "//   m = {}, n = {}, k = {}, batch = {}, slices = {}, raster = {}\n"
      "//   row_a = {}, row_b = {}, row_c = {}, row_residual = {}, batch_residual = {}\n"
      "//   alpha = 1, beta = 1, scale = 1: activation(alpha sum + bias + beta residual), rounded "
      "after times scale\n",
      a.m, a.n, a.k, a.batch, a.slices, a.raster, a.row_a, a.row_b, a.row_c, a.row_residual,
      a.batch_residual);
  if (spec.conv) {
    text += fmt::format(
        "//   h = {}, w = {}, channels = {}, taps_h = {}, taps_w = {}, outputs_h = {}, outputs_w = "
        "{}\n"
        "//   stride_h = {}, stride_w = {}, dilation_h = {}, dilation_w = {}, pad_h = {}, pad_w = "
        "{}\n",
        a.h, a.w, a.channels, a.taps_h, a.taps_w, a.outputs_h, a.outputs_w, a.stride_h, a.stride_w,
        a.dilation_h, a.dilation_w, a.pad_h, a.pad_w);
  }
  return text + map_lines(spec) +
         "// Other problems take other arguments, grids and workspaces, not another kernel: "
         "rows of a, b and c whose bytes are multiples of what stands behind align.\n";
}

std::string launch_line(const std::string& entry, const std::array<std::int64_t, 3>& grid,
                        std::int64_t threads, Bytes shared) {
  return fmt::format("//   {}<<<{}, {}, {}>>>(arguments)\n", entry, grid[0], threads,
                     shared.count());
}

// What a host program needs to know.
std::string head(const Gpu& gpu, const Workload& workload, const KernelSpec& spec,
                 const KernelSource& source) {
  const GemmProblem& p = spec.problem;
  const KernelBuffers buffers = kernel_buffers(spec);
  const std::string convolution = convolution_text(spec);
  std::string text = fmt::format(
      "// {}: C[{}][{}][{}] = A B, K = {}, {}, A by {}, B by {}{}{}{}{}\n", workload.name, p.batch,
      p.m, p.n, p.k, to_string(p.precision), p.a == MatrixLayout::kRow ? "rows" : "columns",
      p.b == MatrixLayout::kRow ? "rows" : "columns",
      convolution.empty() ? "" : "; convolution " + convolution,
      p.adds_to_output ? "; adds to C" : "", spec.epilogue.bias ? "; bias" : "",
      spec.epilogue.relu ? "; ReLU" : "");
  text += fmt::format("// Kernel: {}\n", to_string(spec.kernel));
  text += fmt::format(
      "// Compile: nvcc -std=c++17 -arch=sm_{}{} -cubin, or NVRTC.\n// Launch, one after the "
      "other:\n",
      gpu.compute_capability, source.is_for_one_chip ? "a" : "");
  text += launch_line(source.entry, source.grid, source.threads, source.shared);
  if (!source.reduce_entry.empty()) {
    text += launch_line(source.reduce_entry, source.reduce_grid, source.reduce_threads, Bytes{0});
  }
  if (source.shared > Bytes{48 * 1024}) {
    text += fmt::format("// The first needs cudaFuncAttributeMaxDynamicSharedMemorySize = {}.\n",
                        source.shared.count());
  }
  text +=
      "// For as many resident blocks as the model says: "
      "cudaFuncAttributePreferredSharedMemoryCarveout = 100.\n"
      "// arguments, by value, is " +
      std::string{spec.kernel.path == GpuPath::kWmma  ? "Arguments"
                  : spec.kernel.path == GpuPath::kMma ? "RunArguments"
                                                      : "TmaArguments"} +
      " of mapsim_kernel below; pointers to device memory at multiples of 32 B:\n";
  for (const auto& [name, bytes] :
       {std::pair{"a", buffers.a}, std::pair{"b", buffers.b}, std::pair{"bias", buffers.bias},
        std::pair{"c", buffers.c}, std::pair{"residual", buffers.residual},
        std::pair{"workspace", buffers.workspace}}) {
    if (bytes > Bytes{0}) {
      text += fmt::format("//   {}: {} B\n", name, bytes.count());
    }
  }
  const KernelArguments& strides = buffers.arguments;
  return text +
         fmt::format("//   batch_a = {}, batch_b = {}, batch_bias = {}, batch_c = {}\n",
                     strides.batch_a, strides.batch_b, strides.batch_bias, strides.batch_c) +
         argument_lines(spec);
}

}  // namespace

Answer export_harness(const Gpu& gpu, const Workload& workload,
                      const KernelListArguments& arguments) {
  if (!arguments.path.empty() && arguments.path != to_string(GpuPath::kMma)) {
    throw UsageError("--path " + arguments.path + ": --export cuda times kernels of the path mma");
  }
  const auto problem = kernel_problem(gpu, workload, request_of(arguments));
  if (const auto* reason = std::get_if<std::string>(&problem)) {
    throw UsageError(workload.name + ": " + *reason);
  }
  const auto& spec = std::get<KernelSpec>(problem);
  std::vector<HarnessKernel> kernels;
  const GpuCalibration calibration = gpu.calibration(spec.problem.precision, GpuPath::kMma);
  for (const KernelSpec& chosen :
       best_kernels(gpu, spec, GpuPath::kMma,
                    static_cast<std::size_t>(arguments.top.value_or(kHarnessKernels)))) {
    kernels.push_back(
        {chosen, estimate(gpu, calibration, chosen.problem, chosen.kernel).time.total});
  }
  if (kernels.empty()) {
    throw UsageError(workload.name + ": no mma kernel on " + gpu.name);
  }
  const bool has_wgmma = gpu.rate(spec.problem.precision, GpuPath::kWgmma) > 0;
  return {kDone, harness_source(gpu, kernels),
          has_wgmma ? "kernels of the path mma; of wgmma, which is faster, export cuda writes one"
                    : ""};
}

Answer export_cuda(const ExportArguments& arguments) {
  const Gpu gpu = load_gpu(arguments.arch);
  const Workload workload = load_workload(arguments.workload);
  refuse_layout(arguments.layout, workload);
  const std::optional<KernelWish> wish = read_wish(arguments);
  const auto problem = kernel_problem(
      gpu, workload,
      request_of(arguments.precision, arguments.layout, wish.value_or(KernelWish{}), workload));
  if (const auto* reason = std::get_if<std::string>(&problem)) {
    throw UsageError(arguments.workload + ": " + *reason);
  }
  KernelSpec spec = std::get<KernelSpec>(problem);
  spec.kernel = wish ? kernel_of(gpu, spec.problem, *wish,
                                 path_named(arguments.path).value_or(GpuPath::kWmma))
                     : best_kernel(gpu, workload, spec, arguments.path);
  spec.epilogue = epilogue_of(arguments);
  if (const auto reason = not_generated(gpu, spec)) {
    throw UsageError(to_string(spec.kernel) + ": " + *reason);
  }
  const KernelSource source = kernel_source(gpu, spec);
  return {kDone, head(gpu, workload, spec, source) + source.text};
}

}  // namespace mapsim
