// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "campaign/report_data.hpp"
#include "campaign/report_energy.hpp"
#include "core/diagnostic.hpp"
#include "report/json.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& filename, const std::string& message) {
  throw ConfigError{{{filename, 0, 0, "", message, ""}}};
}

std::optional<double> number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? std::nullopt
                                                 : std::optional{found->get<double>()};
}

void read_roofline(const Json& json, LayerResult& layer) {
  layer.ops = json.at("ops").get<double>();
  layer.bytes = json.at("bytes").get<double>();
  layer.peak_ops = number(json, "peak_ops_per_second");
  layer.peak_bytes = number(json, "peak_bytes_per_second");
}

// Of search and eval: the counts of levels, fanouts and compute, each with its energy.
std::vector<EnergyPart> search_energy(const Json& json) {
  std::vector<EnergyPart> parts;
  for (const Json& level : json.at("levels")) {
    for (const auto& [tensor, counts] : level.at("tensors").items()) {
      parts.push_back({level.at("name"), tensor, counts.at("energy_pj").get<double>()});
    }
  }
  for (const Json& fanout : json.at("fanouts")) {
    double sum = fanout.at("energy_pj").get<double>();
    if (const auto network = fanout.find("network");
        network != fanout.end() && !network->is_null()) {
      for (const auto& [tensor, hops] : network->at("tensors").items()) {
        sum += hops.at("energy_pj").get<double>();
      }
    }
    parts.push_back({fanout.at("name"), "", sum});
  }
  const Json& compute = json.at("compute");
  parts.push_back({compute.at("name"), "", compute.at("energy_pj").get<double>()});
  parts.push_back({"leakage", "", number(json.at("cost"), "leakage_pj").value_or(0)});
  return parts;
}

Study study_of_layer(const Json& json) {
  Study study;
  study.network = "";
  study.objective = json.value("objective", "energy");
  study.latency = json.value("latency_mode", "steady");
  study.strategy = json.value("strategy", "");
  DesignResult design;
  design.arch = json.at("arch");
  LayerResult layer;
  layer.layer = json.at("workload");
  layer.status =
      json.contains("certificate") ? json.at("certificate").value("status", "none") : "none";
  if (json.at("feasible").get<bool>()) {
    const Json& cost = json.at("cost");
    design.clock_hz = cost.at("clock_hz").get<double>();
    design.mac_units = cost.at("mac_units").get<std::int64_t>();
    design.area_mm2 = number(cost, "area_mm2");
    layer.energy_pj = cost.at("energy_pj").get<double>();
    layer.cycles = cost.at(study.latency == "ramped" ? "latency_cycles_ramped" : "latency_cycles");
    layer.macs = cost.at("macs");
    layer.utilization = cost.at("utilization");
    layer.bottleneck = cost.at("bottleneck");
    layer.energy = search_energy(json);
    layer.mapping = json.at("mapping");
    read_roofline(json.at("roofline"), layer);
  } else {
    layer.reason = json.value("reason", "nothing fits");
  }
  design.layers.push_back(layer);
  study.designs.push_back(design);
  return study;
}

// An operator that only moves data.
LayerResult stream_layer(const Json& json) {
  LayerResult layer;
  layer.layer = json.at("name");
  layer.count = json.at("count");
  layer.status = "priced";
  layer.energy_pj = json.at("energy_pj").get<double>();
  layer.cycles = json.at("latency_cycles");
  layer.bottleneck = json.value("bottleneck", json.at("kind").get<std::string>());
  layer.energy = {{"operators without MACs", "", *layer.energy_pj}};
  return layer;
}

// A batch's frames share its cost evenly.
void share(std::int64_t frames, LayerResult& layer) {
  *layer.energy_pj /= static_cast<double>(frames);
  layer.cycles = (layer.cycles + frames - 1) / frames;
  for (EnergyPart& part : layer.energy) {
    part.pj /= static_cast<double>(frames);
  }
}

