// SPDX-License-Identifier: Apache-2.0
#include "design/certificate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "arch/load.hpp"
#include "arch/print.hpp"
#include "check/certificate.hpp"
#include "core/substitute.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/timing/model.hpp"
#include "workloads/masks.hpp"
#include "workloads/print.hpp"

namespace mapsim {

namespace {

std::string box_text(const DesignBox& box) {
  std::string text;
  for (const ValueInterval& interval : box) {
    text += fmt::format(" {}-{}", interval.low, interval.high);
  }
  return text;
}

// [[[path, value], ...], ...]
std::string axis_text(const DesignAxis& axis) {
  std::vector<std::string> values;
  for (const Settings& settings : axis.values) {
    std::vector<std::string> changes;
    for (const Setting& setting : settings) {
      changes.push_back(fmt::format("[{:?}, {}]", setting.path, flow_text(setting.value)));
    }
    values.push_back(fmt::format("[{}]", fmt::join(changes, ", ")));
  }
  return fmt::format("      - name: {:?}\n        values: [{}]\n", axis.name,
                     fmt::join(values, ", "));
}

std::string limits_text(const DesignLimits& limits) {
  std::string text;
  const auto add = [&text](const char* key, const auto& limit) {
    text += limit ? fmt::format("{}: {}\n", key, limit->count()) : "";
  };
  add("max_area_mm2", limits.area);
  add("max_energy_pj", limits.energy);
  add("max_latency_seconds", limits.latency);
  add("max_power_mw", limits.power);
  return text;
}

std::string head_text(const Campaign& campaign, const DesignOptions& options,
                      const DesignAnswer& answer, const std::vector<DistinctLayer>& layers,
                      double gap) {
  std::vector<std::string> counts;
  for (const DistinctLayer& layer : layers) {
    counts.push_back(fmt::format("{}", layer.count));
  }
  std::string text = fmt::format(
      "design_certificate: 1\ntool: mapsim {}\nobjective: {:?}\nlatency: {}\nwanted: {}\ntop: "
      "{}\ngap: "
      "{}\n{}counts: [{}]\nspaces:\n",
      tool_version(), to_string(options.objective),
      to_string(campaign.questions.front().objective.mode),
      options.wanted == Wanted::kFront ? "front" : "best", options.top, gap,
      limits_text(options.limits), fmt::join(counts, ", "));
  for (std::size_t s = 0; s < campaign.machines.size(); ++s) {
    text += fmt::format("  - name: {:?}\n", campaign.machines[s].name);
    text += answer.evidence.axes[s].empty() ? "" : "    axes:\n";
    for (const DesignAxis& axis : answer.evidence.axes[s]) {
      text += axis_text(axis);
    }
  }
  return text;
}

std::string layers_text(const std::vector<DistinctLayer>& layers) {
  std::string text;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const CampaignLayer& layer = *layers[l].layer;
    text += layer.stream ? fmt::format("--- moves {} {} {}\n", l, layer.stream->in.count(),
                                       layer.stream->out.count())
                         : fmt::format("--- layer {}\n{}", l, print_workload(layer.workload));
    std::string masks;
    for (const MaskFile& mask : masks_of(layer.workload)) {
      masks += fmt::format("{}: \"{:016x}\"\n", mask.tensor, mask.hash);
    }
    text += layer.stream || masks.empty() ? "" : fmt::format("--- masks {}\n{}", l, masks);
  }
  return text;
}

std::string claim_text(const BestDesign& design, const std::vector<DistinctLayer>& layers) {
  std::string text = fmt::format("--- answer {} {}\nvalue: {}\n", design.space,
                                 fmt::join(design.values, " "), design.value);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (design.layers[l].mapping) {
      text += fmt::format(
          "--- mapping {}\n{}", l,
          print_mapping(design.arch, layers[l].layer->workload, *design.layers[l].mapping));
    }
  }
  return text;
}

std::string evidence_text(const DesignEvidence& evidence, std::size_t space) {
  constexpr std::array kWhy{"bound", "area", "limit", "unreadable"};  // in the order of Leaf::Why
  std::string text = fmt::format("--- leaves {}\n", space);
  for (const Leaf& leaf : evidence.leaves) {
    if (leaf.space == space) {
      text += kWhy[static_cast<std::size_t>(leaf.why)] + box_text(leaf.box) + '\n';
    }
  }
  text += fmt::format("--- proofs {}\n", space);
  for (const ProvenBound& bound : evidence.bounds) {
    if (bound.space == space) {
      text += fmt::format("{} {}{} : {}\n", bound.layer,
                          std::isinf(bound.lower) ? "nothing-fits" : fmt::format("{}", bound.lower),
                          box_text(bound.box), to_string(bound.function));
    }
  }
  return text;
}

// Why no certificate is about these machines, whatever is asked.
std::string why_not_about(const Campaign& campaign) {
  if (!campaign.questions.front().constraints_file.empty()) {
    return "certificates of designs are about all mappings; take the constraints out of the file";
  }
  for (const Machine& machine : campaign.machines) {
    const Arch arch = read_arch(machine.document);
    if (timing_model(arch).is_engine) {
      return fmt::format("certificates of designs know no engines with schedules, such as {}",
                         machine.name);
    }
    if (!arch.ert_file.empty() || !arch.art_file.empty()) {
      return fmt::format("certificates of designs hold no tables of Accelergy, which {} names",
                         machine.name);
    }
  }
  return "";
}

}  // namespace

