// SPDX-License-Identifier: Apache-2.0
#include "campaign/chip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "campaign/campaign.hpp"
#include "campaign/point.hpp"
#include "core/quantity_text.hpp"

namespace mapsim {

namespace {

std::string tensor_text(const GraphTensor& tensor) {
  return fmt::format("tensor {} [{}] {} b{}\n", tensor.name,
                     tensor.shape ? fmt::format("{}", fmt::join(*tensor.shape, ", ")) : "?",
                     tensor.bits.count(), tensor.constant ? " constant" : "");
}

std::string node_text(const GraphNode& node) {
  std::string text =
      fmt::format("node {}: {} ({})\n", node.name, node.op, static_cast<int>(node.kind));
  for (const GraphUse& use : node.in) {
    text += use.of ? fmt::format("  in {} as {}\n", use.tensor, static_cast<std::size_t>(*use.of))
                   : fmt::format("  in {}\n", use.tensor);
  }
  text += fmt::format("  out {}, epilogue {}, axes {}, reads {} b, writes {} b, parameters {}{}\n",
                      fmt::join(node.out, " "), fmt::join(node.epilogue, " "),
                      fmt::join(node.axes, " "), node.reads.count(), node.writes.count(),
                      node.parameters, node.unpriced.empty() ? "" : ", unpriced " + node.unpriced);
  for (const NodeLayer& layer : node.layers) {
    text += fmt::format("  {} x\n{}", layer.count, layer_content({"", "", 1, layer.workload}).text);
  }
  return text;
}

// What plans do not answer of a question; empty: nothing.
std::string unanswered(const Question& question) {
  const Objective& objective = question.objective;
  const bool energy = objective.function == Objective::kEnergy.function;
  return objective.function == Objective::kLatency.function || energy
             ? objective.mode != LatencyMode::kSteady
                   ? "ramped latency is of mappings; a plan has one latency"
               : objective.max_energy ? "max_energy is not for plans"
               : !question.max_latency.empty() && (question.is_throughput || !energy)
                   ? "of plans, only those of least energy have a limit on latency"
               : !question.max_latency.empty() &&
                       std::holds_alternative<std::string>(parse_seconds(question.max_latency))
                   ? "max_latency: a chip has several clocks; give a time, such as 2 ms"
                   : ""
             : fmt::format("{} is not for plans: latency, energy or throughput",
                           to_string(objective));
}

}  // namespace

bool describes_chip(const Document& document) {
  return std::any_of(document.root.entries.begin(), document.root.entries.end(),
                     [](const Entry& entry) { return entry.key.text == "soc"; });
}

std::string graph_text(const Network& network) {
  const NetworkGraph& graph = *network.graph;
  std::string text = fmt::format("graph\nbatch {}\n", network.batch);
  for (const GraphTensor& tensor : graph.tensors) {
    text += tensor_text(tensor);
  }
  for (const GraphNode& node : graph.nodes) {
    text += node_text(node);
  }
  return text + fmt::format("inputs {}\noutputs {}\n", fmt::join(graph.inputs, " "),
                            fmt::join(graph.outputs, " "));
}

void check_chips(Reader& reader, const Fields& fields, const Campaign& campaign) {
  const auto is_chip = [](const Machine& machine) { return machine.read_chip != nullptr; };
  const auto chips = std::count_if(campaign.machines.begin(), campaign.machines.end(), is_chip);
  const Node* const objectives = fields.find("objectives");
  if (chips == 0) {
    for (std::size_t i = 0; objectives != nullptr && i < campaign.questions.size(); ++i) {
      if (campaign.questions[i].is_throughput) {
        reader.error(*objectives,
                     "throughput is an objective of chips with several engines, files with `soc`");
        return;
      }
    }
    return;
  }
  if (chips < static_cast<std::ptrdiff_t>(campaign.machines.size())) {
    reader.error(fields.place("architectures"),
                 "chips, which run whole networks, beside architectures, which run layers; make a "
                 "campaign of each");
    return;
  }
  for (const char* key :
       {"workloads", "constraints", "strategy", "evaluations", "seed", "budget_labels"}) {
    if (fields.has(key)) {
      reader.error(fields.place(key), fmt::format("'{}' is about single layers; on a chip whole "
                                                  "networks are planned",
                                                  key));
    }
  }
  if (objectives != nullptr && reader.errors() == 0) {  // an item is a question
    const std::vector<const Node*> items = reader.items(*objectives, "a list of objectives");
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (const std::string problem = unanswered(campaign.questions[i]); !problem.empty()) {
        reader.error(*items[i], problem);
      }
    }
  }
}

}  // namespace mapsim