LayerResult network_layer(const Json& json, bool ramped) {
  LayerResult layer;
  layer.layer = json.at("name");
  layer.count = json.at("count");
  layer.macs = json.at("macs");
  layer.status = json.at("status");
  layer.energy_pj = number(json, "energy_pj");
  if (!layer.energy_pj) {
    layer.reason = json.value("problem", "nothing fits");
    return layer;
  }
  layer.cycles = json.at(ramped ? "latency_cycles_ramped" : "latency_cycles");
  layer.utilization = json.at("utilization");
  layer.bottleneck = json.at("bottleneck");
  layer.energy = energy_parts(json.at("breakdown"));
  layer.mapping = json.at("mapping");
  read_roofline(json.at("roofline"), layer);
  share(json.value("frames", std::int64_t{1}), layer);
  return layer;
}

Study study_of_network(const Json& json) {
  Study study;
  study.network = json.at("network");
  if (const std::int64_t batch = json.value("batch", std::int64_t{1}); batch > 1) {
    study.network += fmt::format(", {} at a time", batch);
  }
  study.objective = json.at("objective");
  study.latency = json.at("latency_mode");
  study.strategy = json.at("strategy");
  DesignResult design;
  design.arch = json.at("arch");
  design.clock_hz = json.at("clock_hz").get<double>();
  design.mac_units = json.at("mac_units").get<std::int64_t>();
  design.area_mm2 = number(json, "area_mm2");
  for (const Json& layer : json.at("layers")) {
    design.layers.push_back(network_layer(layer, study.latency == "ramped"));
  }
  for (const Json& stream : json.at("streams")) {
    design.layers.push_back(stream_layer(stream));
  }
  study.designs.push_back(std::move(design));
  return study;
}

// A layer or an operator of a network on a GPU: picoseconds in place of cycles.
LayerResult kernel_layer(const Json& json) {
  LayerResult layer;
  layer.layer = json.at("name");
  layer.count = json.at("count");
  layer.macs = json.value("macs", std::int64_t{0});
  layer.reason = json.value("problem", "");
  layer.energy_pj = number(json, "energy_pj");
  layer.cycles = picoseconds(number(json, "latency_seconds").value_or(0));
  layer.utilization = number(json, "share_of_peak").value_or(0);
  layer.bottleneck = json.value("bound", json.value("bottleneck", json.value("kind", "")));
  layer.mapping = json.value("kernel", "");
  const bool moves = json.contains("kind");
  layer.status = moves ? "priced" : layer.energy_pj ? "fastest" : "infeasible";
  layer.energy = {{"operators without MACs", "", layer.energy_pj.value_or(0)}};
  if (json.contains("breakdown")) {
    layer.energy = energy_parts(json.at("breakdown"));
    read_roofline(json.at("roofline"), layer);
  }
  return layer;
}

Study study_of_gpu_network(const Json& json) {
  Study study;
  study.network = json.at("network");
  if (const std::int64_t batch = json.value("batch", std::int64_t{1}); batch > 1) {
    study.network += fmt::format(", {} at a time", batch);
  }
  study.objective = "latency";
  study.latency = "steady";
  DesignResult design;
  design.arch = json.at("gpu");
  design.clock_hz = kPicoseconds;
  for (const char* list : {"layers", "streams"}) {
    for (const Json& entry : json.at(list)) {
      design.layers.push_back(kernel_layer(entry));
    }
  }
  study.designs.push_back(std::move(design));
  return study;
}

// Operators that nothing is known of.
std::vector<std::string> unpriced_of(const Json& json) {
  std::vector<std::string> unpriced;
  const Json kinds = json.value("unpriced", Json::object());
  for (const auto& [kind, count] : kinds.items()) {
    unpriced.push_back(fmt::format("{} x {}", count.get<std::int64_t>(), kind));
  }
  return unpriced;
}

