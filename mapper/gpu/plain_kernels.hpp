// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/gpu/search.hpp"

namespace mapsim {

// The ranked kernels that compute the form of the first, for tools that take plain GEMMs. None: it
// is an implicit GEMM, which reads windows of its input. `result.ranked` is not empty.
inline std::vector<KernelChoice> plain_kernels(const GpuSearchResult& result) {
  const std::size_t form = result.ranked.front().form;
  std::vector<KernelChoice> kernels;
  for (const RankedKernel& ranked : result.ranked) {
    if (ranked.form == form && !result.forms[form].problem.stored_a) {
      kernels.push_back(ranked.kernel);
    }
  }
  return kernels;
}

}  // namespace mapsim
