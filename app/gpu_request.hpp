// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/gpu_arguments.hpp"
#include "costmodel/gpu/convolution.hpp"

namespace mapsim {

// The value whose to_string() is `word`, of the first `count`.
template <class Enum>
std::optional<Enum> named(const std::string& word, int count) {
  for (int i = 0; i < count; ++i) {
    if (word == to_string(static_cast<Enum>(i))) {
      return static_cast<Enum>(i);
    }
  }
  return std::nullopt;
}

GpuRequest request_of(const KernelArguments& arguments);
std::optional<GpuPath> path_of(const KernelArguments& arguments);

// gemm_forms(); throws UsageError where there is none.
std::vector<GemmForm> forms_of(const Gpu& gpu, const Workload& workload, const GpuRequest& request);

}  // namespace mapsim
