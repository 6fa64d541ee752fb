// SPDX-License-Identifier: Apache-2.0
#include "interop/timeloop_objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "interop/foreign_yaml.hpp"

namespace mapsim {

namespace {

std::vector<std::string> metrics_of(const Node& mapper) {
  std::vector<std::string> metrics;
  for (const char* key : {"optimization_metrics", "optimization-metrics", "optimization_metric",
                          "optimization-metric"}) {
    const Node* given = value_of(mapper, key);
    if (given == nullptr || !metrics.empty()) {
      continue;
    }
    if (given->kind == Node::Kind::kScalar) {
      metrics.push_back(given->text);
    }
    for (const Node& each : given->items) {
      metrics.push_back(each.text);
    }
  }
  return metrics;
}

}  // namespace

std::string timeloop_objective(const Node& mapper, ImportNotes& notes) {
  std::vector<std::string> metrics = metrics_of(mapper);
  if (metrics.empty()) {
    return "edp";
  }
  std::replace(metrics.begin(), metrics.end(), std::string{"delay"}, std::string{"latency"});
  const auto is_figure = [](const std::string& metric) {
    return metric == "energy" || metric == "latency";
  };
  const bool both = metrics.size() == 2 && metrics[0] != metrics[1] && is_figure(metrics[0]) &&
                    is_figure(metrics[1]);
  if (both) {
    return metrics[0] + "," + metrics[1];
  }
  const bool known = metrics[0] == "edp" || is_figure(metrics[0]);
  if (!known || metrics.size() > 1) {
    notes.lines.push_back(
        fmt::format("optimization metrics {}: {}", joined(metrics, ", "),
                    known ? "only the first has a part in the objective"
                          : "the first has no counterpart; mapsim search minimises the energy"));
  }
  return known ? metrics[0] : "";
}

}  // namespace mapsim
