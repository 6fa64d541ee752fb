// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "campaign/report.hpp"
#include "campaign/report_energy.hpp"
#include "report/chart.hpp"

namespace mapsim {

namespace {

constexpr std::size_t kMostLayerBars = 60;  // layers

using NamedValues = std::vector<std::pair<std::string, double>>;

double& value_of(NamedValues& list, const std::string& name) {
  for (auto& [known, value] : list) {
    if (known == name) {
      return value;
    }
  }
  return list.emplace_back(name, 0).second;
}

// Nodes of a list of layers, in order, with their energy in J.
NamedValues node_energies(const std::vector<LayerResult>& layers) {
  NamedValues nodes;
  for (const LayerResult& layer : layers) {
    for (const EnergyPart& part : layer.energy) {
      value_of(nodes, part.node) += part.pj * static_cast<double>(layer.count) * kPicojoule;
    }
  }
  return nodes;
}

void drop_idle(NamedValues& nodes) {
  std::erase_if(nodes, [](const auto& node) { return node.second == 0; });
}

// One row of bars per list of layers, one part per node that needs energy in any.
BarPanel node_panel(const std::vector<NamedValues>& rows, StudyColours& colours) {
  BarPanel panel{"energy", "J", {}, {}, {}, {}, 1};
  NamedValues all;
  for (const NamedValues& row : rows) {
    for (const auto& [node, value] : row) {
      value_of(all, node) += value;
    }
  }
  drop_idle(all);
  for (const auto& [node, value] : all) {
    panel.parts.push_back({node, colours.nodes.of(node)});
  }
  for (const NamedValues& row : rows) {
    std::vector<double> values(all.size(), 0.0);
    for (const auto& [node, value] : row) {
      const auto at = std::find_if(all.begin(), all.end(), [&node = node](const auto& entry) {
        return entry.first == node;
      });
      if (at != all.end()) {
        values[static_cast<std::size_t>(at - all.begin())] = value;
      }
    }
    panel.values.push_back(values);
    panel.ends.push_back(si_text(std::accumulate(values.begin(), values.end(), 0.0), "J"));
  }
  return panel;
}

std::string csv_of(const std::vector<std::string>& names, const std::string& row_name,
                   const BarPanel& panel) {
  std::string csv = row_name;
  for (const BarPart& part : panel.parts) {
    csv += fmt::format(",{}", csv_field(part.name + "_j"));
  }
  csv += "\n";
  for (std::size_t row = 0; row < names.size(); ++row) {
    csv += csv_field(names[row]);
    for (const double value : panel.values[row]) {
      csv += fmt::format(",{}", value);
    }
    csv += "\n";
  }
  return csv;
}

// Layers with a mapping in their order; of too many those that take most time or energy.
std::vector<LayerResult> drawn_layers(const DesignResult& design) {
  std::vector<LayerResult> layers;
  std::copy_if(design.layers.begin(), design.layers.end(), std::back_inserter(layers),
               [](const LayerResult& layer) { return layer.energy_pj.has_value(); });
  if (layers.size() <= kMostLayerBars) {
    return layers;
  }
  const double energy = design.energy_pj();
  const auto cycles = static_cast<double>(design.cycles());
  std::vector<double> weights;
  for (const LayerResult& layer : layers) {
    const auto count = static_cast<double>(layer.count);
    weights.push_back(std::max(count * *layer.energy_pj / energy,
                               count * static_cast<double>(layer.cycles) / cycles));
  }
  std::vector<double> sorted = weights;
  std::sort(sorted.begin(), sorted.end(), std::greater<>{});
  const double least = sorted[kMostLayerBars - 1];
  std::vector<LayerResult> kept;
  for (std::size_t i = 0; i < layers.size() && kept.size() < kMostLayerBars; ++i) {
    if (weights[i] >= least) {
      kept.push_back(layers[i]);
    }
  }
  return kept;
}

std::string times(const LayerResult& layer) {
  return layer.layer + (layer.count > 1 ? fmt::format(" \u00d7{}", layer.count) : "");
}

double layer_seconds(const DesignResult& design, const LayerResult& layer) {
  return static_cast<double>(layer.cycles) / design.clock_hz;
}

// "design 17 (eyeriss, GLB.capacity 64 KiB)", or the machine alone where there is one design.
std::string design_words(const Study& study, const DesignResult& design) {
  return study.designs.size() == 1 ? design.name()
                                   : fmt::format("design {} ({})", design.number, design.name());
}

// What sets the designs apart: paths whose values differ, and whether the machines do.
struct Differences {
  bool machines = false;
  std::vector<std::string> paths;
};
Differences differences(const std::vector<const DesignResult*>& designs) {
  Differences found;
  const auto add = [&](const std::string& path) {
    if (std::find(found.paths.begin(), found.paths.end(), path) == found.paths.end()) {
      found.paths.push_back(path);
    }
  };
  for (const DesignResult* design : designs) {
    found.machines = found.machines || design->arch != designs.front()->arch;
    for (const auto& setting : design->settings) {
      const bool same = std::all_of(designs.begin(), designs.end(), [&](const DesignResult* other) {
        return std::find(other->settings.begin(), other->settings.end(), setting) !=
               other->settings.end();
      });
      if (!same) {
        add(setting.first);
      }
    }
  }
  return found;
}

// "17  64 KiB · 12": the number, the machine if they differ, and the values that do.
std::string short_name(const DesignResult& design, const Differences& found) {
  std::string text = fmt::format("{}:", design.number);
  const char* separator = " ";
  const auto add = [&](const std::string& word) {
    text += separator + word;
    separator = " \u00b7 ";
  };
  if (found.machines) {
    add(design.arch);
  }
  for (const auto& [path, value] : design.settings) {
    if (std::find(found.paths.begin(), found.paths.end(), path) != found.paths.end()) {
      add(value);
    }
  }
  return text;
}

}  // namespace

std::string designs_link(std::size_t source, const std::string& campaign) {
  return fmt::format("{} {}", source + 1, campaign);
}

std::string layers_link(const Study& study) {
  return study.network.empty() ? designs_link(study.source, study.campaign)
                               : "network " + study.network;
}

std::string layers_name(const Study& study) {
  if (!study.network.empty()) {
    return study.network;
  }
  for (const DesignResult& design : study.designs) {
    if (design.layers.size() == 1) {
      return design.layers.front().layer;
    }
  }
  return fmt::format("{} layers", study.designs.front().sums.layers);
}

PageFigure designs_figure(const Study& study, const StudyPoints& all, const std::string& name) {
  const auto front = std::count_if(all.points.begin(), all.points.end(),
                                   [](const DesignPoint& point) { return point.on_front; });
  const bool areas = all.points.front().area.has_value();
  const std::vector<std::string> paths = setting_paths(study);
  std::string csv = "design,name,";
  for (const std::string& path : paths) {
    csv += csv_field(path) + ",";
  }
  csv += "energy_j,latency_s,area_mm2,on_front\n";
  std::vector<DesignPoint> drawn;
  for (const std::size_t i : drawn_points(all.points)) {
    const DesignResult& design = *all.designs[i];
    DesignPoint point = all.points[i];
    point.title = fmt::format("{}: {}", design.number, design.name());
    csv += fmt::format("{},{},", point.name, csv_field(design.name()));
    for (const std::string& path : paths) {
      csv += csv_field(setting_value(design, path)) + ",";
    }
    csv += fmt::format("{},{},{},{}\n", point.energy, point.seconds,
                       point.area ? fmt::format("{}", *point.area) : "", point.on_front ? 1 : 0);
    drawn.push_back(std::move(point));
  }
  const std::string some =
      drawn.size() == all.points.size()
          ? ""
          : fmt::format(" Of {} designs {} are drawn: of dots that would cover each other one.",
                        all.points.size(), drawn.size());
  const std::string caption = fmt::format(
      "{} designs on {}. In colour, by their numbers, the {} that no other beats in energy{} "
      "and latency{}; the line is the front of each pair of figures alone. Ringed: the best by the "
      "objective, {}.{}",
      all.points.size(), layers_name(study), front, areas ? ", area" : "", areas ? " together" : "",
      study.objective, some);
  return {name,
          caption,
          designs_svg(caption, drawn),
          csv,
          {designs_link(study.source, study.campaign), ""}};
}

PageFigure design_energy_figure(const Study& study, const StudyPoints& points,
                                const std::string& name, StudyColours& colours) {
  std::vector<std::string> names;
  std::vector<NamedValues> rows;
  const std::vector<const DesignResult*> designs = drawn_designs(points);
  const Differences found = differences(designs);
  for (const DesignResult* design : designs) {
    names.push_back(short_name(*design, found));
    rows.push_back(node_energies(design->layers));
  }
  std::string paths;
  for (const std::string& path : found.paths) {
    paths.append(paths.empty() ? ": number, " : ", ").append(short_path(path));
  }
  const BarPanel panel = node_panel(rows, colours);
  const std::string caption =
      fmt::format("Energy of {} by node, {}{}.", layers_name(study),
                  designs.size() == study.designs.size()
                      ? "all designs"
                      : fmt::format("{} of {} designs", designs.size(), study.designs.size()),
                  paths);
  return {name,
          caption,
          bars_svg(caption, names, {panel}),
          csv_of(names, "design", panel),
          {designs_link(study.source, study.campaign), ""}};
}

PageFigure layers_figure(const Study& study, const DesignResult& design, const std::string& name,
                         StudyColours& colours) {
  const std::vector<LayerResult> layers = drawn_layers(design);
  std::vector<std::string> names;
  std::vector<NamedValues> rows;
  BarPanel latency{"latency", "s", {{"latency", kAccent}}, {}, {}, {}, 0.46};
  for (const LayerResult& layer : layers) {
    names.push_back(times(layer));
    rows.push_back(node_energies({layer}));
    const double seconds = layer_seconds(design, layer) * static_cast<double>(layer.count);
    latency.values.push_back({seconds});
    latency.ends.push_back(fmt::format("{} {}", si_text(seconds, "s"), layer.bottleneck));
    latency.needles.push_back(layer.macs > 0 ? layer.utilization * seconds : -1);
  }
  BarPanel energy = node_panel(rows, colours);
  energy.share = 0.54;
  std::string csv = "layer,count,macs,energy_j,latency_s,utilization,bottleneck\n";
  for (const LayerResult& layer : layers) {
    csv += fmt::format("{},{},{},{},{},{},{}\n", csv_field(layer.layer), layer.count, layer.macs,
                       *layer.energy_pj * kPicojoule, layer_seconds(design, layer),
                       layer.utilization, csv_field(layer.bottleneck));
  }
  const auto mapped = static_cast<std::size_t>(
      std::count_if(design.layers.begin(), design.layers.end(),
                    [](const LayerResult& layer) { return layer.energy_pj.has_value(); }));
  const std::string some =
      layers.size() == mapped
          ? ""
          : fmt::format(" The {} of {} that take most of either.", layers.size(), mapped);
  const std::string caption = fmt::format(
      "Layer by layer, {} on {}{}: energy by node, and latency with what "
      "limits it. The stroke across a bar is the time that the MAC units alone would need.{}",
      layers_name(study), design_words(study, design),
      study.network.empty() ? "" : ", each as often as it occurs", some);
  return {
      name, caption, bars_svg(caption, names, {energy, latency}), csv, {"", layers_link(study)}};
}

PageFigure breakdown_figure(const Study& study, const DesignResult& design, const std::string& name,
                            StudyColours& colours) {
  NamedValues nodes = node_energies(design.layers);
  drop_idle(nodes);
  NamedValues tensors;
  double others = 0;  // of no tensor
  std::vector<std::string> names;
  std::vector<NamedValues> rows(nodes.size());
  for (const auto& [node, energy] : nodes) {
    names.push_back(node);
  }
  for (const LayerResult& layer : design.layers) {
    for (const EnergyPart& part : layer.energy) {
      const auto at = std::find(names.begin(), names.end(), part.node);
      const double joules = part.pj * static_cast<double>(layer.count) * kPicojoule;
      if (at == names.end()) {
        continue;
      }
      (part.tensor.empty() ? others : value_of(tensors, part.tensor)) += joules;
      value_of(rows[static_cast<std::size_t>(at - names.begin())], part.tensor) += joules;
    }
  }
  BarPanel panel{"energy", "J", {}, {}, {}, {}, 1};
  for (const auto& [tensor, energy] : tensors) {
    panel.parts.push_back({tensor, colours.tensors.of(tensor)});
  }
  if (others > 0) {
    panel.parts.push_back({"no tensor", "#777777"});
  }
  const double total = design.energy_pj() * kPicojoule;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    panel.values.emplace_back();
    for (const BarPart& part : panel.parts) {
      panel.values.back().push_back(value_of(rows[row], part.fill == "#777777" ? "" : part.name));
    }
    panel.ends.push_back(fmt::format("{}  {:.1f} %", si_text(nodes[row].second, "J"),
                                     total > 0 ? 100 * nodes[row].second / total : 0));
  }
  const std::string caption =
      fmt::format("Energy of {} on {}: {} by node and tensor.", layers_name(study),
                  design_words(study, design), si_text(total, "J", 4));
  return {name, caption, bars_svg(caption, names, {panel}), csv_of(names, "node", panel)};
}

