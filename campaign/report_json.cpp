// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "campaign/json_figures.hpp"
#include "campaign/report_energy.hpp"
#include "core/diagnostic.hpp"
#include "core/reader.hpp"
#include "report/json.hpp"
#include "report/widths.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& filename, const std::string& message) {
  throw ConfigError{{{filename, 0, 0, "", message, ""}}};
}

// Figures beyond these are of no machine, and their sums and products no numbers.
constexpr double kMostFigure = 1e100;
constexpr double kMostExact = 9007199254740992.0;  // 2^53: whole numbers are exact up to it

double figure(const Json& entry, const std::string& what, double most = kMostFigure) {
  const auto value = entry.get<double>();
  if (!(value >= 0 && value <= most)) {
    throw Unreadable{fmt::format("{} is {:g}; it must be from 0 to {:g}", what, value, most)};
  }
  return value;
}

std::int64_t whole(const Json& entry, const char* what) {
  return static_cast<std::int64_t>(figure(entry, what, kMostExact));
}

}  // namespace

double figure_at(const Json& json, const char* key) { return figure(json.at(key), key); }

std::optional<double> number(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? std::nullopt
                                                 : std::optional{figure(*found, key)};
}

std::int64_t whole_at(const Json& json, const char* key) { return whole(json.at(key), key); }

double clock_of(const Json& json) {
  const double clock = figure_at(json, "clock_hz");
  if (clock < 1) {
    throw Unreadable{fmt::format("clock_hz is {:g}; it must be at least 1", clock)};
  }
  return clock;
}

std::string machine_name(const Json& json, const char* key) {
  const auto name = json.at(key).get<std::string>();
  if (!is_name(name)) {
    throw Unreadable{
        fmt::format("{} is {}, which is no name of a machine: a letter or _, then letters, digits, "
                    "_ . or -",
                    key, quoted(name))};
  }
  return name;
}

