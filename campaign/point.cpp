// SPDX-License-Identifier: Apache-2.0
#include "campaign/point.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "arch/gpu_load.hpp"
#include "arch/gpu_print.hpp"
#include "arch/load.hpp"
#include "arch/physical.hpp"
#include "arch/print.hpp"
#include "campaign/gpu_point.hpp"
#include "campaign/joint.hpp"
#include "campaign/layer.hpp"
#include "campaign/report_energy.hpp"
#include "core/hash.hpp"
#include "core/memory.hpp"
#include "core/substitute.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/stream.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "report/front.hpp"
#include "report/names.hpp"
#include "report/text.hpp"
#include "workloads/masks.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

// Without the lines of the file, which does not hold what the settings put there, and without the
// folder that it lies in, so that rows made elsewhere are the same.
std::string reason_of(const ConfigError& error) {
  std::vector<std::string> lines;
  for (Diagnostic diagnostic : error.diagnostics()) {
    diagnostic.source.clear();
    diagnostic.file = std::filesystem::path{diagnostic.file}.filename().string();
    lines.push_back(to_string(diagnostic));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// 14 rather than "14", so that plots have numbers.
Json value_json(const Node& value) {
  if (value.kind == Node::Kind::kScalar && value.plain) {
    const char* const end = value.text.data() + value.text.size();
    std::int64_t whole = 0;
    if (const auto [stop, failure] = std::from_chars(value.text.data(), end, whole);
        failure == std::errc{} && stop == end) {
      return whole;
    }
  }
  return value.kind == Node::Kind::kScalar ? value.text : flow_text(value);
}

std::string objective_text(const Question& question) {
  return question.is_throughput ? "throughput" : to_string(question.objective);
}

std::string limits_text(const Question& question) {
  std::vector<std::string> limits;
  if (question.objective.max_energy) {
    limits.push_back(fmt::format("energy {} pJ", question.objective.max_energy->count()));
  }
  if (!question.max_latency.empty()) {
    limits.push_back("latency " + question.max_latency);
  }
  return fmt::format("{}", fmt::join(limits, ", "));
}

Cell finite(double value) { return std::isfinite(value) ? Cell{value} : Cell{}; }

Cell size_cell(const Certificate& proof) {
  return proof.mapspace_size.empty() ? Cell{} : Cell{proof.mapspace_size};
}

}  // namespace

// Of the layer in the form that it was given to the machine in.
Record answer_record(const Workload& layer, const FormedResult& formed, LatencyMode mode) {
  const Workload& workload = formed.problem.workload();
  const SearchResult& found = formed.result;
  const Certificate& proof = found.certificate;
  if (!found.cost) {
    const bool is_proven = proof.status == Proof::kInfeasible;
    Record record = without_mapping(is_proven ? "infeasible" : "none",
                                    found.interrupted ? "none was found in this memory and time"
                                                      : brief_infeasible_text(found.infeasible),
                                    found.statistics.seconds);
    figure(record, "mapspace_size") = size_cell(proof);
    return record;
  }
  const Arch& arch = formed.problem.arch();
  const Cost& cost = *found.cost;
  const auto area = total_area(arch).sum;
  const auto leakage = total_leakage(arch).sum;
  const Roofline bounds = roofline(arch, layer);
  return {status_of(proof),
          {},
          cost.energy.total.count(),
          cost.latency.steady.count(),
          cost.latency.ramped.count(),
          seconds_of(arch, latency_of(mode, cost.latency)),
          cost.edp(),
          arch.clock.count(),
          area ? Cell{area->count()} : Cell{},
          leakage && arch.leaks ? Cell{cost.energy.leakage.count()} : Cell{},
          layer.macs(),
          arch.mac_units(),
          cost.utilization,
          resource_name(arch, cost.latency.resources[cost.latency.bottleneck]),
          bounds.ops,
          bounds.bytes,
          finite(bounds.peak.ops_per_second),
          finite(bounds.peak.bytes_per_second),
          proof.status == Proof::kNone ? Cell{} : finite(proof.lower_bound),
          proof.status == Proof::kNone ? Cell{} : finite(proof.gap),
          size_cell(proof),
          breakdown_json(arch, workload, cost).dump(),
          print_mapping(arch, workload, *found.best),
          found.statistics.seconds};
}

// What a level costs is a price, not the best of many.
Record price_record(const Arch& arch, const Stream& stream) {
  const StreamCost cost = stream_cost(arch, stream.in, stream.out);
  const auto area = total_area(arch).sum;
  const auto cycles = static_cast<double>(cost.latency.count());
  const Json breakdown = Json::object({{"operators without MACs", cost.energy.count()}});
  Record record(kFigureColumns.size());
  const auto set = [&record](std::string_view name, Cell value) {
    figure(record, name) = std::move(value);
  };
  set("status", "priced");
  set("energy_pj", cost.energy.count());
  set("latency_cycles", cost.latency.count());
  set("latency_cycles_ramped", cost.latency.count());
  set("latency_seconds", seconds_of(arch, cost.latency));
  set("edp", cost.energy.count() * cycles);
  set("clock_hz", arch.clock.count());
  set("area_mm2", area ? Cell{area->count()} : Cell{});
  set("macs", std::int64_t{0});
  set("mac_units", arch.mac_units());
  set("utilization", 0.0);
  set("bottleneck", arch.levels.begin()->name);
  set("breakdown", breakdown.dump());
  set("seconds", 0.0);
  return record;
}

namespace {

// What a row of the workbook counts besides; nothing for most.
std::string row_text(const WorkbookRow& row) {
  std::string text = row.addition ? "# addition\n" : "";
  if (row.pooled) {
    text += fmt::format("# pooled: {} x {}\n", (*row.pooled)[0], (*row.pooled)[1]);
  }
  if (row.dram) {
    text += fmt::format("# dram: {}\n", to_string(*row.dram));
  }
  text += row.reads_memory ? "" : "# reads no memory\n";
  text += row.writes_memory ? "" : "# writes no memory\n";
  text += row.winograd_weights ? "" : "# weights of 3 x 3 kernels as they are\n";
  if (row.extra_lines != 0) {
    text += fmt::format("# extra lines: {}\n", row.extra_lines);
  }
  if (row.dram_weights) {
    text += fmt::format("# weights from DRAM: 1 in {}\n", *row.dram_weights);
  }
  if (row.memory_weights != 0) {
    text += fmt::format("# weights from memory: 1 in {}\n", row.memory_weights);
  }
  return text;
}

// How kernels are chosen, below the GPU; nothing for most.
std::string kernels_text(const GpuLayerOptions& kernels) {
  std::string text;
  if (kernels.request.precision) {
    text += fmt::format("# precision: {}\n", to_string(*kernels.request.precision));
  }
  if (kernels.path) {
    text += fmt::format("# path: {}\n", to_string(*kernels.path));
  }
  return text + (kernels.request.layout == ConvLayout::kNchw ? "# layout: nchw\n" : "");
}

}  // namespace

Record without_mapping(std::string status, std::string reason, double seconds) {
  Record record(kFigureColumns.size());
  figure(record, "status") = std::move(status);
  figure(record, "reason") = std::move(reason);
  figure(record, "seconds") = seconds;
  return record;
}

Content content(std::string text) { return {fmt::format("{:016x}", fnv1a(text)), std::move(text)}; }

LoadedDesign load(const Design& design) {
  LoadedDesign loaded;
  try {
    const Document document = design.document();
    loaded.content = content("unreadable " + flow_text(document.root) + "\n");
    if (design.machine->read_chip) {
      loaded.chip = design.machine->read_chip(document);
      loaded.content = content(loaded.chip->text());
      return loaded;
    }
    if (describes_gpu(document)) {
      Gpu gpu = read_gpu(document);
      gpu.name = "design";
      loaded.kernels = design.machine->kernels;
      loaded.content = content(print_gpu(gpu) + kernels_text(loaded.kernels));
      loaded.gpu = std::move(gpu);
      return loaded;
    }
    Arch arch = read_arch(document);
    arch.name = "design";
    loaded.content = arch_content(arch);
    loaded.arch = std::move(arch);
  } catch (const ConfigError& error) {
    loaded.reason = reason_of(error);
    // A table of Accelergy that is missing may be there tomorrow.
    loaded.content = content(loaded.content.text + loaded.reason + "\n");
  }
  return loaded;
}

Content arch_content(Arch arch) {
  arch.name = "design";
  return content(print_arch(arch));
}

Content layer_content(const CampaignLayer& layer) {
  if (layer.planned) {
    return content(graph_text(*layer.planned));
  }
  if (layer.stream) {
    return content(fmt::format("moves data only\nread: {} b\nwritten: {} b\n",
                               layer.stream->in.count(), layer.stream->out.count()));
  }
  Workload workload = layer.workload;
  workload.name = "layer";
  std::string text = print_workload(workload);
  // What only a shorthand says, and only the roofline asks.
  text += workload.bias ? "# bias\n" : "";
  text += row_text(layer.workbook);
  for (const MaskFile& mask : masks_of(workload)) {  // the text has its path
    text += fmt::format("# {}: zeros {:016x}\n", mask.tensor, mask.hash);
  }
  for (const Tensor& tensor : workload.tensors) {
    text += tensor.stored_elements
                ? fmt::format("# {}: {} elements stored\n", tensor.name, *tensor.stored_elements)
                : "";
  }
  return content(std::move(text));
}

Content question_content(const Campaign& campaign, const Question& question) {
  std::string text = fmt::format("objective: {}\nlatency: {}\nlimits: {}\nstrategy: {}\n",
                                 objective_text(question), to_string(question.objective.mode),
                                 limits_text(question), campaign.strategy);
  if (campaign.strategy == "exact") {
    text += campaign.budget.labels == Budget{}.labels
                ? ""
                : fmt::format("labels: {}\n", campaign.budget.labels);
  } else if (campaign.strategy != "exhaustive") {
    text += fmt::format("evaluations: {}\nseed: {}\n", campaign.evaluations, campaign.seed);
  }
  if (!question.constraints_file.empty()) {
    text += "constraints: " +
            flow_text(parse_yaml(question.constraints_text, question.constraints_file).root) + "\n";
  }
  return content(std::move(text));
}

std::vector<Content> layer_contents(const Campaign& campaign) {
  std::vector<Content> contents;
  for (const CampaignLayer& layer : campaign.layers) {
    contents.push_back(layer_content(layer));
  }
  return contents;
}

std::vector<Content> question_contents(const Campaign& campaign) {
  std::vector<Content> contents;
  for (const Question& question : campaign.questions) {
    contents.push_back(question_content(campaign, question));
  }
  return contents;
}

std::vector<NetworkPoint> network_points(const Campaign& campaign) {
  std::vector<NetworkPoint> networks;
  if (!makes_joint_choices(campaign.strategy)) {
    return networks;
  }
  for (std::size_t q = 0; q < campaign.questions.size(); ++q) {
    if (!(campaign.questions[q].objective.function == ObjectiveFunction::product(1, 1))) {
      continue;
    }
    std::map<std::string, std::size_t> places;
    for (std::size_t l = 0; l < campaign.layers.size(); ++l) {
      const CampaignLayer& layer = campaign.layers[l];
      if (layer.network.empty()) {
        continue;
      }
      const auto [place, is_new] = places.try_emplace(layer.network, networks.size());
      if (is_new) {
        networks.push_back({layer.network, {}, q, {"", "network\n"}});
      }
      NetworkPoint& point = networks[place->second];
      point.layers.push_back(l);
      point.content.text += fmt::format("{} x {}\n", layer.count, layer_content(layer).id);
    }
  }
  for (NetworkPoint& point : networks) {
    point.content = content(std::move(point.content.text));
  }
  return networks;
}

PointIndex point_index(const Campaign& campaign, std::size_t number) {
  const std::size_t questions = campaign.questions.size();
  const std::size_t layers = campaign.layers.size();
  return {number / questions / layers, number / questions % layers, number % questions};
}

std::string settings_text(const Settings& settings) {
  Json json = Json::object();
  for (const Setting& setting : settings) {
    json[setting.path] = value_json(setting.value);
  }
  return json.dump();
}

Record design_record(const Design& design) {
  return {design.machine->name, settings_text(design.settings)};
}

Record layer_record(const CampaignLayer& layer) { return {layer.network, layer.name, layer.count}; }

Record question_record(const Campaign& campaign, const Question& question) {
  return {objective_text(question), to_string(question.objective.mode), limits_text(question),
          question.constraints, campaign.strategy};
}

std::string campaign_id(const Campaign& campaign) {
  std::string text;
  const auto add = [&text](const std::string& name, const Node& value) {
    text += fmt::format("{}: {}\n", name, flow_text(value));
  };
  for (const Machine& machine : campaign.machines) {
    add(machine.name, machine.document.root);
    text += kernels_text(machine.kernels);
    for (const Settings& settings : machine.list) {
      text += "list\n";
      for (const Setting& setting : settings) {
        add(setting.path, setting.value);
      }
    }
    for (const auto& [path, values] : machine.grid) {
      for (const Node& value : values) {
        add("grid " + path, value);
      }
    }
  }
  for (const CampaignLayer& layer : campaign.layers) {
    text += fmt::format("{} {} {} {}\n", layer.network, layer.name, layer.count,
                        layer_content(layer).id);
  }
  for (const Question& question : campaign.questions) {
    text += fmt::format("{} {}\n", question.constraints, question_content(campaign, question).id);
  }
  return content(text).id;
}

std::optional<Record> solve(const Campaign& campaign, const LoadedDesign& design,
                            const CampaignLayer& layer, const Question& question,
                            const std::atomic<bool>& stop) {
  if (design.gpu) {
    return solve_on_gpu(*design.gpu, design.kernels, campaign.strategy, layer, question);
  }
  if (!design.arch && !design.chip) {
    return without_mapping("error", design.reason, 0);
  }
  if (layer.stream) {
    return price_record(*design.arch, *layer.stream);
  }
  try {
    if (design.chip) {
      return design.chip->plan(*layer.planned, question, stop);
    }
    const Problem problem{*design.arch, layer.workload};
    const Constraints constraints =
        question.constraints_file.empty()
            ? Constraints{}
            : parse_constraints(question.constraints_text, question.constraints_file, problem);
    LayerSearch search{campaign.strategy, {}};
    SearchOptions& options = search.options;
    options.objective = question.objective;
    if (!question.max_latency.empty()) {
      const auto limit = parse_duration(question.max_latency, design.arch->clock);
      if (const auto* wrong = std::get_if<std::string>(&limit)) {
        return without_mapping("error", "max_latency: " + *wrong, 0);
      }
      options.objective.max_latency = std::get<Cycles>(limit);
    }
    options.evaluations = campaign.evaluations;
    options.seed = static_cast<std::uint64_t>(campaign.seed);
    options.budget = campaign.budget;
    if (campaign.budget.bytes == Budget{}.bytes) {  // points are searched side by side
      options.budget.bytes = search_bytes(static_cast<int>(std::thread::hardware_concurrency()));
    }
    options.partial_folds = true;
    options.stop = &stop;
    const FormedResult found = search_layer(problem, layer.workbook, constraints, search);
    if (stop) {
      return std::nullopt;
    }
    return answer_record(layer.workload, found, question.objective.mode);
  } catch (const ConfigError& error) {
    return without_mapping("error", reason_of(error), 0);
  } catch (const UnsupportedSearch& error) {
    return without_mapping("error", error.what(), 0);
  }
}

}  // namespace mapsim
