// SPDX-License-Identifier: Apache-2.0
#include "campaign/gpu_network.hpp"

#include <algorithm>
#include <variant>

namespace mapsim {
namespace {

// mW x s = 1e9 pJ.
Picojoules over(Milliwatts power, Seconds time) {
  return Picojoules{power.count() * time.count() * 1e9};
}

Picojoules of_passes(const Gpu& gpu, const RankedKernel& kernel, const GemmForm& form) {
  double bytes = 0;
  for (const ExtraPass& pass : form.passes) {
    bytes += pass.bytes;
  }
  return Picojoules{8 * bytes * gpu.energy.dram.count()} + over(gpu.energy.constant, kernel.passes);
}

GpuLayer search_layer(const Gpu& gpu, const Workload& workload, const GpuNetworkOptions& options) {
  GpuLayer layer;
  const auto forms = gemm_forms(gpu, workload, options.request);
  if (const auto* reason = std::get_if<std::string>(&forms)) {
    layer.problem = *reason;
    return layer;
  }
  GpuSearchOptions search;
  search.path = options.path;
  search.top = 1;
  GpuSearchResult result = search_kernels(gpu, std::get<0>(forms), search);
  if (result.ranked.empty()) {
    layer.problem = "no kernel is legal";
    return layer;
  }
  const GemmForm& form = result.forms[result.ranked.front().form];
  layer.notes = form.notes;
  layer.kernel = std::move(result.ranked.front());
  layer.energy = layer.kernel->estimate.energy.total + of_passes(gpu, *layer.kernel, form);
  return layer;
}

bool is_same(Workload a, const Workload& b) {
  a.name = b.name;
  return a == b;
}

void add_streams(const Gpu& gpu, const Network& network, const GpuNetworkOptions& options,
                 GpuNetworkResult& result) {
  const GpuCalibration calibration =
      gpu.calibration(options.request.precision.value_or(GpuPrecision::kF16), GpuPath::kSimt);
  for (const Stream& stream : network.streams) {
    result.streams.push_back(stream_on_gpu(gpu, calibration, stream));
    const auto times = static_cast<double>(stream.count);
    result.stream_latency += result.streams.back().latency * times;
    result.stream_energy += result.streams.back().energy * times;
  }
  result.latency += result.stream_latency;
  result.energy += result.stream_energy;
}

}  // namespace

GpuStream stream_on_gpu(const Gpu& gpu, const GpuCalibration& calibration, const Stream& stream) {
  const double bits = static_cast<double>(stream.in.count() + stream.out.count());
  GpuStream result;
  result.latency = calibration.launch + calibration.ramp +
                   Seconds{bits / 8 / (calibration.dram * gpu.dram_bandwidth.count())};
  result.energy =
      Picojoules{bits * gpu.energy.dram.count()} + over(gpu.energy.constant, result.latency);
  return result;
}

GpuNetworkResult search_network(const Gpu& gpu, const Network& network,
                                const GpuNetworkOptions& options) {
  GpuNetworkResult result;
  for (std::size_t i = 0; i < network.layers.size() && !result.interrupted; ++i) {
    options.progress(i);
    const NetworkLayer& layer = network.layers[i];
    const auto before = std::find_if(
        network.layers.begin(), network.layers.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const NetworkLayer& other) { return is_same(other.workload, layer.workload); });
    const auto known = static_cast<std::size_t>(before - network.layers.begin());
    if (known < i) {
      result.layers.push_back(result.layers[known]);
    } else {
      result.layers.push_back(search_layer(gpu, layer.workload, options));
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
  result.missing += static_cast<std::int64_t>(network.layers.size() - result.layers.size());
  add_streams(gpu, network, options, result);
  return result;
}

}  // namespace mapsim
