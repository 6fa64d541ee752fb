// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "core/document.hpp"
#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// Kernels as `mapsim search --export json` writes them (docs/results.md), or by hand, in YAML:
//   kernel: {block: [128, 128, 32], warp: [64, 64], stages: 4}
// a whole result, whose kernels are all read, in their order; one of its entries; or the kernel
// alone. `block` and `warp` must be there; what else is absent is as in KernelChoice, fragments
// the first that WMMA has for `precision`. Whether it can run is for illegal(). Throws ConfigError.
std::vector<KernelChoice> read_kernels(const Document& document, GpuPrecision precision);

}  // namespace mapsim
