// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "workloads/precision.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

struct GemmShape {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  std::optional<std::int64_t> batch;  // given: a batched GEMM with dim H
  bool bias = false;
};

// Z[M][N] += A[M][K] * B[K][N], or with [H] in front of each. A is the input, B the weight. Throws
// std::invalid_argument for extents below 1 or more than 2^53 multiply-accumulates.
Workload gemm(const std::string& name, const GemmShape& shape, const Precision& precision = {});

}  // namespace mapsim
