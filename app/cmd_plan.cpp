// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/onnx_model.hpp"
#include "app/places.hpp"
#include "plan/plan.hpp"

namespace mapsim {

namespace {

// The chip with the engines that may be used.
Soc chip_with(const Soc& soc, const std::vector<std::string>& engines) {
  if (engines.empty()) {
    return soc;
  }
  Soc chip = soc;
  chip.engines.clear();
  chip.transitions.clear();
  Words names;
  std::vector<std::optional<std::size_t>> place(soc.engines.size());
  for (std::size_t e = 0; e < soc.engines.size(); ++e) {
    names.push_back(soc.engines[e].name);
    if (std::find(engines.begin(), engines.end(), soc.engines[e].name) != engines.end()) {
      place[e] = chip.engines.size();
      chip.engines.push_back(soc.engines[e]);
    }
  }
  for (const std::string& name : engines) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      throw UsageError(fmt::format("--engine: {} has no engine '{}'{}", soc.name, name,
                                   suggestion(name, names)));
    }
  }
  for (Transition transition : soc.transitions) {
    const auto by = transition.reformat ? place[*transition.reformat] : std::nullopt;
    if (place[transition.from] && place[transition.to] && (by || !transition.reformat)) {
      transition = {*place[transition.from], *place[transition.to], transition.sync, by};
      chip.transitions.push_back(transition);
    }
  }
  return chip;
}

void check_node(const Network& network, const std::string& name) {
  Words names;
  for (const GraphNode& node : network.graph->nodes) {
    names.push_back(node.name);
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw UsageError(
        fmt::format("--why: {} has no node '{}'{}", network.name, name, suggestion(name, names)));
  }
}

Provenance origin_of(const PlanArguments& arguments, const Soc& soc, const Network& network) {
  Provenance origin{"plan",
                    {input_file("soc", arguments.soc), input_file("network", arguments.network)}};
  for (const Engine& engine : soc.engines) {
    if (engine.file != arguments.soc) {
      origin.inputs.push_back(input_file("engine " + engine.name, engine.file));
    }
  }
  for (const NetworkLayer& layer : network.layers) {
    if (!layer.file.empty()) {
      origin.inputs.push_back(input_file("layer " + layer.name, layer.file));
    }
  }
  origin.warnings = network.warnings;
  return origin;
}

}  // namespace

Answer run(const PlanArguments& arguments) {
  const Soc soc = chip_with(load_soc(arguments.soc, shipped_configs()), arguments.engines);
  Network network = network_of(arguments.network, arguments.onnx);
  if (!network.graph) {
    throw UsageError(fmt::format(
        "{} is a list of layers and has no edges; a plan needs a graph: nodes with `in` and `out` "
        "(configs/networks/graphs, or an ONNX model)",
        arguments.network));
  }
  if (arguments.options.why) {
    check_node(network, *arguments.options.why);
  }
  if (arguments.width > 0) {
    set_width(*network.graph, Bits{arguments.width});
  }
  const PlanAnswer plan =
      make_plan(soc, network, arguments.options, arguments.soc, arguments.network);
  Answer answer;
  answer.code = plan.unpriced.empty() ? kDone : kNegative;
  answer.text = arguments.output.json ? plan_json(origin_of(arguments, soc, network), soc, network,
                                                  arguments.options, plan)
                                      : plan_text(soc, network, arguments.options, plan);
  return answer;
}

}  // namespace mapsim