HistogramResult histogram_of(const Json& json) {
  HistogramResult histogram;
  histogram.arch = json.at("arch");
  histogram.workload = json.at("workload");
  histogram.mapspace_size =
      json.at("mapspace_size").is_string() ? json.at("mapspace_size").get<std::string>() : "";
  histogram.mappings = json.at("mappings");
  histogram.optimum_pj = number(json, "optimum_pj");
  for (const Json& bin : json.value("bins", Json::array())) {
    if (histogram.edges_pj.empty()) {
      histogram.edges_pj.push_back(bin.at("from_pj"));
    }
    histogram.edges_pj.push_back(bin.at("to_pj"));
    histogram.counts.push_back(bin.at("mappings"));
  }
  return histogram;
}

FrontResult front_of(const Json& json) {
  FrontResult front{json.at("arch"), json.at("workload"), json.at("complete"), {}};
  const bool ramped = json.value("latency_mode", "steady") == "ramped";
  const double clock = json.at("clock_hz");
  for (const Json& point : json.at("points")) {
    const double cycles = point.at(ramped ? "latency_cycles_ramped" : "latency_cycles");
    front.points.push_back({point.at("energy_pj"), cycles / clock});
  }
  return front;
}

void add(const Json& json, const std::string& filename, JsonResults& into) {
  const auto tool = json.find("tool");
  if (tool == json.end() || tool->value("name", "") != "mapsim") {
    refuse(filename, "is not a result of mapsim --json");
  }
  if (json.value("schema", 0) != kResultSchema) {
    refuse(filename, fmt::format("is not of schema {}, which this mapsim reads", kResultSchema));
  }
  const std::string command = json.value("command", "");
  if (command == "network") {
    into.studies.push_back(json.contains("gpu") ? study_of_gpu_network(json)
                                                : study_of_network(json));
    into.studies.back().unpriced = unpriced_of(json);
  } else if (command == "histogram") {
    into.histograms.push_back(histogram_of(json));
  } else if (json.contains("front")) {
    if (json.at("front") != "energy_latency") {
      refuse(filename, "a curve over capacities: search --svg draws it");
    }
    into.fronts.push_back(front_of(json));
  } else if (json.contains("gpu")) {
    refuse(filename,
           "kernels of a GPU: network --json and campaigns are drawn, lists of kernels are not");
  } else if (command == "search" || command == "eval") {
    into.studies.push_back(study_of_layer(json));
  } else {
    refuse(filename,
           fmt::format("nothing to draw of the command '{}'; of network, search, eval and "
                       "histogram there is",
                       command));
  }
}

}  // namespace

Json breakdown_json(const Arch& arch, const Workload& workload, const Cost& cost) {
  Json json = Json::object();
  for (const LevelId level : arch.levels.ids()) {
    for (const TensorId id : workload.tensors.ids()) {
      json[arch.levels[level].name][workload.tensors[id].name] =
          cost.energy.levels[level][id].total.count();
    }
  }
  for (const FanoutId fanout : arch.fanouts.ids()) {
    Picojoules sum = cost.energy.fanouts[fanout];
    for (const TensorId id : workload.tensors.ids()) {
      sum += cost.energy.hops[fanout][id];
    }
    json[arch.fanouts[fanout].name] = sum.count();
  }
  json[arch.compute.name] = cost.energy.compute.count();
  json["leakage"] = cost.energy.leakage.count();
  return json;
}

std::vector<EnergyPart> energy_parts(const Json& breakdown) {
  std::vector<EnergyPart> parts;
  for (const auto& [node, entry] : breakdown.items()) {
    if (!entry.is_object()) {
      parts.push_back({node, "", entry.get<double>()});
      continue;
    }
    for (const auto& [tensor, pj] : entry.items()) {
      parts.push_back({node, tensor, pj.get<double>()});
    }
  }
  return parts;
}

void read_json_results(const std::string& text, const std::string& filename, JsonResults& into) {
  try {
    add(Json::parse(text), filename, into);
  } catch (const Json::parse_error& error) {
    refuse(filename, fmt::format("is not JSON: at byte {}", error.byte));
  } catch (const Json::exception& error) {
    refuse(filename, fmt::format("is not what this mapsim prints with --json: {}", error.what()));
  }
}

}  // namespace mapsim
