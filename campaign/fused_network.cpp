// SPDX-License-Identifier: Apache-2.0
#include "campaign/fused_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "costmodel/fusion/tree.hpp"
#include "mapper/fusion/additive.hpp"
#include "mapper/shared_budget.hpp"
#include "report/figures.hpp"
#include "report/json_head.hpp"
#include "report/table.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

using Figures = FusedTotals::Figures;

constexpr const char* kNothing = "nothing within the limits";
constexpr double kEqual = 1e-9;  // relative, of figures found by different searches

Figures figures_of(const ChainResult& result) {
  return {result.cost->energy.count(), static_cast<double>(result.cost->latency.count())};
}
double value_of(const Objective& objective, const Figures& figures) {
  return objective.function.value(figures.energy, figures.cycles);
}
bool has_limits(const Objective& objective) {
  return objective.max_energy || objective.max_latency;
}
// A product, or within limits: no sum over chains that are chosen one by one.
bool is_joint(const Objective& objective) { return !fusion::is_additive(objective); }

// Energies and weighted sums in joules, a product as its two factors; within limits both figures.
std::string value_text(const Objective& objective, const Figures& figures) {
  const std::string energy = energy_text(Picojoules{figures.energy});
  const std::string cycles = grouped(std::llround(figures.cycles)) + " cycles";
  if (has_limits(objective)) {
    return fmt::format("{}, {}", energy, cycles);
  }
  if (objective.function.is_latency()) {
    return cycles;
  }
  return is_joint(objective) ? fmt::format("{} x {}", energy, cycles)
                             : energy_text(Picojoules{value_of(objective, figures)});
}

