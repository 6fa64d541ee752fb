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
  std::vector<GpuLayer> layers;    // in the network's order; shorter after an interrupt
  std::vector<GpuStream> streams;  // one of each
  // Totals over layers and streams, times their counts, one after the other:
  Seconds latency{0};
  Picojoules energy{0};
  Seconds stream_latency{0};  // their parts of the totals
  Picojoules stream_energy{0};
  std::int64_t macs = 0;
  double search_seconds = 0;  // wall-clock time of all of them
  std::int64_t searched = 0;  // distinct layers, whatever their names
  std::int64_t missing = 0;   // layers without a kernel, which are in no sum
  bool interrupted = false;
};

// Searches the kernels of every distinct layer once.
GpuNetworkResult search_network(const Gpu& gpu, const Network& network,
                                const GpuNetworkOptions& options);

// For people: layers, slowest first; operators that only move data; totals and their uncertainty.
std::string gpu_network_text(const Gpu& gpu, const Network& network,
                             const GpuNetworkResult& result);
// For programs (docs/results.md).
std::string gpu_network_json(const Provenance& origin, const Gpu& gpu, const Network& network,
                             const GpuNetworkResult& result);

}  // namespace mapsim
