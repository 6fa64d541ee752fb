// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "campaign/gpu_network.hpp"
#include "campaign/network.hpp"
#include "report/figures.hpp"
#include "report/gpu.hpp"
#include "report/json_calibration.hpp"
#include "report/json_head.hpp"
#include "report/table.hpp"

namespace mapsim {
namespace {

using Json = nlohmann::ordered_json;

double times(std::int64_t count) { return static_cast<double>(count); }
Row layer_row(const NetworkLayer& layer, const GpuLayer& found, const GpuNetworkResult& result) {
  const RankedKernel& ranked = *found.kernel;
  const Seconds latency = ranked.total * times(layer.count);
  const Picojoules energy = found.energy * times(layer.count);
  const KernelChoice& kernel = ranked.kernel;
  return {table_name(layer.name),
          fmt::format("{} x", layer.count),
          scaled(times(layer.count * layer.workload.macs()), ""),
          scaled(latency.count(), "s"),
          percent(part(latency.count(), result.latency.count())),
          energy_text(energy),
          percent(part(energy.count(), result.energy.count())),
          percent(found.utilization),
          to_string(ranked.estimate.bound),
          fmt::format("{}{} {}x{}x{}", before_path(found.form.problem), to_string(kernel.path),
                      kernel.block.m, kernel.block.n, kernel.block.k)};
}

std::string layers_text(const Network& network, const GpuNetworkResult& result) {
  std::vector<std::size_t> order;
  std::string without;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    if (i < result.layers.size() && result.layers[i].kernel) {
      order.push_back(i);
    } else {
      without += fmt::format("{}: {}\n", network.layers[i].name,
                             i < result.layers.size() ? result.layers[i].problem : "not searched");
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return result.layers[a].kernel->total * times(network.layers[a].count) >
           result.layers[b].kernel->total * times(network.layers[b].count);
  });
  std::vector<Row> rows{{"layer", "times", "MACs", "latency", "share", "energy", "share", "of peak",
                         "bound", "kernel"}};
  for (const std::size_t i : order) {
    rows.push_back(layer_row(network.layers[i], result.layers[i], result));
  }
  return (order.empty() ? "" : table(rows) + '\n') + without;
}

std::string streams_text(const Network& network, const GpuNetworkResult& result) {
  std::string text;
  if (!network.streams.empty()) {
    text = fmt::format(
        "Moves data only: {} operations, {} ({}), {}\n",
        std::accumulate(network.streams.begin(), network.streams.end(), std::int64_t{0},
                        [](std::int64_t sum, const Stream& stream) { return sum + stream.count; }),
        scaled(result.stream_latency.count(), "s"),
        percent(part(result.stream_latency.count(), result.latency.count())),
        energy_text(result.stream_energy));
  }
  for (const auto& [kind, count] : network.unpriced) {
    text += fmt::format("Not priced: {}, {} x\n", kind, count);
  }
  return text;
}

// Which calibration priced a layer.
GpuCalibration calibration_of(const Gpu& gpu, const GpuLayer& layer) {
  return gpu.calibration(layer.form.problem.precision, layer.kernel->kernel.path);
}

// The calibrations of the layers, and how far the one that is trusted least is to be trusted.
std::string trust_text(const Gpu& gpu, const GpuNetworkResult& result) {
  double error = 0;
  std::map<std::string, std::int64_t> sources;
  for (const GpuLayer& layer : result.layers) {
    if (layer.kernel) {
      error = std::max(error, layer.kernel->estimate.error);
      ++sources[calibration_source(calibration_of(gpu, layer), layer.form.problem.precision)];
    }
  }
  std::string text;
  for (const auto& [source, layers] : sources) {
    text += fmt::format("{} {} {}; ", layers, layers == 1 ? "layer" : "layers", source);
  }
  return text + fmt::format("9 of 10 measured kernels are expected within a factor of {:.2f}\n",
                            std::exp(error));
}

Json streams_json(const Network& network, const GpuNetworkResult& result) {
  Json list = Json::array();
  for (std::size_t i = 0; i < network.streams.size(); ++i) {
    const Stream& stream = network.streams[i];
    list.push_back({{"name", stream.name},
                    {"kind", stream.kind},
                    {"count", stream.count},
                    {"energy_pj", result.streams[i].energy.count()},
                    {"latency_seconds", result.streams[i].latency.count()},
                    {"bottleneck", to_string(GpuBound::kDram)}});
  }
  return list;
}

// A line, or none without kernels.
std::string kernels_widths_text(const GpuNetworkResult& result) {
  std::vector<std::string> widths;
  for (const GpuLayer& layer : result.layers) {
    if (layer.kernel) {
      widths.push_back(widths_text(widths_of(layer.form.problem)));
    }
  }
  return widths.empty() ? "" : counted_widths(widths) + '\n';
}

WidthSets kernels_widths(const GpuNetworkResult& result) {
  WidthSets widths;
  for (const GpuLayer& layer : result.layers) {
    if (layer.kernel) {
      widths.add(widths_of(layer.form.problem));
    }
  }
  return widths;
}

Json head_json(const Provenance& origin, const Gpu& gpu, const Network& network,
               const GpuNetworkResult& result) {
  Json json = provenance_json(origin);
  json["gpu"] = gpu.name;
  json["network"] = network.name;
  json["interrupted"] = result.interrupted;
  json["batch"] = network.batch;
  json["widths"] = widths_json(kernels_widths(result));
  json["warnings"] = network.warnings;
  return json;
}

}  // namespace

