// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "arch/arch.hpp"
#include "tests/support/build_paths.hpp"
#include "workloads/conv.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

inline const std::string kNvdlaConfigs = source_path("configs/");

Arch shipped_engine(const std::string& name);

// An engine of x kernels and y channels with a small buffer, for searches that can be repeated the
// long way.
struct SmallEngine {
  std::int64_t kernels = 2, channels = 2;
  std::int64_t buffer_bytes = 256, banks = 8;
  std::int64_t sums = 64;  // of 32 b
  std::string timing{};    // ", winograd: true" and the like
  std::int64_t word = 1;   // of the memory, bytes
};
Arch small_engine(const SmallEngine& engine);

// 8-bit operands, 32-bit sums.
Workload layer(const ConvShape& shape);

}  // namespace mapsim
