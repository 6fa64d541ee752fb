// SPDX-License-Identifier: Apache-2.0
#include "app/one_kernel.hpp"

#include <algorithm>

#include "mapper/gpu/search.hpp"

namespace mapsim {

KernelChoice kernel_of(const Gpu& gpu, const GemmProblem& problem, const KernelWish& wish,
                       GpuPath path) {
  KernelChoice kernel;
  kernel.path = wish.path.value_or(path);
  kernel.block = {wish.block[0], wish.block[1], wish.block[2]};
  const bool wide = kernel.path == GpuPath::kWgmma;  // 64 rows of a warpgroup
  kernel.warp = {std::min<std::int64_t>(64, kernel.block.m),
                 wide ? kernel.block.n : std::min<std::int64_t>(64, kernel.block.n), 1};
  if (!wish.warp.empty()) {
    kernel.warp = {wish.warp[0], wish.warp[1], 1};
  }
  kernel.stages = wish.stages.value_or(gpu.compute_capability >= 80 ? 3 : 2);
  kernel.split_k = wish.split_k.value_or(1);
  kernel.raster = wish.raster.value_or(8);
  kernel.cluster = wish.cluster.value_or(1);
  kernel = completed(problem, kernel);
  if (!wish.fragment.empty()) {
    kernel.fragment = {wish.fragment[0], wish.fragment[1], wish.fragment[2]};
  }
  kernel.padding = wish.padding.value_or(kernel.padding);
  kernel.registers = wish.registers;
  kernel.spilled_bytes = wish.spilled;
  return kernel;
}

GpuRequest request_of(const std::string& precision, const std::string& layout,
                      const KernelWish& wish, const Workload& workload) {
  GpuRequest request = request_of(precision, layout);
  if (!request.precision) {
    request.precision = wish.precision;
  }
  if (layout.empty() && !is_convolution(workload)) {
    request.a = wish.a.value_or(request.a);
    request.b = wish.b.value_or(request.b);
  }
  return request;
}

}  // namespace mapsim
