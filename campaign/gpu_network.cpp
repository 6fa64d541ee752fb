// SPDX-License-Identifier: Apache-2.0
#include "campaign/gpu_network.hpp"

#include <chrono>

#include "campaign/network.hpp"

namespace mapsim {
namespace {

void add_streams(const Gpu& gpu, const Network& network, const GpuNetworkOptions& options,
                 GpuNetworkResult& result) {
  for (const Stream& stream : network.streams) {
    result.streams.push_back(stream_on_gpu(gpu, options.layer, stream));
    const auto times = static_cast<double>(stream.count);
    result.stream_latency += result.streams.back().latency * times;
    result.stream_energy += result.streams.back().energy * times;
  }
  result.latency += result.stream_latency;
  result.energy += result.stream_energy;
}

}  // namespace

GpuNetworkResult search_network(const Gpu& gpu, const Network& network,
                                const GpuNetworkOptions& options) {
  GpuNetworkResult result;
  for (std::size_t i = 0; i < network.layers.size() && !result.interrupted; ++i) {
    options.progress(i);
    const NetworkLayer& layer = network.layers[i];
    const std::size_t known = first_like(network, i);
    if (known < i) {
      result.layers.push_back(result.layers[known]);
    } else {
      const auto start = std::chrono::steady_clock::now();
      result.layers.push_back(fastest_kernel(gpu, layer.workload, options.layer));
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
      result.layers.back().search_seconds = taken.count();
      result.search_seconds += taken.count();
      ++result.searched;
    }
    const GpuLayer& found = result.layers.back();
    const auto times = static_cast<double>(layer.count);
    if (found.kernel) {
      result.latency += found.kernel->total * times;
      result.energy += found.energy * times;
      result.macs += layer.count * layer.workload.macs();
    } else {
      ++result.missing;
    }
    result.interrupted = options.stop != nullptr && *options.stop;
  }
  result.missing += unread_layers(network);
  result.missing += static_cast<std::int64_t>(network.layers.size() - result.layers.size());
  add_streams(gpu, network, options, result);
  return result;
}

}  // namespace mapsim
