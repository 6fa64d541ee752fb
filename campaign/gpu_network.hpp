// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "campaign/gpu_layer.hpp"
#include "report/json.hpp"
#include "workloads/network.hpp"

namespace mapsim {

struct GpuNetworkOptions {
  GpuLayerOptions layer;  // of every one
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::size_t)> progress = [](std::size_t) {};  // before each layer
};

struct GpuNetworkResult {
  std::vector<GpuLayer> layers;    // of the network, in its order; short after an interrupt
  std::vector<GpuStream> streams;  // one of each
  // Each as often as it occurs, one after the other:
  Seconds latency{0};
  Picojoules energy{0};
  Seconds stream_latency{0};  // parts of these
  Picojoules stream_energy{0};
  std::int64_t macs = 0;
  double search_seconds = 0;  // wall-clock time of all of them
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
