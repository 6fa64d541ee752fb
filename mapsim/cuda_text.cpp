// SPDX-License-Identifier: Apache-2.0
#include "mapsim/cuda_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "costmodel/gpu/estimate.hpp"
#include "report/figures.hpp"
#include "report/gpu.hpp"
#include "validate/kernels/harness.hpp"
#include "validate/kernels/source_wgmma.hpp"
#include "validate/workload_problem.hpp"

namespace mapsim {

namespace {

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
         "// The same kernel runs other problems with other arguments, grids and workspaces, if "
         "the bytes of\n// a row of a, b and c are multiples of the values of align.\n";
}

std::string launch_line(const std::string& entry, const std::array<std::int64_t, 3>& grid,
                        std::int64_t threads, Bytes shared) {
  return fmt::format("//   {}<<<{}, {}, {}>>>(arguments)\n", entry, grid[0], threads,
                     shared.count());
}

std::string epilogue_text(const Epilogue& epilogue) {
  constexpr std::array kActivations{"", "; ReLU", "; GELU", "; SiLU"};
  return fmt::format("{}{}{}{}", epilogue.bias ? "; bias" : "",
                     epilogue.residual ? "; residual" : "",
                     kActivations[static_cast<std::size_t>(epilogue.relu ? Activation::kRelu
                                                                         : epilogue.activation)],
                     epilogue.quantise ? "; rounded to 8 bits" : "");
}

// Its time, and how far that is to be trusted.
std::string prediction_lines(const Gpu& gpu, const KernelSpec& spec) {
  const GpuCalibration calibration = gpu.calibration(spec.problem.precision, spec.kernel.path);
  const GpuEstimate estimated = estimate(gpu, calibration, spec.problem, spec.kernel);
  const double time = estimated.time.total.count();
  return fmt::format(
      "// Predicted for {}: {}, 90 % interval {} to {}, launched once with operands in DRAM, "
      "without the epilogue.\n//   {}\n",
      gpu.name, scaled(time, "s"), scaled(time * std::exp(-estimated.error), "s"),
      scaled(time * std::exp(estimated.error), "s"),
      trust_text(calibration, spec.problem.precision, estimated.time.total));
}

// What a host program needs to know.
std::string head(const Gpu& gpu, const Workload& workload, const KernelSpec& spec,
                 const KernelSource& source, const std::string& before) {
  const GemmProblem& p = spec.problem;
  const KernelBuffers buffers = kernel_buffers(spec);
  const std::string convolution = convolution_text(spec);
  std::string text = fmt::format(
      "// {}: C[{}][{}][{}] = A B, K = {}, {}, A by {}, B by {}{}{}{}\n", workload.name, p.batch,
      p.m, p.n, p.k, to_string(p.precision), p.a == MatrixLayout::kRow ? "rows" : "columns",
      p.b == MatrixLayout::kRow ? "rows" : "columns",
      convolution.empty() ? "" : "; convolution " + convolution,
      p.adds_to_output ? "; adds to C" : "", epilogue_text(spec.epilogue));
  text += fmt::format("// Kernel: {}\n{}", to_string(spec.kernel), prediction_lines(gpu, spec));
  if (!before.empty()) {
    text += fmt::format("// Not the first of the search: {}\n", before);
  }
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

std::string cuda_text(const Gpu& gpu, const Workload& workload, const KernelSpec& spec,
                      const std::string& before) {
  const KernelSource source = kernel_source(gpu, spec);
  return head(gpu, workload, spec, source, before) + source.text;
}

std::string cuda_program(const Gpu& gpu, const WrittenKernels& written) {
  std::vector<HarnessKernel> kernels;
  for (const KernelSpec& chosen : written.best) {
    const GpuCalibration calibration =
        gpu.calibration(chosen.problem.precision, chosen.kernel.path);
    const GpuTiming in_a_row{true, true};
    kernels.push_back(
        {chosen, estimate(gpu, calibration, chosen.problem, chosen.kernel, in_a_row).time.total});
  }
  return harness_source(gpu, kernels, before_text(written));
}

}  // namespace mapsim
