// SPDX-License-Identifier: Apache-2.0
#include "campaign/fused_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "costmodel/fusion/tree.hpp"
#include "mapper/fusion/additive.hpp"
#include "report/figures.hpp"
#include "report/json_head.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

using Figures = FusedTotals::Figures;

Figures figures_of(const ChainResult& result) {
  return {result.cost->energy.count(), static_cast<double>(result.cost->latency.count())};
}
double value_of(const Objective& objective, const Figures& figures) {
  return objective.function.value(figures.energy, figures.cycles);
}
bool is_product(const Objective& objective) { return !fusion::is_additive(objective); }

// Energies and weighted sums in joules, a product as its two factors.
std::string value_text(const Objective& objective, const Figures& figures) {
  const std::string cycles = grouped(std::llround(figures.cycles));
  if (objective.function.is_latency()) {
    return cycles + " cycles";
  }
  return is_product(objective)
             ? fmt::format("{} x {} cycles", energy_text(Picojoules{figures.energy}), cycles)
             : energy_text(Picojoules{value_of(objective, figures)});
}

std::string proof_text(bool proven, double value, double lower_bound) {
  if (proven) {
    return "proven";
  }
  return lower_bound > 0 ? fmt::format("gap {:.2g} %", 100 * (value / lower_bound - 1))
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

// Each chain for itself: the objective is a sum over chains.
void search_chains(const Arch& arch, const FusionLimits& limits, const SearchOptions& options,
                   const ChainProgress& progress, FusedNetwork& fused) {
  SearchOptions share = options;
  double left = options.budget.seconds;
  bool is_stopped = false;
  for (std::size_t i = 0; i < fused.graph.chains.size() && !is_stopped; ++i) {
    progress(fused.graph, i);
    const EinsumChain& chain = fused.graph.chains[i].chain;
    share.budget.seconds = left / static_cast<double>(fused.graph.chains.size() - i);
    fused.found.push_back(compare_ways(arch, chain, limits, share));
    const ChainComparison& found = fused.found.back();
    left -= found.spilled.seconds + found.on_chip.seconds + found.fused.seconds;
    left = std::max(0.0, left);
    is_stopped = options.stop != nullptr && *options.stop;
  }
}

// How much less the objective is; of a chain whose tree was chosen for the sums it may be more.
std::string change_text(double best, double spilled) {
  const double change = 100 * (best / spilled - 1);
  return std::abs(change) < 0.05 || !(spilled > 0) ? "" : fmt::format("{:+.1f} %", change);
}

// The figures of all three ways, null where there is no mapping.
Json ways_json(const Objective& objective, const std::optional<Figures>& best,
               const std::optional<Figures>& on_chip, const std::optional<Figures>& spilled) {
  Json json = Json::object();
  for (const auto& [way, figures] : {std::pair{"", &best},
                                     {"_layer_by_layer_on_chip", &on_chip},
                                     {"_layer_by_layer_spilled", &spilled}}) {
    const auto put = [&](const char* name, const char* unit, double value) {
      json[fmt::format("{}{}{}", name, way, unit)] = *figures ? Json(value) : Json();
    };
    const Figures known = figures->value_or(Figures{});
    put("energy", "_pj", known.energy);
    put("latency", "_cycles", known.cycles);
    put("value", "", value_of(objective, known));
  }
  return json;
}
// In the unit of the objective; that of energy has a key of its own, too.
void add_bound(const Objective& objective, double bound, Json& json) {
  json["lower_bound"] = bound;
  if (objective.function.is_energy()) {
    json["lower_bound_pj"] = bound;
  }
}

Json chain_json(const Arch& arch, const FusedNetwork& fused, std::size_t i) {
  const NetworkChain& chain = fused.graph.chains[i];
  const ChainComparison& found = fused.found[i];
  Json json{{"name", chain.chain.name}, {"count", chain.count}, {"einsums", Json::array()}};
  for (const Workload& einsum : chain.chain.einsums) {
    json["einsums"].push_back(einsum.name);
  }
  const auto figures = [](const ChainResult& result) {
    return result.cost ? std::optional(figures_of(result)) : std::nullopt;
  };
  json.update(ways_json(fused.objective, figures(found.fused), figures(found.on_chip),
                        figures(found.spilled)));
  if (!fused.joint) {
    add_bound(fused.objective, found.fused.lower_bound, json);
  }
  json["proven"] = found.fused.proven;
  if (found.fused.best) {
    json["tree"] = print_tree(arch, chain.chain, *found.fused.best);
  }
  json["seconds"] = found.fused.seconds + found.on_chip.seconds + found.spilled.seconds;
  json["out_of_memory"] = is_short_of_memory(found);
  json["peak_bytes"] =
      std::max({found.fused.peak_bytes, found.on_chip.peak_bytes, found.spilled.peak_bytes});
  return json;
}

std::vector<Row> rows_of(const FusedNetwork& fused, const FusedTotals& sums) {
  const Objective& objective = fused.objective;
  std::vector<Row> rows{{"chain", "einsums", "times", "spilled", "on chip", "best", "", ""}};
  for (std::size_t i = 0; i < fused.found.size(); ++i) {
    const NetworkChain& chain = fused.graph.chains[i];
    const ChainComparison& found = fused.found[i];
    Row row{chain.chain.name, std::to_string(chain.chain.einsums.size()),
            std::to_string(chain.count)};
    for (const ChainResult* one : {&found.spilled, &found.on_chip, &found.fused}) {
      row.push_back(one->cost     ? value_text(objective, figures_of(*one))
                    : one->proven ? "nothing fits"
                                  : "stopped");
    }
    const ChainResult& best = found.fused;
    const double value = best.cost ? value_of(objective, figures_of(best)) : 0;
    row.push_back(best.cost && found.spilled.cost
                      ? change_text(value, value_of(objective, figures_of(found.spilled)))
                      : "");
    // A joint choice is proven as a whole.
    row.push_back(best.cost && !fused.joint ? proof_text(best.proven, value, best.lower_bound)
                                            : "");
    rows.push_back(std::move(row));
  }
  const Figures apart = streams_of(fused, false);
  const Figures riding = streams_of(fused, true);
  const std::string streams = value_text(objective, apart);
  rows.push_back({"pools, sums, norms", "",
                  std::to_string(fused.graph.streams.size() + fused.graph.rides.size()), streams,
                  streams, value_text(objective, riding),
                  change_text(value_of(objective, riding), value_of(objective, apart)), ""});
  const double best = value_of(objective, sums.best);
  rows.push_back({"all", "", "", value_text(objective, sums.spilled),
                  value_text(objective, sums.on_chip), value_text(objective, sums.best),
                  change_text(best, value_of(objective, sums.spilled)),
                  sums.missing > 0 ? "" : proof_text(sums.proven, best, sums.lower_bound)});
  return rows;
}

}  // namespace

