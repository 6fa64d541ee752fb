// SPDX-License-Identifier: Apache-2.0
#include "app/gpu_request.hpp"

#include <variant>

#include "app/arguments.hpp"

namespace mapsim {

GpuRequest request_of(const KernelArguments& arguments) {
  GpuRequest request;
  request.precision = named<GpuPrecision>(arguments.precision, static_cast<int>(kGpuPrecisions));
  const std::string& layout = arguments.layout;
  if (layout == "nchw") {
    request.layout = ConvLayout::kNchw;
  } else if (layout.size() == 2) {
    request.a = layout[0] == 't' ? MatrixLayout::kRow : MatrixLayout::kColumn;
    request.b = layout[1] == 'n' ? MatrixLayout::kColumn : MatrixLayout::kRow;
  }
  return request;
}

std::optional<GpuPath> path_of(const KernelArguments& arguments) {
  return named<GpuPath>(arguments.path, 4);
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
