// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/request.hpp"

#include "arch/gpu_words.hpp"

namespace mapsim {

GpuRequest request_of(const std::string& precision, const std::string& layout) {
  GpuRequest request;
  request.precision = precision_named(precision);
  if (layout == "nchw") {
    request.layout = ConvLayout::kNchw;
  } else if (layout.size() == 2) {
    request.a = layout[0] == 't' ? MatrixLayout::kRow : MatrixLayout::kColumn;
    request.b = layout[1] == 'n' ? MatrixLayout::kColumn : MatrixLayout::kRow;
  }
  return request;
}

std::optional<std::string> wrong_layout(const std::string& layout, const Workload& workload) {
  if (layout.empty() || is_convolution(workload) == (layout.size() == 4)) {
    return std::nullopt;
  }
  return layout + ": " + workload.name +
         (layout.size() == 4 ? " is a GEMM; its operands are tn, nn, nt or tt"
                             : " is a convolution; its tensors are nhwc or nchw");
}

std::optional<GpuPath> path_named(std::string_view word) {
  for (const GpuPath path : {GpuPath::kWmma, GpuPath::kMma, GpuPath::kWgmma, GpuPath::kSimt}) {
    if (word == to_string(path)) {
      return path;
    }
  }
  return std::nullopt;
}

}  // namespace mapsim
