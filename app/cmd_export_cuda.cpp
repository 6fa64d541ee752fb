// SPDX-License-Identifier: Apache-2.0
#include "app/cmd_export_cuda.hpp"

#include <fmt/format.h>

#include "app/gpu_request.hpp"
#include "app/one_kernel.hpp"
#include "arch/gpu_load.hpp"
#include "mapsim/cuda_text.hpp"
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

Epilogue epilogue_of(const ExportArguments& a) {
  if (a.relu + a.gelu + a.silu > 1) {
    throw UsageError("--relu, --gelu and --silu: one of them at most");
  }
  Epilogue epilogue{a.bias, a.relu, a.residual};
  epilogue.activation = a.gelu ? Activation::kGelu : a.silu ? Activation::kSilu : Activation::kNone;
  epilogue.quantise = a.quantise;
  return epilogue;
}

}  // namespace

Answer export_harness(const Gpu& gpu, const Workload& workload,
                      const KernelListArguments& arguments) {
  const std::optional<GpuPath> path = path_of(arguments);
  if (path && path != GpuPath::kMma && path != GpuPath::kWgmma) {
    throw UsageError("--path " + arguments.path +
                     ": --export cuda times kernels of the paths mma and wgmma");
  }
  WrittenRequest request{gpu, workload, request_of(arguments), path};
  request.top = static_cast<std::size_t>(arguments.top.value_or(kHarnessKernels));
  request.run_time_sizes = true;
  const auto written = written_kernels(request);
  if (const auto* reason = std::get_if<std::string>(&written)) {
    throw UsageError(workload.name + ": " + *reason);
  }
  const auto& best = std::get<WrittenKernels>(written);
  const std::string before = before_text(best);
  return {kDone, cuda_program(gpu, best),
          before.empty() ? "" : to_string(best.best.front().kernel) + ": " + before};
}

Answer export_cuda(const ExportArguments& arguments) {
  const Gpu gpu = load_gpu(arguments.arch);
  const Workload workload = load_workload(arguments.workload);
  refuse_layout(arguments.layout, workload);
  const std::optional<KernelWish> wish = read_wish(arguments);
  const GpuRequest request =
      request_of(arguments.precision, arguments.layout, wish.value_or(KernelWish{}), workload);
  const std::optional<GpuPath> path = path_named(arguments.path);
  KernelSpec spec;
  std::string before;
  if (wish) {
    const auto problem = kernel_problem(gpu, workload, request);
    if (const auto* reason = std::get_if<std::string>(&problem)) {
      throw UsageError(arguments.workload + ": " + *reason);
    }
    spec = std::get<KernelSpec>(problem);
    spec.kernel = kernel_of(gpu, spec.problem, *wish, path.value_or(GpuPath::kWmma));
    spec.epilogue = epilogue_of(arguments);
    if (const auto reason = not_generated(gpu, spec)) {
      throw UsageError(to_string(spec.kernel) + ": " + *reason);
    }
  } else {
    const auto written = written_kernels({gpu, workload, request, path, epilogue_of(arguments)});
    if (const auto* reason = std::get_if<std::string>(&written)) {
      throw UsageError(arguments.workload + ": " + *reason);
    }
    const auto& kernels = std::get<WrittenKernels>(written);
    spec = kernels.best.front();
    before = before_text(kernels);
  }
  return {kDone, cuda_text(gpu, workload, spec, before),
          before.empty() ? "" : to_string(spec.kernel) + ": " + before};
}

}  // namespace mapsim
