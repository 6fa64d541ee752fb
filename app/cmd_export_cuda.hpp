// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "app/command.hpp"
#include "arch/gpu.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// mapsim export cuda: the text of a kernel, with what it takes to launch it. Throws UsageError,
// ConfigError.
Answer export_cuda(const ExportArguments& arguments);

// mapsim search --export cuda: the best kernels, of different tiles, in a program that times them.
// Throws UsageError.
Answer export_harness(const Gpu& gpu, const Workload& workload,
                      const KernelListArguments& arguments);

}  // namespace mapsim