// No tree of the chain is better, and no mappings of its layers.
double lower_bound_of(const FusedNetwork& fused, std::size_t i) {
  const double trees = fused.found[i].fused.lower_bound;
  return i < fused.apart.size() ? std::min(trees, fused.apart[i].lower_bound) : trees;
}
bool is_proven(const FusedNetwork& fused, std::size_t i) {
  return fused.found[i].fused.proven &&
         (i >= fused.apart.size() || fused.joint || fused.apart[i].proven);
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

// " within 5 mJ and 1,200,000 cycles"; empty without limits.
std::string within_text(const Objective& objective) {
  std::vector<std::string> limits;
  if (objective.max_energy) {
    limits.push_back(energy_text(*objective.max_energy));
  }
  if (objective.max_latency) {
    limits.push_back(grouped(objective.max_latency->count()) + " cycles");
  }
  return limits.empty() ? "" : fmt::format(" within {}", fmt::join(limits, " and "));
}

// What the limits on the sums of all chains did.
std::string limits_text(const FusedNetwork& fused) {
  if (fused.joint->best) {
    return "What all chains have is chosen together, so that their sums keep the limits; copies of "
           "a chain may have different trees. unfused, spilled and on chip are without the "
           "limits.\n";
  }
  std::string text =
      fused.joint->proven ? "nothing keeps the limits" : "nothing was found within the limits";
  for (const HullLine& line : fused.joint->lines) {
    if (line.weight == 0 && fused.objective.max_energy) {
      text += fmt::format("; no choice of trees needs less than {}",
                          energy_text(Picojoules{line.least}));
    } else if (std::isinf(line.weight) && fused.objective.max_latency) {
      text += fmt::format("; no choice of trees needs less than {} cycles",
                          grouped(std::llround(std::ceil(line.least))));
    }
  }
  return text + "\n";
}

void choose_layers_where_less(const ChainComparison& found, UnfusedChain& apart) {
  const auto value = [&](const Figures& figures) { return value_of(found.objective, figures); };
  if (apart.figures &&
      (!found.fused.cost || is_less(value(*apart.figures), value(figures_of(found.fused))))) {
    apart.chosen = apart.figures;
  }
}

// Each chain for itself: the objective is a sum over chains.
void search_chains(const Arch& arch, const FusionLimits& limits, const SearchOptions& options,
                   const ChainProgress& progress, FusedNetwork& fused) {
  const SharedBudget budget{options};
  bool is_stopped = false;
  for (std::size_t i = 0; i < fused.graph.chains.size() && !is_stopped; ++i) {
    progress(fused.graph, i);
    const EinsumChain& chain = fused.graph.chains[i].chain;
    const std::optional<Figures>& layers = fused.apart[i].figures;
    fused.found.push_back(compare_ways(
        arch, chain, limits, budget.share(static_cast<double>(fused.graph.chains.size() - i)),
        layers ? value_of(fused.objective, *layers) : std::numeric_limits<double>::infinity()));
    choose_layers_where_less(fused.found.back(), fused.apart[i]);
    is_stopped = options.stop != nullptr && *options.stop;
  }
}

// How much less the objective is; of a chain whose tree was chosen for the sums it may be more.
std::string change_text(double best, double spilled) {
  const double change = 100 * (best / spilled - 1);
  return std::abs(change) < 0.05 || !(spilled > 0) ? "" : fmt::format("{:+.1f} %", change);
}

// The figures of all ways, null where there is no mapping.
struct WayFigures {
  std::optional<Figures> best, on_chip, spilled, unfused;
};
Json ways_json(const Objective& objective, const WayFigures& ways) {
  Json json = Json::object();
  for (const auto& [way, figures] : {std::pair{"", &ways.best},
                                     {"_layer_by_layer_on_chip", &ways.on_chip},
                                     {"_layer_by_layer_spilled", &ways.spilled},
                                     {"_unfused", &ways.unfused}}) {
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
  json["lower_bound"] = std::isinf(bound) ? Json() : Json(bound);
  if (objective.function.is_energy()) {
    json["lower_bound_pj"] = json["lower_bound"];
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
  const UnfusedChain& apart = fused.apart[i];
  json.update(ways_json(fused.objective, {best_of(fused, i), figures(found.on_chip),
                                          figures(found.spilled), apart.figures}));
  if (!fused.joint) {
    add_bound(fused.objective, lower_bound_of(fused, i), json);
  }
  json["proven"] = is_proven(fused, i);
  json["unfused_is_best"] = apart.chosen.has_value();
  if (found.fused.best && !apart.chosen) {
    json["tree"] = print_tree(arch, chain.chain, *found.fused.best);
  }
  json["seconds"] = found.fused.seconds + found.on_chip.seconds + found.spilled.seconds;
  json["out_of_memory"] = is_short_of_memory(found);
  json["peak_bytes"] =
      std::max({found.fused.peak_bytes, found.on_chip.peak_bytes, found.spilled.peak_bytes});
  return json;
}

// Of a chain of several einsums whose layers need no more one by one.
bool brings_nothing(const FusedNetwork& fused, std::size_t i) {
  const UnfusedChain& apart = fused.apart[i];
  const std::optional<Figures> best = best_of(fused, i);
  return fused.graph.chains[i].chain.einsums.size() > 1 && best && apart.figures &&
         !(value_of(fused.objective, *best) <
           value_of(fused.objective, *apart.figures) * (1 - kEqual));
}

Row chain_row(const FusedNetwork& fused, std::size_t i) {
  const Objective& objective = fused.objective;
  const NetworkChain& chain = fused.graph.chains[i];
  const ChainComparison& found = fused.found[i];
  const UnfusedChain& apart = fused.apart[i];
  Row row{chain.chain.name, std::to_string(chain.chain.einsums.size()), std::to_string(chain.count),
          apart.figures ? value_text(objective, *apart.figures) : "nothing found"};
  for (const ChainResult* one : {&found.spilled, &found.on_chip}) {
    row.push_back(one->cost     ? value_text(objective, figures_of(*one))
                  : one->proven ? "nothing fits"
                                : "stopped");
  }
  const std::optional<Figures> best = best_of(fused, i);
  row.push_back(best                                          ? value_text(objective, *best)
                : has_limits(objective) && found.spilled.cost ? kNothing
                : found.fused.proven                          ? "nothing fits"
                                                              : "stopped");
  const double value = best ? value_of(objective, *best) : 0;
  row.push_back(best && apart.figures ? change_text(value, value_of(objective, *apart.figures))
                                      : "");
  // A joint choice is proven as a whole.
  std::string proof;
  if (best && !fused.joint) {
    proof = proof_text(is_proven(fused, i), value, lower_bound_of(fused, i));
    proof += brings_nothing(fused, i) ? ": fusion brings nothing" : "";
  }
  row.push_back(std::move(proof));
  return row;
}

std::vector<Row> rows_of(const FusedNetwork& fused, const FusedTotals& sums) {
  const Objective& objective = fused.objective;
  std::vector<Row> rows{
      {"chain", "einsums", "times", "unfused", "spilled", "on chip", "best", "", ""}};
  for (std::size_t i = 0; i < fused.found.size(); ++i) {
    rows.push_back(chain_row(fused, i));
  }
  const Figures apart = streams_of(fused, false);
  const Figures riding = streams_of(fused, true);
  const std::string streams = value_text(objective, apart);
  rows.push_back({"pools, sums, norms", "",
                  std::to_string(fused.graph.streams.size() + fused.graph.rides.size()), streams,
                  streams, streams, value_text(objective, riding),
                  change_text(value_of(objective, riding), value_of(objective, apart)), ""});
  const double best = value_of(objective, sums.best);
  rows.push_back({"all", "", "", sums.unfused ? value_text(objective, *sums.unfused) : "",
                  value_text(objective, sums.spilled), value_text(objective, sums.on_chip),
                  sums.within_limits ? value_text(objective, sums.best) : kNothing,
                  sums.unfused && sums.within_limits
                      ? change_text(best, value_of(objective, *sums.unfused))
                      : "",
                  sums.missing > 0 ? "" : proof_text(sums.proven, best, sums.lower_bound)});
  return rows;
}

}  // namespace

std::string fused_network_obstacle(const Objective& objective) {
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
  const SharedBudget budget{options};
  NetworkOptions layers;
  layers.search = options;
  layers.search.objective.max_energy.reset();  // limits are for all chains together
  layers.search.objective.max_latency.reset();
  layers.sharing = fused.graph.chains.size();
  const NetworkResult alone = search_network(arch, network, layers);
  fused.unfused = totals(arch, network, alone, options.objective.mode);
  for (const NetworkChain& chain : fused.graph.chains) {
    fused.apart.push_back(unfused_chain(arch, network, alone, options.objective, chain.unfused));
  }
  const SearchOptions rest = budget.rest();
  if (is_joint(options.objective)) {
    choose_trees_jointly(arch, limits, rest, progress, fused);
  } else {
    search_chains(arch, limits, rest, progress, fused);
  }
  fused.interrupted = options.stop != nullptr && *options.stop;
  return fused;
}

fusion::HullPoint streams_of(const FusedNetwork& network, bool fused) {
  const StreamCost& rides = fused ? network.rides : network.rides_apart;
  return {(network.streams.energy + rides.energy).count(),
          static_cast<double>((network.streams.latency + rides.latency).count())};
}

std::optional<fusion::HullPoint> best_of(const FusedNetwork& network, std::size_t chain) {
  if (chain < network.apart.size() && network.apart[chain].chosen) {
    return network.apart[chain].chosen;
  }
  const ChainResult& fused = network.found[chain].fused;
  return fused.cost ? std::optional(figures_of(fused)) : std::nullopt;
}

FusedTotals totals(const FusedNetwork& network) {
  FusedTotals sums;
  sums.best = streams_of(network, true);
  sums.spilled = sums.on_chip = streams_of(network, false);
  sums.unfused = sums.spilled;
  sums.lower_bound = value_of(network.objective, sums.best);
  sums.within_limits = !has_limits(network.objective) || !network.joint || network.joint->best;
  for (std::size_t i = 0; i < network.graph.chains.size(); ++i) {
    const auto count = static_cast<double>(network.graph.chains[i].count);
    const ChainComparison* found = i < network.found.size() ? &network.found[i] : nullptr;
    const std::optional<Figures> best = found != nullptr ? best_of(network, i) : std::nullopt;
    if (found == nullptr || (!best && sums.within_limits) || !found->on_chip.cost ||
        !found->spilled.cost) {
      sums.missing += network.graph.chains[i].count;
      sums.proven = false;
      continue;
    }
    const auto add = [&](Figures& sum, const Figures& figures) {
      sum.energy += count * figures.energy;
      sum.cycles += count * figures.cycles;
    };
    add(sums.spilled, figures_of(found->spilled));
    add(sums.on_chip, figures_of(found->on_chip));
    add(sums.best, best.value_or(Figures{}));
    if (i < network.apart.size() && network.apart[i].figures && sums.unfused) {
      add(*sums.unfused, *network.apart[i].figures);
    } else {
      sums.unfused.reset();
    }
    sums.lower_bound += count * lower_bound_of(network, i);
    sums.proven = sums.proven && is_proven(network, i);
  }
  if (network.joint) {
    sums.lower_bound = network.joint->lower_bound;
    sums.proven = sums.missing == 0 && network.joint->proven;
  }
  return sums;
}

std::string fused_network_text(const Arch& arch, const Network& network,
                               const FusedNetwork& fused) {
  const Objective& objective = fused.objective;
  std::string text =
      fmt::format("{} on {}, chains of einsums fused{}{}\n\n", network.name, arch.name,
                  objective == Objective::kEnergy ? "" : " for the least " + to_string(objective),
                  within_text(objective));
  const FusedTotals sums = totals(fused);
  text += table(rows_of(fused, sums));
  text += fmt::format(
      "\nunfused: every layer by itself, as without --fuse; there a softmax is one pass over what "
      "it "
      "reads, and padding comes for nothing. In a chain a softmax is four einsums, and producers "
      "make the padding of what reads them. spilled: the einsums of a chain one by one, "
      "intermediates go to {}; on chip: an intermediate is held whole at an inner level where that "
      "pays; best: einsums may also share loops, or layers stay unfused where that is less.\n",
      arch.levels[LevelId{0}].name);
  text +=
      "What is proven is about these chains: none has a better mapping tree, and no layer of it a "
      "better mapping. The graph is cut into them at tensors with several readers, sums, pools and "
      "norms; other cuts were not searched.\n";
  if (!fused.graph.rides.empty()) {
    text += fmt::format(
        "{} of branches: streams layer by layer; at best each rides on the last einsum of a chain, "
        "so that only the other branch is read from {}.\n",
        fused.graph.rides.size() == 1 ? "1 sum" : fmt::format("{} sums", fused.graph.rides.size()),
        arch.levels[LevelId{0}].name);
  }
  if (has_limits(objective)) {
    text += limits_text(fused);
  } else if (fused.joint) {
    text += "What all chains have is chosen together, for the least product of the sums.\n";
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
  const Objective& objective = fused.objective;
  json["objective"] = to_string(objective);
  json["max_energy_pj"] = objective.max_energy ? Json(objective.max_energy->count()) : Json();
  json["max_latency_cycles"] =
      objective.max_latency ? Json(objective.max_latency->count()) : Json();
  json["chains"] = Json::array();
  for (std::size_t i = 0; i < fused.found.size(); ++i) {
    json["chains"].push_back(chain_json(arch, fused, i));
  }
  const FusedTotals sums = totals(fused);
  json["interrupted"] = fused.interrupted;
  const bool is_known = fused.unfused.missing == 0;
  const Figures unfused{fused.unfused.energy.count(),
                        static_cast<double>(fused.unfused.latency.count())};
  Json total = ways_json(
      fused.objective, {sums.within_limits ? std::optional(sums.best) : std::nullopt, sums.on_chip,
                        sums.spilled, is_known ? std::optional(unfused) : std::nullopt});
  add_bound(fused.objective, sums.lower_bound, total);
  total["proven"] = sums.proven;
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