std::string why_no_certificate(const Campaign& campaign, const DesignOptions& options) {
  const bool by_time = options.objective.function.uses_latency() || options.limits.on_figures();
  for (const Machine& machine : campaign.machines) {
    if (by_time && may_leave_remainders(read_arch(machine.document))) {
      return fmt::format(
          "certificates of designs do not cover folds that leave a remainder on an array, which "
          "the mappings of {} may have",
          machine.name);
    }
  }
  return why_not_about(campaign);
}

std::string why_no_certificate(const DesignOptions& options, const DesignAnswer& answer) {
  const bool is_one = options.wanted == Wanted::kBest && options.top == 1;
  if (answer.evidence.is_by_choice) {
    return "limits on energy, latency or power chose among the mappings, which is more than "
           "certificates of designs can show";
  }
  return answer.interrupted && (!is_one || answer.best() == nullptr || !(answer.lower_bound > 0))
             ? "the search ended early"
             : "";
}

std::string design_certificate(const Campaign& campaign, const DesignOptions& options,
                               const DesignAnswer& answer) {
  if (!why_no_certificate(options, answer).empty()) {
    return "";
  }
  double gap = options.gap;
  if (answer.interrupted) {
    gap = std::max(gap, answer.best()->value / answer.lower_bound - 1);
  }
  const std::vector<DistinctLayer> layers = distinct_layers(campaign);
  std::string text = head_text(campaign, options, answer, layers, gap);
  for (const Machine& machine : campaign.machines) {
    text += fmt::format("--- architecture\n{}\n", flow_text(machine.document.root));
  }
  text += layers_text(layers);
  for (const BestDesign& design : answer.designs) {
    text += claim_text(design, layers);
  }
  for (std::size_t s = 0; s < campaign.machines.size(); ++s) {
    text += evidence_text(answer.evidence, s);
  }
  return text + check::seal(text);
}

namespace {

// "nodes.GLB.capacity: 64 KiB" of each path that a value of an axis changes.
template <class Axis>
std::string setting_text(const Axis& axis, std::size_t value) {
  std::string text;
  for (const auto& [path, node] : axis.values[value]) {
    text += fmt::format("{}: {}\n", path, flow_text(node));
  }
  return text;
}

bool is_same(const check::GridAxis& axis, const DesignAxis& other) {
  bool same = axis.name == other.name && axis.values.size() == other.values.size();
  for (std::size_t v = 0; same && v < axis.values.size(); ++v) {
    same = setting_text(axis, v) == setting_text(other, v);
  }
  return same;
}

// Of equal axes machines differ where their first designs do, or those that differ from it in one
// axis: an item of a list may leave to the file what another one sets.
std::string difference(const check::DesignGrid& grid, const Machine& machine) {
  const DesignSpace space{machine, false};
  if (grid.axes().size() != space.axes().size()) {
    return fmt::format("has {} axes, not {}", grid.axes().size(), space.axes().size());
  }
  for (std::size_t a = 0; a < space.axes().size(); ++a) {
    if (!is_same(grid.axes()[a], space.axes()[a])) {
      return fmt::format("has other values of {}", space.axes()[a].name);
    }
  }
  std::vector<std::vector<std::size_t>> designs{std::vector<std::size_t>(space.axes().size(), 0)};
  for (std::size_t a = 0; a < space.axes().size(); ++a) {
    for (std::size_t v = 1; v < space.axes()[a].values.size(); ++v) {
      designs.push_back(designs.front());
      designs.back()[a] = v;
    }
  }
  const bool same = std::all_of(designs.begin(), designs.end(), [&](const auto& values) {
    Arch arch = grid.arch(values);
    arch.name = machine.name;
    return print_arch(arch) == print_arch(space.arch(values));
  });
  return same ? "" : "has another architecture";
}

bool is_same(const check::DesignLayer& layer, const DistinctLayer& other) {
  const CampaignLayer& of = *other.layer;
  if (layer.count != other.count || layer.workload.has_value() != !of.stream) {
    return false;
  }
  return of.stream ? layer.in == of.stream->in && layer.out == of.stream->out
                   : print_workload(*layer.workload) == print_workload(of.workload);
}

}  // namespace

std::vector<std::string> differences(const check::DesignCertificate& certificate,
                                     const Campaign& space) {
  if (certificate.spaces.size() != space.machines.size()) {
    return {fmt::format("the proof is about {} architectures, {} has {}", certificate.spaces.size(),
                        space.name, space.machines.size())};
  }
  if (const std::string why = why_not_about(space); !why.empty()) {
    return {fmt::format("no proof is about {}: {}", space.name, why)};
  }
  std::vector<std::string> found;
  const bool ramped = space.questions.front().objective.mode == LatencyMode::kRamped;
  if (certificate.ramped != ramped) {
    found.push_back(fmt::format("the proof is about another latency than {}, which says {}",
                                space.name, ramped ? "ramped" : "steady"));
  }
  for (std::size_t s = 0; s < space.machines.size(); ++s) {
    if (const std::string what = difference(certificate.spaces[s], space.machines[s]);
        !what.empty()) {
      found.push_back(fmt::format("the proof is not about {} of {}: it {}", space.machines[s].name,
                                  space.name, what));
    }
  }
  const std::vector<DistinctLayer> layers = distinct_layers(space);
  const auto alike = [](const auto& layer, const auto& other) { return is_same(layer, other); };
  if (!std::equal(certificate.layers.begin(), certificate.layers.end(), layers.begin(),
                  layers.end(), alike)) {
    found.push_back(fmt::format("the proof is about other layers than those of {}", space.name));
  }
  return found;
}

}  // namespace mapsim