std::string fused_network_obstacle(const Objective& objective) {
  if (objective.max_energy || objective.max_latency) {
    return "limits of a whole network of chains (--max-energy, --max-latency) are not searched, so "
           "far; leave them out, or search one chain within them";
  }
  return fusion_obstacle(objective);
}

FusedNetwork search_fused(const Arch& arch, const Network& network, const FusionLimits& limits,
                          const SearchOptions& options, const ChainProgress& progress) {
  const NetworkGraph& graph = *network.graph;
  FusedNetwork fused;
  fused.graph = chains_of(graph);
  fused.objective = options.objective;
  const auto add = [&](StreamCost& sum, Bits reads, Bits writes) {
    const StreamCost cost = stream_cost(arch, reads, writes);
    sum.energy += cost.energy;
    sum.latency += cost.latency;
  };
  for (const std::size_t n : fused.graph.streams) {
    add(fused.streams, graph.nodes[n].reads, graph.nodes[n].writes);
  }
  for (const GraphRide& ride : fused.graph.rides) {
    add(fused.rides, ride.reads, Bits{0});
    add(fused.rides_apart, graph.nodes[ride.node].reads, graph.nodes[ride.node].writes);
  }
  if (is_product(options.objective)) {
    choose_trees_jointly(arch, limits, options, progress, fused);
  } else {
    search_chains(arch, limits, options, progress, fused);
  }
  fused.interrupted = options.stop != nullptr && *options.stop;
  NetworkOptions layers;
  layers.search = options;
  fused.unfused =
      totals(arch, network, search_network(arch, network, layers), options.objective.mode);
  return fused;
}

fusion::HullPoint streams_of(const FusedNetwork& network, bool fused) {
  const StreamCost& rides = fused ? network.rides : network.rides_apart;
  return {(network.streams.energy + rides.energy).count(),
          static_cast<double>((network.streams.latency + rides.latency).count())};
}

