// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/gpu/search.hpp"

namespace mapsim {

// Why tools that take plain GEMMs cannot take this one; nullptr: they can.
inline const char* why_not_plain(const GemmProblem& problem) {
  return problem.stored_a   ? "an implicit GEMM reads windows of its input"
         : problem.pruned_b ? "the first kernel is one of sparse tensor cores (2:4)"
                            : nullptr;
}

// The ranked kernels that compute the form of the first, for such tools. None: they cannot take it.
// `result.ranked` is not empty.
inline std::vector<KernelChoice> plain_kernels(const GpuSearchResult& result) {
  const std::size_t form = result.ranked.front().form;
  std::vector<KernelChoice> kernels;
  for (const RankedKernel& ranked : result.ranked) {
    if (ranked.form == form && why_not_plain(result.forms[form].problem) == nullptr) {
      kernels.push_back(ranked.kernel);
    }
  }
  return kernels;
}

}  // namespace mapsim
