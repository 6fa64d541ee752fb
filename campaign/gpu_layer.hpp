// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/roofline.hpp"
#include "mapper/gpu/search.hpp"
#include "workloads/network.hpp"

namespace mapsim {

// How layers are run on a GPU, in a network or a campaign.
struct GpuLayerOptions {
  GpuRequest request{};                     // operands of GEMMs are row A, column B
  std::optional<GpuPath> path{};            // absent: the fastest that the chip and the layer have
  bool adds_to_output = false;              // a tensor as large as the output is read and added
  const std::atomic<bool>* stop = nullptr;  // set by the caller: the search ends without a kernel
};

// One layer, once, by its fastest kernel.
struct GpuLayer {
  std::optional<RankedKernel> kernel{};  // absent: none, or the layer is no GEMM
  GemmForm form{};                       // of the kernel
  std::string problem;                   // why there is none
  std::int64_t considered = 0;           // kernels; 0: the layer is no GEMM for this chip
  double search_seconds = 0;             // wall-clock time
  // Parts in a fixed order: MACs, issue, ..., DRAM, constant power, passes.
  std::vector<std::pair<std::string, Picojoules>> parts;
  Picojoules energy{0};    // kernel and passes
  double utilization = 0;  // useful MACs / what the kernel's path could do in the whole time
};
// At `end` the best of the kernels tried so far is taken, and others may be faster.
GpuLayer fastest_kernel(const Gpu& gpu, const Workload& workload, const GpuLayerOptions& options,
                        SearchEnd end = SearchEnd::max());

// The roofline of a layer with a kernel: the operations of its MACs, each tensor of its GEMM once,
// the chip's peak at that precision, the DRAM.
struct GpuLayerRoofline {
  std::int64_t ops = 0;
  double bytes = 0;
  Peak peak;
};
GpuLayerRoofline gpu_layer_roofline(const Gpu& gpu, const Workload& workload,
                                    const GpuLayer& layer);

// The kernel as a file that `mapsim eval` and `export cuda` read; its comments state the GEMM that
// the layer became.
std::string kernel_file(const GpuLayer& layer);

// A pooling, a softmax or a sum: one launch, and its bytes at the DRAM's bandwidth.
struct GpuStream {
  Seconds latency{0};
  Picojoules energy{0};
};
GpuStream stream_on_gpu(const Gpu& gpu, const GpuLayerOptions& options, const Stream& stream);

}  // namespace mapsim
