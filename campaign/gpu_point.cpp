// SPDX-License-Identifier: Apache-2.0
#include "campaign/gpu_point.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <variant>

#include "campaign/point.hpp"
#include "report/figures.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// What is asked of a mapspace, which a GPU has not; empty: nothing.
std::string asked_of_mapspaces(const Question& question, const std::string& strategy) {
  const Objective& objective = question.objective;
  return objective.function.uses_energy() ? fmt::format("objective {}", to_string(objective))
         : objective.mode != LatencyMode::kSteady ? "ramped latency"
         : objective.max_energy                   ? "max_energy"
         : !question.constraints_file.empty()     ? "constraints"
         : strategy != "exact"                    ? "strategy " + strategy
                                                  : "";
}

// All of the layer's kernels are as slow as this one, or slower.
std::string beyond_limit(const Gpu& gpu, const Question& question, Seconds latency) {
  if (question.max_latency.empty()) {
    return "";
  }
  const auto limit = parse_duration(question.max_latency, gpu.clock);
  if (const auto* wrong = std::get_if<std::string>(&limit)) {
    return "max_latency: " + *wrong;
  }
  const double most = static_cast<double>(std::get<Cycles>(limit).count());
  return latency.count() * gpu.clock.count() <= most
             ? ""
             : fmt::format("nothing fits: latency limit (at least {})",
                           scaled(latency.count(), "s"));
}

// What both kernels and streams have.
Record priced(const Gpu& gpu, const char* status, Seconds latency, Picojoules energy,
              const Json& breakdown, double utilization) {
  Record record(kFigureColumns.size());
  figure(record, "status") = status;
  figure(record, "energy_pj") = energy.count();
  figure(record, "latency_seconds") = latency.count();
  figure(record, "clock_hz") = gpu.clock.count();
  figure(record, "utilization") = utilization;
  figure(record, "breakdown") = breakdown.dump();
  return record;
}

// Of a chip with next to no bandwidth, say; "" if they are numbers.
std::string beyond_numbers(Seconds latency, Picojoules energy) {
  return std::isfinite(latency.count()) && std::isfinite(energy.count())
             ? ""
             : "its time or energy is beyond all numbers";
}

Record price(const Gpu& gpu, const GpuLayerOptions& options, const Stream& stream) {
  const GpuStream cost = stream_on_gpu(gpu, options, stream);
  if (const std::string problem = beyond_numbers(cost.latency, cost.energy); !problem.empty()) {
    return without_mapping("error", problem, 0);
  }
  Record record = priced(gpu, "priced", cost.latency, cost.energy,
                         {{"operators without MACs", cost.energy.count()}}, 0);
  figure(record, "macs") = std::int64_t{0};
  figure(record, "bottleneck") = to_string(GpuBound::kDram);
  figure(record, "seconds") = 0.0;
  return record;
}

}  // namespace

Record solve_on_gpu(const Gpu& gpu, const GpuLayerOptions& options, const std::string& strategy,
                    const CampaignLayer& layer, const Question& question) {
  if (const std::string asked = asked_of_mapspaces(question, strategy); !asked.empty()) {
    return without_mapping("error", asked + ": not for a GPU, whose kernels are ranked by time", 0);
  }
  if (layer.stream) {
    return price(gpu, options, *layer.stream);
  }
  const Clock::time_point start = Clock::now();
  const GpuLayer found = fastest_kernel(gpu, layer.workload, options);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::string problem = found.problem;
  if (found.kernel) {
    problem = beyond_numbers(found.kernel->total, found.energy);
    problem = problem.empty() ? beyond_limit(gpu, question, found.kernel->total) : problem;
  }
  if (!problem.empty()) {
    return without_mapping(found.considered > 0 ? "infeasible" : "error", problem, seconds);
  }
  Json breakdown = Json::object();
  for (const auto& [part, energy] : found.parts) {
    breakdown[part] = energy.count();
  }
  const GpuLayerRoofline bounds = gpu_layer_roofline(gpu, layer.workload, found);
  Record record =
      priced(gpu, "fastest", found.kernel->total, found.energy, breakdown, found.utilization);
  figure(record, "macs") = layer.workload.macs();
  figure(record, "bottleneck") = to_string(found.kernel->estimate.bound);
  figure(record, "ops") = bounds.ops;
  figure(record, "bytes") = bounds.bytes;
  figure(record, "peak_ops_per_second") = bounds.peak.ops_per_second;
  figure(record, "peak_bytes_per_second") = bounds.peak.bytes_per_second;
  figure(record, "mapspace_size") = fmt::to_string(found.considered);
  figure(record, "mapping") = kernel_file(found);
  figure(record, "seconds") = seconds;
  return record;
}

}  // namespace mapsim
