// SPDX-License-Identifier: Apache-2.0
#include "app/gpu_request.hpp"

#include <fmt/format.h>

#include <variant>

namespace mapsim {

namespace {

constexpr const char* kOnlyGpu = "only for a GPU, and ARCH is none";

}  // namespace

void refuse_layout(const std::string& layout, const Workload& workload) {
  if (const auto wrong = wrong_layout(layout, workload)) {
    throw UsageError("--layout " + *wrong);
  }
}

void refuse(const GivenOptions& given, const char* why) {
  for (const auto& [is_given, option] : given) {
    if (is_given) {
      throw UsageError(fmt::format("{}: {}", option, why));
    }
  }
}

void refuse_kernel_options(const KernelListArguments& a) {
  refuse({{a.top.has_value(), "--top"},
          {!a.precision.empty(), "--precision"},
          {!a.path.empty(), "--path"},
          {!a.layout.empty(), "--layout"},
          {!a.format.empty(), "--export"}},
         kOnlyGpu);
}

void refuse_kernel_options(const OneKernelArguments& a) {
  refuse({{!a.precision.empty(), "--precision"},
          {!a.path.empty(), "--path"},
          {!a.layout.empty(), "--layout"},
          {!a.block.empty(), "--block"},
          {!a.warp.empty(), "--warp"},
          {!a.fragment.empty(), "--fragment"},
          {a.stages.has_value(), "--stages"},
          {a.split_k.has_value(), "--split-k"},
          {a.raster.has_value(), "--raster"},
          {a.padding.has_value(), "--padding"},
          {a.cluster.has_value(), "--cluster"},
          {a.registers.has_value(), "--registers"}},
         kOnlyGpu);
}

void refuse_mapspace_options(GivenOptions given, const ObjectiveArguments& arguments,
                             const std::string& strategy) {
  const Objective& objective = arguments.objective;
  const bool by_time = !objective.function.uses_energy();
  given.insert(given.end(), {{arguments.chosen && !by_time, "--objective"},
                             {objective.mode != LatencyMode::kSteady, "--latency"},
                             {objective.max_energy.has_value(), "--max-energy"},
                             {!arguments.max_latency.empty(), "--max-latency"},
                             {strategy != "exact", "--strategy"}});
  refuse(given, "not for a GPU, whose kernels are ranked by time");
}

GpuRequest request_of(const KernelListArguments& arguments) {
  return request_of(arguments.precision, arguments.layout);
}

std::optional<GpuPath> path_of(const KernelListArguments& arguments) {
  return path_named(arguments.path);
}

std::vector<GemmForm> forms_of(const Gpu& gpu, const Workload& workload,
                               const GpuRequest& request) {
  auto forms = gemm_forms(gpu, workload, request);
  if (const auto* reason = std::get_if<std::string>(&forms)) {
    throw UsageError(*reason);
  }
  return std::get<0>(std::move(forms));
}

}  // namespace mapsim