bool has_roofline(const DesignResult& design) {
  return std::any_of(design.layers.begin(), design.layers.end(), [](const LayerResult& layer) {
    return layer.energy_pj && layer.ops > 0 && layer.bytes > 0 && layer.cycles > 0 &&
           layer.peak_ops;
  });
}

PageFigure roofline_figure(const Study& study, const DesignResult& design,
                           const std::string& name) {
  RooflineChart chart;
  std::string csv =
      "layer,intensity_op_per_byte,performance_op_per_s,peak_op_per_s,"
      "peak_byte_per_s,time_share\n";
  const double whole = design.seconds();
  for (const LayerResult& layer : design.layers) {
    if (!layer.energy_pj || layer.ops <= 0 || layer.bytes <= 0 || layer.cycles <= 0 ||
        !layer.peak_ops) {
      continue;
    }
    const double seconds = layer_seconds(design, layer);
    const RooflinePoint point{layer.layer, layer.ops / layer.bytes, layer.ops / seconds,
                              seconds * static_cast<double>(layer.count) / whole};
    chart.points.push_back(point);
    chart.peak_ops = std::max(chart.peak_ops, *layer.peak_ops);
    const auto is_drawn = [&layer](double roof) {
      constexpr double kSame = 1e-9;
      return std::abs(roof - *layer.peak_bytes) <= kSame * roof;
    };
    if (layer.peak_bytes &&
        std::none_of(chart.bytes_per_second.begin(), chart.bytes_per_second.end(), is_drawn)) {
      chart.bytes_per_second.push_back(*layer.peak_bytes);
    }
    csv += fmt::format("{},{},{},{},{},{}\n", csv_field(layer.layer), point.intensity,
                       point.performance, *layer.peak_ops,
                       layer.peak_bytes ? fmt::format("{}", *layer.peak_bytes) : "", point.share);
  }
  std::sort(chart.bytes_per_second.begin(), chart.bytes_per_second.end(), std::greater<>{});
  if (const DesignResult::Streams streams = design.streams(); streams.count > 0) {
    chart.note = fmt::format("besides: {} operators without MACs, {:.1f} % of the time",
                             streams.count, 100 * streams.time);
  }
  const std::string caption = fmt::format(
      "Roofline of {} with {}. Bytes are those that must cross to memory at least "
      "once; the area of a dot is the share of the time.{}",
      design_words(study, design),
      study.network.empty() ? layers_name(study)
                            : fmt::format("the layers of {}", layers_name(study)),
      chart.note.empty() ? "" : " Memory-bound operators have no MACs to count, and no dot.");
  return {name, caption, roofline_svg(caption, chart), csv, {"", layers_link(study)}};
}