namespace {

// Seconds as whole picoseconds.
std::int64_t picoseconds_at(const Json& json, const char* key) {
  return whole(number(json, key).value_or(0) * kPicoseconds, key);
}

// A layer whose figures can be added up, as often as it occurs.
LayerResult checked(LayerResult layer) {
  const double cycles = static_cast<double>(layer.count) * static_cast<double>(layer.cycles);
  if (cycles > kMostExact) {
    throw Unreadable{fmt::format("{} times the {} cycles of {} are more than can be added up",
                                 layer.count, layer.cycles, layer.layer)};
  }
  for (const EnergyPart& part : layer.energy) {
    figure(part.pj, "the energy of " + part.node);
  }
  return layer;
}

void read_roofline(const Json& json, LayerResult& layer) {
  layer.ops = figure_at(json, "ops");
  layer.bytes = figure_at(json, "bytes");
  layer.peak_ops = number(json, "peak_ops_per_second");
  layer.peak_bytes = number(json, "peak_bytes_per_second");
}

// Of search and eval: the counts of levels, fanouts and compute, each with its energy.
std::vector<EnergyPart> search_energy(const Json& json) {
  std::vector<EnergyPart> parts;
  for (const Json& level : json.at("levels")) {
    for (const auto& [tensor, counts] : level.at("tensors").items()) {
      parts.push_back({level.at("name"), tensor, figure_at(counts, "energy_pj")});
    }
  }
  for (const Json& fanout : json.at("fanouts")) {
    double sum = figure_at(fanout, "energy_pj");
    if (const auto network = fanout.find("network");
        network != fanout.end() && !network->is_null()) {
      for (const auto& [tensor, hops] : network->at("tensors").items()) {
        sum += figure_at(hops, "energy_pj");
      }
    }
    parts.push_back({fanout.at("name"), "", sum});
  }
  const Json& compute = json.at("compute");
  parts.push_back({compute.at("name"), "", figure_at(compute, "energy_pj")});
  parts.push_back({"leakage", "", number(json.at("cost"), "leakage_pj").value_or(0)});
  return parts;
}

// In words; empty: a result of a version that did not say.
std::string given_widths(const Json& json) {
  if (!json.contains("operand_bits")) {
    return "";
  }
  Widths widths;
  for (const auto& [name, bits] : json.at("operand_bits").items()) {
    widths.operands[name] = bits.get<std::int64_t>();
  }
  widths.sums = json.at("sum_bits");
  widths.outputs = json.at("output_bits");
  return widths.operands.empty() ? "" : widths_text(widths);
}

Study study_of_layer(const Json& json) {
  Study study;
  study.network = "";
  study.objective = json.value("objective", "energy");
  study.latency = json.value("latency_mode", "steady");
  study.strategy = json.value("strategy", "");
  DesignResult design;
  design.arch = machine_name(json, "arch");
  LayerResult layer;
  layer.layer = json.at("workload");
  layer.widths = given_widths(json);
  layer.status =
      json.contains("certificate") ? json.at("certificate").value("status", "none") : "none";
  if (json.at("feasible").get<bool>()) {
    const Json& cost = json.at("cost");
    design.clock_hz = clock_of(cost);
    design.mac_units = whole_at(cost, "mac_units");
    design.area_mm2 = number(cost, "area_mm2");
    layer.energy_pj = figure_at(cost, "energy_pj");
    layer.cycles =
        whole_at(cost, study.latency == "ramped" ? "latency_cycles_ramped" : "latency_cycles");
    layer.macs = whole_at(cost, "macs");
    layer.utilization = figure_at(cost, "utilization");
    layer.bottleneck = cost.at("bottleneck");
    layer.energy = search_energy(json);
    layer.mapping = json.at("mapping");
    read_roofline(json.at("roofline"), layer);
  } else {
    layer.reason = json.value("reason", "nothing fits");
  }
  design.layers.push_back(checked(layer));
  study.designs.push_back(design);
  return study;
}

// An operator that only moves data.
LayerResult stream_layer(const Json& json) {
  LayerResult layer;
  layer.layer = json.at("name");
  layer.count = whole_at(json, "count");
  layer.status = "priced";
  layer.energy_pj = figure_at(json, "energy_pj");
  layer.cycles = whole_at(json, "latency_cycles");
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
  layer.count = whole_at(json, "count");
  layer.macs = json.at("macs");
  layer.widths = given_widths(json);
  layer.status = json.at("status");
  layer.energy_pj = number(json, "energy_pj");
  if (!layer.energy_pj) {
    layer.reason = json.value("problem", "nothing fits");
    return layer;
  }
  layer.cycles = whole_at(json, ramped ? "latency_cycles_ramped" : "latency_cycles");
  layer.utilization = figure_at(json, "utilization");
  layer.bottleneck = json.at("bottleneck");
  layer.energy = energy_parts(json.at("breakdown"));
  layer.mapping = json.at("mapping");
  read_roofline(json.at("roofline"), layer);
  share(std::max<std::int64_t>(1, json.value("frames", std::int64_t{1})), layer);
  return layer;
}

// Figures need something to show.
DesignResult with_layers(DesignResult design) {
  if (design.layers.empty()) {
    throw Unreadable{"neither layers nor streams list anything"};
  }
  return design;
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
  design.arch = machine_name(json, "arch");
  design.clock_hz = clock_of(json);
  design.mac_units = whole_at(json, "mac_units");
  design.area_mm2 = number(json, "area_mm2");
  for (const Json& layer : json.at("layers")) {
    design.layers.push_back(checked(network_layer(layer, study.latency == "ramped")));
  }
  for (const Json& stream : json.at("streams")) {
    design.layers.push_back(checked(stream_layer(stream)));
  }
  study.designs.push_back(with_layers(std::move(design)));
  return study;
}

// A layer or an operator of a network on a GPU: picoseconds in place of cycles.
LayerResult kernel_layer(const Json& json) {
  LayerResult layer;
  layer.layer = json.at("name");
  layer.count = whole_at(json, "count");
  layer.macs = json.contains("macs") ? whole_at(json, "macs") : 0;
  layer.widths = given_widths(json);
  layer.reason = json.value("problem", "");
  layer.energy_pj = number(json, "energy_pj");
  layer.cycles = picoseconds_at(json, "latency_seconds");
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
  design.arch = machine_name(json, "gpu");
  design.clock_hz = kPicoseconds;
  for (const char* list : {"layers", "streams"}) {
    for (const Json& entry : json.at(list)) {
      design.layers.push_back(checked(kernel_layer(entry)));
    }
  }
  study.designs.push_back(with_layers(std::move(design)));
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
  histogram.arch = machine_name(json, "arch");
  histogram.workload = json.at("workload");
  histogram.mapspace_size =
      json.at("mapspace_size").is_string() ? json.at("mapspace_size").get<std::string>() : "";
  histogram.mappings = whole_at(json, "mappings");
  histogram.optimum_pj = number(json, "optimum_pj");
  for (const Json& bin : json.value("bins", Json::array())) {
    if (histogram.edges_pj.empty()) {
      histogram.edges_pj.push_back(figure_at(bin, "from_pj"));
    }
    histogram.edges_pj.push_back(figure_at(bin, "to_pj"));
    histogram.counts.push_back(figure_at(bin, "mappings"));
  }
  histogram.widths = given_widths(json);
  return histogram;
}

FrontResult front_of(const Json& json) {
  FrontResult front{
      machine_name(json, "arch"), json.at("workload"), json.at("complete"), {}, given_widths(json)};
  const bool ramped = json.value("latency_mode", "steady") == "ramped";
  const double clock = clock_of(json);
  for (const Json& point : json.at("points")) {
    const double cycles = figure_at(point, ramped ? "latency_cycles_ramped" : "latency_cycles");
    front.points.push_back({figure_at(point, "energy_pj"), cycles / clock});
  }
  return front;
}

void add(const Json& json, const std::string& filename, JsonResults& into) {
  const auto tool = json.find("tool");
  if (tool == json.end() || tool->value("name", "") != "mapsim") {
    refuse(filename, "is not a result of mapsim --json");
  }
  if (const int schema = json.value("schema", 0); schema < 1 || schema > kResultSchema) {
    refuse(filename,
           fmt::format("is of schema {}; this mapsim reads 1 to {}", schema, kResultSchema));
  }
  const std::string command = json.value("command", "");
  if (json.contains("chain") || json.contains("chains")) {
    refuse(filename,
           "of fused layers: the page has layers one by one; `show` prints the tree of a chain");
  }
  if (command == "network") {
    into.studies.push_back(json.contains("gpu") ? study_of_gpu_network(json)
                                                : study_of_network(json));
    into.studies.back().unpriced = unpriced_of(json);
    into.studies.back().sum_up();
  } else if (command == "histogram") {
    into.histograms.push_back(histogram_of(json));
  } else if (command == "design") {
    into.design_searches.push_back(design_search_of(json));
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
    into.studies.back().sum_up();
  } else {
    refuse(filename, fmt::format("nothing to draw of the command '{}'; of network, search, eval, "
                                 "histogram and design there is",
                                 command));
  }
}

}  // namespace

Json breakdown_json(const Arch& arch, const Workload& workload, const Cost& cost) {
  Json json = Json::object();
  for (const LevelId level : arch.levels.ids()) {
    json[arch.levels[level].name] = Json::object();
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
  } catch (const Unreadable& error) {
    refuse(filename, error.problem);
  } catch (const Json::parse_error& error) {
    refuse(filename, fmt::format("is not JSON: at byte {}", error.byte));
  } catch (const Json::exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) {
      refuse(filename, "holds a number that is beyond all figures: at most 1e+100");
    }
    // "[json.exception.type_error.302] type must be number, but is string": the library's words
    // begin behind the bracket.
    const std::string words = error.what();
    const std::size_t bracket = words.find("] ");
    refuse(filename, fmt::format("is not what this mapsim prints with --json: {}",
                                 bracket == std::string::npos ? words : words.substr(bracket + 2)));
  }
}

}  // namespace mapsim
