// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "arch/gpu_load.hpp"
#include "core/rng.hpp"
#include "costmodel/gpu/kernel.hpp"
#include "tests/support/build_paths.hpp"

namespace mapsim {

inline Gpu chip(const std::string& name) {
  return load_gpu(source_path("configs/arch/") + name + ".yaml");
}

inline std::int64_t pick(Rng& rng, std::initializer_list<std::int64_t> values) {
  return values.begin()[rng.below(values.size())];
}

// The WMMA kernel of goldens/gpu/nvrtc_resources: rows of K for A; of K or N for B.
inline GemmProblem square(std::int64_t size, GpuPrecision precision) {
  GemmProblem problem;
  problem.m = problem.n = problem.k = size;
  problem.precision = precision;
  return problem;
}

}  // namespace mapsim