PageFigure histogram_figure(const HistogramResult& histogram, const std::string& name) {
  EnergyBins bins{{}, histogram.counts, {}};
  std::string csv = "from_j,to_j,mappings\n";
  for (const double edge : histogram.edges_pj) {
    bins.edges.push_back(edge * kPicojoule);
  }
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    csv += fmt::format("{},{},{}\n", bins.edges[i], bins.edges[i + 1], bins.counts[i]);
  }
  if (histogram.optimum_pj) {
    bins.optimum = *histogram.optimum_pj * kPicojoule;
  }
  const std::string caption =
      fmt::format("Energy of {} mappings of {} on {}, in bins of equal width in the logarithm.",
                  histogram.mappings, histogram.workload, histogram.arch);
  return {name, caption, energies_svg(caption, bins), csv};
}

PageFigure front_figure(const FrontResult& front, const std::string& name) {
  std::vector<DesignPoint> points;
  std::string csv = "point,energy_j,latency_s\n";
  for (const auto& [pj, seconds] : front.points) {
    const std::string number = fmt::format("{}", points.size() + 1);
    points.push_back({number,
                      fmt::format("{}: {}, {}", number, si_text(pj * kPicojoule, "J", 4),
                                  si_text(seconds, "s", 4)),
                      pj * kPicojoule, seconds, std::nullopt, true, false});
    csv += fmt::format("{},{},{}\n", number, pj * kPicojoule, seconds);
  }
  const std::string caption = fmt::format(
      "Mappings of {} on {} that none beats in both energy and latency: {}{}.", front.workload,
      front.arch, points.size(), front.complete ? ", proven" : " met before the search ended");
  return {name, caption, designs_svg(caption, points), csv};
}

PageFigure predictions_figure(const MeasuredResult& measured, const std::string& name) {
  std::string csv = "series,kernel,measured_s,predicted_s\n";
  std::size_t kernel = 0;
  for (const PredictionSeries& series : measured.series) {
    for (const Point& point : series.seconds) {
      csv += fmt::format("{},{},{},{}\n", csv_field(series.name),
                         csv_field(measured.kernels[kernel++]), point.x, point.y);
    }
  }
  const std::string caption = fmt::format(
      "Times of {} kernels on {}: predicted over measured. Along the line they are equal; the "
      "dashed lines are a factor of two away.",
      kernel, measured.gpu);
  return {name, caption, predictions_svg(caption, measured.series), csv};
}

}  // namespace mapsim
