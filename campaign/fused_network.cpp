// SPDX-License-Identifier: Apache-2.0
#include "campaign/fused_network.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "costmodel/fusion/tree.hpp"
#include "report/figures.hpp"
#include "report/json_head.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

double energy_of(const ChainResult& result) { return result.cost->energy.count(); }

std::string proof_text(const ChainResult& result) {
  if (result.proven) {
    return "proven";
  }
  return result.lower_bound > 0
             ? fmt::format("gap {:.2g} %", 100 * (energy_of(result) / result.lower_bound - 1))
             : "no proof";
}

// Unpriced nodes, by operator.
std::string unpriced_text(const Network& network) {
  std::string text;
  for (const auto& [kind, count] : network.unpriced) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  }
  return text;
}

}  // namespace

FusedNetwork search_fused(const Arch& arch, const Network& network, const FusionLimits& limits,
                          const SearchOptions& options,
                          const std::function<void(const GraphChains&, std::size_t)>& progress) {
  const NetworkGraph& graph = *network.graph;
  FusedNetwork fused;
  fused.graph = chains_of(graph);
  for (const std::size_t n : fused.graph.streams) {
    const StreamCost cost = stream_cost(arch, graph.nodes[n].reads, graph.nodes[n].writes);
    fused.streams.energy += cost.energy;
    fused.streams.latency += cost.latency;
  }
  SearchOptions share = options;
  double left = options.budget.seconds;
  for (std::size_t i = 0; i < fused.graph.chains.size() && !fused.interrupted; ++i) {
    progress(fused.graph, i);
    const EinsumChain& chain = fused.graph.chains[i].chain;
    share.budget.seconds = left / static_cast<double>(fused.graph.chains.size() - i);
    fused.found.push_back(compare_ways(arch, chain, limits, share));
    const ChainComparison& found = fused.found.back();
    left -= found.spilled.seconds + found.on_chip.seconds + found.fused.seconds;
    left = std::max(0.0, left);
    fused.interrupted = options.stop != nullptr && *options.stop;
  }
  NetworkOptions layers;
  layers.search = options;
  fused.unfused =
      totals(arch, network, search_network(arch, network, layers), options.objective.mode);
  return fused;
}

FusedTotals totals(const FusedNetwork& network) {
  FusedTotals sums;
  sums.spilled = sums.on_chip = sums.best = sums.lower_bound = network.streams.energy.count();
  for (std::size_t i = 0; i < network.graph.chains.size(); ++i) {
    const auto count = static_cast<double>(network.graph.chains[i].count);
    const ChainComparison* found = i < network.found.size() ? &network.found[i] : nullptr;
    if (found == nullptr || !found->fused.cost || !found->on_chip.cost || !found->spilled.cost) {
      sums.missing += network.graph.chains[i].count;
      sums.proven = false;
      continue;
    }
    sums.spilled += count * energy_of(found->spilled);
    sums.on_chip += count * energy_of(found->on_chip);
    sums.best += count * energy_of(found->fused);
    sums.lower_bound += count * found->fused.lower_bound;
    sums.proven = sums.proven && found->fused.proven;
  }
  return sums;
}

