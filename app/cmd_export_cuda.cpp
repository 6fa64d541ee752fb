// SPDX-License-Identifier: Apache-2.0
#include "app/cmd_export_cuda.hpp"

#include <fmt/format.h>

#include "app/gpu_request.hpp"
#include "app/one_kernel.hpp"
#include "arch/gpu_load.hpp"
#include "mapper/gpu/search.hpp"
#include "validate/candidates.hpp"
#include "validate/workload_problem.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

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

// The model's first choice.
KernelChoice best_kernel(const Gpu& gpu, const Workload& workload, const KernelSpec& problem) {
  CandidateOptions options;
  options.top = 1;
  options.sample = 0;
  options.fixed = false;
  const auto best =
      choose_candidates(gpu, problem, kernel_set(gpu, problem.problem, GpuPath::kWmma), options);
  if (best.empty()) {
    throw UsageError(workload.name + ": no legal WMMA kernel on " + gpu.name);
  }
  return best.front().kernel;
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
  text += fmt::format(
      "// Compile: nvcc -std=c++17 -arch=sm_{} -cubin, or NVRTC.\n// Launch, one after the "
      "other:\n",
      gpu.compute_capability);
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
      "// arguments, by value, is mapsim_kernel::Arguments below; pointers to device memory at "
      "multiples of 32 B:\n";
  for (const auto& [name, bytes] :
       {std::pair{"a", buffers.a}, std::pair{"b", buffers.b}, std::pair{"bias", buffers.bias},
        std::pair{"c", buffers.c}, std::pair{"workspace", buffers.workspace}}) {
    if (bytes > Bytes{0}) {
      text += fmt::format("//   {}: {} B\n", name, bytes.count());
    }
  }
  const KernelArguments& strides = buffers.arguments;
  return text + fmt::format("//   batch_a = {}, batch_b = {}, batch_bias = {}, batch_c = {}\n",
                            strides.batch_a, strides.batch_b, strides.batch_bias, strides.batch_c);
}

}  // namespace

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
  spec.kernel =
      wish ? kernel_of(gpu, spec.problem, *wish, GpuPath::kWmma) : best_kernel(gpu, workload, spec);
  spec.epilogue = {arguments.bias, arguments.relu};
  if (const auto reason = not_generated(gpu, spec)) {
    throw UsageError(to_string(spec.kernel) + ": " + *reason);
  }
  const KernelSource source = kernel_source(gpu, spec);
  return {kDone, head(gpu, workload, spec, source) + source.text};
}

}  // namespace mapsim
