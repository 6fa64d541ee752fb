// SPDX-License-Identifier: Apache-2.0
#include "campaign/warnings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "campaign/network_widths.hpp"
#include "campaign/point.hpp"
#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

// A question that a design contradicts has no warnings: its row says why.
std::vector<LackingRule> lacking_rules(const Question& question, const Problem& problem) {
  std::vector<LackingRule> lacking;
  try {
    parse_constraints(question.constraints_text, question.constraints_file, problem, &lacking);
  } catch (const ConfigError&) {
    lacking.clear();
  }
  return lacking;
}

// The networks of a campaign, as far as their widths go.
std::vector<Network> networks_of(const Campaign& campaign) {
  std::vector<Network> networks;
  for (const CampaignLayer& layer : campaign.layers) {
    if (layer.network.empty() || layer.stream) {
      continue;
    }
    if (networks.empty() || networks.back().name != layer.network) {
      networks.emplace_back().name = layer.network;
    }
    networks.back().layers.push_back({layer.name, layer.workload, layer.count, "of a campaign"});
  }
  return networks;
}

// Layers that belong to no network.
Network lone_layers(const Campaign& campaign) {
  Network lone;
  for (const CampaignLayer& layer : campaign.layers) {
    if (layer.network.empty() && !layer.stream) {
      lone.layers.push_back({layer.name, layer.workload, layer.count, "of a campaign"});
    }
  }
  return lone;
}

void add_new(const std::string& warning, std::vector<std::string>& warnings) {
  if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) {
    warnings.push_back(warning);
  }
}

}  // namespace

void LackingLayers::add(const std::vector<LackingRule>& rules, const std::string& layer) {
  for (const LackingRule& rule : rules) {
    const auto same = [&](const auto& known) { return known.first == rule; };
    auto known = std::find_if(layers_.begin(), layers_.end(), same);
    if (known == layers_.end()) {
      known = layers_.insert(known, {rule, {}});
    }
    if (std::find(known->second.begin(), known->second.end(), layer) == known->second.end()) {
      known->second.push_back(layer);
    }
  }
}

std::vector<std::string> LackingLayers::warnings() const {
  std::vector<std::string> result;
  for (const auto& [rule, layers] : layers_) {
    const bool one = layers.size() == 1;
    result.push_back(
        warning_of(rule, fmt::format("{} {}", fmt::join(layers, ", "), one ? "has" : "have")));
  }
  return result;
}

std::vector<std::string> campaign_warnings(const Campaign& campaign) {
  std::vector<std::string> warnings = campaign.warnings;
  const std::vector<Network> networks = networks_of(campaign);
  LackingLayers lacking;
  std::size_t first = 0;
  for (const Machine& machine : campaign.machines) {
    const LoadedDesign loaded = load(design(campaign, first));
    first += machine.designs();
    if (!loaded.arch) {
      continue;
    }
    Arch arch = *loaded.arch;
    arch.name = machine.name;
    for (const Network& network : networks) {
      for (const std::string& warning : network_warnings(arch, network)) {
        add_new(network.name + ": " + warning, warnings);
      }
    }
    for (const std::string& warning : zero_warnings(arch, lone_layers(campaign))) {
      add_new(warning, warnings);
    }
    for (const Question& question : campaign.questions) {
      for (const CampaignLayer& layer : campaign.layers) {
        if (!question.constraints_file.empty() && !layer.stream) {
          lacking.add(lacking_rules(question, Problem{arch, layer.workload}), layer.name);
        }
      }
    }
  }
  for (const std::string& warning : lacking.warnings()) {
    add_new(warning, warnings);
  }
  return warnings;
}

}  // namespace mapsim
