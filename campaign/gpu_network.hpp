// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mapper/gpu/search.hpp"
#include "report/json.hpp"
#include "workloads/network.hpp"

namespace mapsim {

struct GpuNetworkOptions {
  GpuRequest request;             // of every layer; operands of GEMMs are row A, column B
  std::optional<GpuPath> path{};  // absent: the fastest that the chip and the layer have
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::size_t)> progress = [](std::size_t) {};  // before each layer
};

// One layer, once.
struct GpuLayer {
  std::optional<RankedKernel> kernel{};  // the fastest; absent: none, or no GEMM
  std::vector<std::string> notes;        // of its form
  std::string problem;                   // why there is none
  Picojoules energy{0};                  // kernel and passes
};

// A pooling, a softmax, a sum: a launch and its bytes at DRAM's pace.
struct GpuStream {
  Seconds latency{0};
  Picojoules energy{0};
};
GpuStream stream_on_gpu(const Gpu& gpu, const GpuCalibration& calibration, const Stream& stream);

struct GpuNetworkResult {
  std::vector<GpuLayer> layers;    // of the network, in its order; short after an interrupt
  std::vector<GpuStream> streams;  // one of each
  // Each as often as it occurs, one after the other:
  Seconds latency{0};
  Picojoules energy{0};
  Seconds stream_latency{0};  // parts of these
  Picojoules stream_energy{0};
  std::int64_t macs = 0;
  std::int64_t searched = 0;  // layers that differ in more than their names
  std::int64_t missing = 0;   // without a kernel; in no sum
  bool interrupted = false;
};

// Searches the kernels of every distinct layer once.
GpuNetworkResult search_network(const Gpu& gpu, const Network& network,
                                const GpuNetworkOptions& options);

// For people: layers, slowest first; what only moves data; totals, and how far to trust them.
std::string gpu_network_text(const Gpu& gpu, const Network& network,
                             const GpuNetworkResult& result);
// For programs (docs/results.md).
std::string gpu_network_json(const Provenance& origin, const Gpu& gpu, const Network& network,
                             const GpuNetworkResult& result);

}  // namespace mapsim