std::string gpu_network_text(const Gpu& gpu, const Network& network,
                             const GpuNetworkResult& result) {
  std::string text = fmt::format("{} on {}: each layer's fastest kernel\n{}", network.name,
                                 gpu.name, kernels_widths_text(result));
  for (const std::string& warning : network.warnings) {
    text += fmt::format("warning: {}\n", warning);
  }
  text += '\n';
  text += layers_text(network, result) + streams_text(network, result);
  const std::string rate =
      fmt::format(" ({} inferences/s)", ratio(part(times(network.batch), result.latency.count())));
  const bool partial = result.missing > 0 || !network.unpriced.empty();
  if (result.missing > 0) {
    text += fmt::format("{} of {} layers are missing: what follows is of the others only\n",
                        result.missing,
                        static_cast<std::int64_t>(network.layers.size()) + unread_layers(network));
  }
  text += fmt::format("{}{}: {} in {}{}, {} MACs, {} W\n", partial ? "Part of the total" : "Total",
                      network.batch > 1 ? fmt::format(" of {} at a time", network.batch) : "",
                      energy_text(result.energy), scaled(result.latency.count(), "s"),
                      partial ? "" : rate, grouped(result.macs),
                      ratio(part(result.energy.count() * 1e-12, result.latency.count())));
  return network.layers.empty()
             ? text
             : text + fmt::format("{} distinct layers searched; ", result.searched) +
                   trust_text(gpu, result);
}

std::string gpu_network_json(const Provenance& origin, const Gpu& gpu, const Network& network,
                             const GpuNetworkResult& result) {
  Json json = head_json(origin, gpu, network, result);
  const double seconds = result.latency.count();
  json["total"] = {
      {"energy_pj", result.energy.count()},
      {"latency_seconds", seconds},
      {"inferences_per_second", seconds > 0 && result.missing == 0 && network.unpriced.empty()
                                    ? Json(times(network.batch) / seconds)
                                    : Json()},
      {"macs", result.macs},
      {"streams_energy_pj", result.stream_energy.count()},
      {"streams_latency_seconds", result.stream_latency.count()},
      {"layers_missing", result.missing},
      {"layers_searched", result.searched},
      {"search_seconds", result.search_seconds}};
  json["layers"] = Json::array();
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    const NetworkLayer& layer = network.layers[i];
    const GpuLayer& found = result.layers[i];
    Json entry{{"name", layer.name},
               {"workload", layer.workload.name},
               {"count", layer.count},
               {"macs", layer.workload.macs()},
               {"search_seconds", found.search_seconds}};
    if (found.kernel) {
      add_widths(entry, widths_of(found.form.problem));
      entry["latency_seconds"] = found.kernel->total.count();
      entry["passes_seconds"] = found.kernel->passes.count();
      entry["energy_pj"] = found.energy.count();
      entry["share_of_peak"] = found.utilization;
      entry["bound"] = to_string(found.kernel->estimate.bound);
      entry["resource_seconds"] = time_json(found.kernel->estimate.time);
      entry["log_error_90"] = found.kernel->estimate.error;
      entry["calibration"] = calibration_source_json(calibration_of(gpu, found), gpu.name,
                                                     found.form.problem.precision);
      entry["kernel"] = before_path(found.form.problem) + to_string(found.kernel->kernel);
      entry["notes"] = found.form.notes;
      for (const auto& [part, energy] : found.parts) {
        entry.emplace("breakdown", nlohmann::ordered_json::object());
        entry["breakdown"][part] = energy.count();
      }
      const GpuLayerRoofline bounds = gpu_layer_roofline(gpu, layer.workload, found);
      entry["roofline"] = {{"ops", bounds.ops},
                           {"bytes", bounds.bytes},
                           {"peak_ops_per_second", bounds.peak.ops_per_second},
                           {"peak_bytes_per_second", bounds.peak.bytes_per_second}};
    } else {
      entry["problem"] = found.problem;
    }
    json["layers"].push_back(std::move(entry));
  }
  json["streams"] = streams_json(network, result);
  json["unpriced"] = network.unpriced;
  return json.dump(2) + '\n';
}

}  // namespace mapsim