std::string fused_network_text(const Arch& arch, const Network& network,
                               const FusedNetwork& fused) {
  std::string text = fmt::format("{} on {}, chains of einsums fused\n\n", network.name, arch.name);
  std::vector<Row> rows{{"chain", "einsums", "times", "spilled", "on chip", "best", "", ""}};
  const auto ratio = [](double best, double spilled) -> std::string {
    const double saved = 100 * (1 - best / spilled);
    return saved < 0.05 ? "" : fmt::format("-{:.1f} %", saved);
  };
  for (std::size_t i = 0; i < fused.found.size(); ++i) {
    const NetworkChain& chain = fused.graph.chains[i];
    const ChainComparison& found = fused.found[i];
    Row row{chain.chain.name, std::to_string(chain.chain.einsums.size()),
            std::to_string(chain.count)};
    for (const ChainResult* one : {&found.spilled, &found.on_chip, &found.fused}) {
      row.push_back(one->cost     ? energy_text(one->cost->energy)
                    : one->proven ? "nothing fits"
                                  : "stopped");
    }
    const bool is_found = found.fused.cost && found.spilled.cost;
    row.push_back(is_found ? ratio(energy_of(found.fused), energy_of(found.spilled)) : "");
    row.push_back(found.fused.cost ? proof_text(found.fused) : "");
    rows.push_back(std::move(row));
  }
  const FusedTotals sums = totals(fused);
  const std::string streams = energy_text(fused.streams.energy);
  rows.push_back({"pools, sums, norms", "", std::to_string(fused.graph.streams.size()), streams,
                  streams, streams, "", ""});
  rows.push_back({"all", "", "", energy_text(Picojoules{sums.spilled}),
                  energy_text(Picojoules{sums.on_chip}), energy_text(Picojoules{sums.best}),
                  sums.spilled > 0 ? ratio(sums.best, sums.spilled) : "",
                  sums.proven ? "proven" : ""});
  text += table(rows);
  text += fmt::format(
      "\nspilled: every einsum by itself, intermediates go to {}; on chip: an intermediate is held "
      "whole "
      "at an inner level where that saves energy; best: einsums may also share loops.\n",
      arch.levels[LevelId{0}].name);
  if (fused.unfused.missing == 0) {
    text += fmt::format(
        "without --fuse: {}. There a softmax is one pass over what it reads, and padding comes for "
        "nothing; here a softmax is four einsums, and producers make the padding of what reads "
        "them.\n",
        energy_text(fused.unfused.energy));
  }
  if (sums.missing > 0) {
    text += fmt::format(
        "{} chains are in none of the sums: they have no mapping, or the search "
        "was stopped before them\n",
        sums.missing);
  }
  if (!network.unpriced.empty()) {
    text += fmt::format("in none of the sums: {}\n", unpriced_text(network));
  }
  return text;
}

std::string fused_network_json(const Provenance& origin, const Arch& arch, const Network& network,
                               const FusedNetwork& fused) {
  Json json = provenance_json(origin);
  json["arch"] = arch.name;
  json["network"] = network.name;
  const auto energy = [](const ChainResult& result) {
    return result.cost ? Json(result.cost->energy.count()) : Json();
  };
  json["chains"] = Json::array();
  for (std::size_t i = 0; i < fused.found.size(); ++i) {
    const NetworkChain& chain = fused.graph.chains[i];
    const ChainComparison& found = fused.found[i];
    Json einsums = Json::array();
    for (const Workload& einsum : chain.chain.einsums) {
      einsums.push_back(einsum.name);
    }
    Json one{{"name", chain.chain.name},
             {"count", chain.count},
             {"einsums", einsums},
             {"energy_pj", energy(found.fused)},
             {"lower_bound_pj", found.fused.lower_bound},
             {"proven", found.fused.proven},
             {"energy_layer_by_layer_on_chip_pj", energy(found.on_chip)},
             {"energy_layer_by_layer_spilled_pj", energy(found.spilled)}};
    if (found.fused.best) {
      one["tree"] = print_tree(arch, chain.chain, *found.fused.best);
    }
    one["seconds"] = found.fused.seconds + found.on_chip.seconds + found.spilled.seconds;
    json["chains"].push_back(std::move(one));
  }
  const FusedTotals sums = totals(fused);
  json["interrupted"] = fused.interrupted;
  json["total"] = {{"energy_pj", sums.best},
                   {"lower_bound_pj", sums.lower_bound},
                   {"proven", sums.proven},
                   {"energy_layer_by_layer_on_chip_pj", sums.on_chip},
                   {"energy_layer_by_layer_spilled_pj", sums.spilled},
                   {"energy_unfused_pj",
                    fused.unfused.missing == 0 ? Json(fused.unfused.energy.count()) : Json()},
                   {"streams_energy_pj", fused.streams.energy.count()},
                   {"chains_missing", sums.missing}};
  json["unpriced"] = network.unpriced;
  return json.dump(2) + "\n";
}

}  // namespace mapsim