FusedTotals totals(const FusedNetwork& network) {
  FusedTotals sums;
  sums.best = streams_of(network, true);
  sums.spilled = sums.on_chip = streams_of(network, false);
  sums.lower_bound = value_of(network.objective, sums.best);
  for (std::size_t i = 0; i < network.graph.chains.size(); ++i) {
    const auto count = static_cast<double>(network.graph.chains[i].count);
    const ChainComparison* found = i < network.found.size() ? &network.found[i] : nullptr;
    if (found == nullptr || !found->fused.cost || !found->on_chip.cost || !found->spilled.cost) {
      sums.missing += network.graph.chains[i].count;
      sums.proven = false;
      continue;
    }
    for (const auto& [sum, one] : {std::pair{&sums.spilled, &found->spilled},
                                   {&sums.on_chip, &found->on_chip},
                                   {&sums.best, &found->fused}}) {
      const Figures figures = figures_of(*one);
      sum->energy += count * figures.energy;
      sum->cycles += count * figures.cycles;
    }
    sums.lower_bound += count * found->fused.lower_bound;
    sums.proven = sums.proven && found->fused.proven;
  }
  if (network.joint) {
    sums.lower_bound = network.joint->lower_bound;
  }
  return sums;
}

std::string fused_network_text(const Arch& arch, const Network& network,
                               const FusedNetwork& fused) {
  const Objective& objective = fused.objective;
  std::string text =
      fmt::format("{} on {}, chains of einsums fused{}\n\n", network.name, arch.name,
                  objective == Objective::kEnergy ? "" : " for the least " + to_string(objective));
  const FusedTotals sums = totals(fused);
  text += table(rows_of(fused, sums));
  text += fmt::format(
      "\nspilled: every einsum by itself, intermediates go to {}; on chip: an intermediate is held "
      "whole at an inner level where that pays; best: einsums may also share loops.\n",
      arch.levels[LevelId{0}].name);
  text +=
      "What is proven is about these chains. The graph is cut into them at tensors with several "
      "readers, sums, pools and norms; other cuts were not searched.\n";
  if (!fused.graph.rides.empty()) {
    text += fmt::format(
        "{} of branches: streams layer by layer; at best each rides on the last einsum of a chain, "
        "so that only the other branch is read from {}.\n",
        fused.graph.rides.size() == 1 ? "1 sum" : fmt::format("{} sums", fused.graph.rides.size()),
        arch.levels[LevelId{0}].name);
  }
  if (fused.joint) {
    text += "The trees of all chains are chosen together, for the least product of the sums.\n";
  }
  if (fused.unfused.missing == 0) {
    const Figures unfused{fused.unfused.energy.count(),
                          static_cast<double>(fused.unfused.latency.count())};
    const double apart = value_of(objective, unfused);
    const double best = value_of(objective, sums.best);
    const bool is_less = sums.missing == 0 && apart < best;
    text += fmt::format(
        "without --fuse{}: {}. There a softmax is one pass over what it reads, and padding comes "
        "for nothing; here a softmax is four einsums, and producers make the padding of what "
        "reads them.\n",
        is_less ? ", each layer by itself, it is less" : "", value_text(objective, unfused));
  }
  if (const auto count =
          std::count_if(fused.found.begin(), fused.found.end(), is_short_of_memory)) {
    text +=
        fmt::format("memory was short for {} of {} chains (--memory)\n", count, fused.found.size());
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
  json["objective"] = to_string(fused.objective);
  json["chains"] = Json::array();
  for (std::size_t i = 0; i < fused.found.size(); ++i) {
    json["chains"].push_back(chain_json(arch, fused, i));
  }
  const FusedTotals sums = totals(fused);
  json["interrupted"] = fused.interrupted;
  Json total = ways_json(fused.objective, sums.best, sums.on_chip, sums.spilled);
  add_bound(fused.objective, sums.lower_bound, total);
  total["proven"] = sums.proven;
  const bool is_known = fused.unfused.missing == 0;
  total["energy_unfused_pj"] = is_known ? Json(fused.unfused.energy.count()) : Json();
  total["latency_unfused_cycles"] = is_known ? Json(fused.unfused.latency.count()) : Json();
  const Figures riding = streams_of(fused, true);
  const Figures apart = streams_of(fused, false);
  total["streams_energy_pj"] = riding.energy;
  total["streams_latency_cycles"] = std::llround(riding.cycles);
  total["streams_energy_layer_by_layer_pj"] = apart.energy;
  total["streams_latency_layer_by_layer_cycles"] = std::llround(apart.cycles);
  total["chains_missing"] = sums.missing;
  json["total"] = std::move(total);
  json["unpriced"] = network.unpriced;
  return json.dump(2) + "\n";
}

}  // namespace mapsim
