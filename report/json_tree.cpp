// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <utility>

#include "costmodel/fusion/shape.hpp"
#include "report/chain_curve.hpp"
#include "report/chain_front.hpp"
#include "report/chain_search.hpp"
#include "report/front.hpp"
#include "report/json_head.hpp"
#include "report/names.hpp"
#include "report/tree.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

double bytes(Bits bits) { return static_cast<double>(bits.count()) / 8; }

Json phases_json(const Arch& arch, const EinsumChain& chain, const TreeCost& cost) {
  Json phases = Json::array();
  for (const TreePhase& phase : cost.phases) {
    Json levels = Json::array();
    for (const LevelId l : arch.levels.ids()) {
      Json tensors = Json::array();
      for (const Occupant& occupant : phase.levels[l]) {
        tensors.push_back({{"tensor", chain.names[occupant.tensor.einsum][occupant.tensor.tensor]},
                           {"live_set", occupant.scoped},
                           {"elements", occupant.elements},
                           {"bits", occupant.bits.count()}});
      }
      levels.push_back(
          {{"level", arch.levels[l].name}, {"bytes", bytes(phase.used[l])}, {"tensors", tensors}});
    }
    phases.push_back({{"einsum", chain.einsums[phase.einsum].name}, {"levels", levels}});
  }
  return phases;
}

Json accesses_json(const Arch& arch, const EinsumChain& chain, std::size_t e,
                   const TreeCost& cost) {
  Json accesses = Json::array();
  for (const LevelId l : arch.levels.ids()) {
    for (const TensorId t : chain.einsums[e].tensors.ids()) {
      const TensorCounts& at = cost.counts.einsums[e].levels[l][t];
      if (at.kept) {
        accesses.push_back({{"level", arch.levels[l].name},
                            {"tensor", chain.names[e][t]},
                            {"footprint", at.footprint},
                            {"bits", at.bits.count()},
                            {"reads", at.total.reads},
                            {"fills", at.total.fills},
                            {"updates", at.total.updates},
                            {"readbacks", at.total.readbacks},
                            {"drains", at.total.drains},
                            {"energy_pj", cost.einsums[e].energy.levels[l][t].total.count()}});
      }
    }
  }
  return accesses;
}

Json head_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
               const MappingTree& tree) {
  Json json = provenance_json(origin);
  json["arch"] = arch.name;
  json["chain"] = chain.name;
  if (!tree.nodes.empty()) {
    json["tree"] = print_tree(arch, chain, tree);
  }
  return json;
}

}  // namespace

namespace {

void add_cost(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
              const TreeCost* cost, Json& json) {
  json["energy_pj"] = cost->energy.count();
  json["latency_cycles"] = cost->latency.count();
  json["edp"] = cost->edp();
  json["einsums"] = Json::array();
  for (std::size_t e = 0; e < chain.einsums.size(); ++e) {
    const EinsumCost& at = cost->einsums[e];
    json["einsums"].push_back(
        {{"einsum", chain.einsums[e].name},
         {"macs", cost->counts.einsums[e].macs},
         {"steps", cost->counts.einsums[e].steps},
         {"energy_pj", at.energy.total.count()},
         {"latency_cycles", at.latency.steady.count()},
         {"bottleneck", resource_name(arch, at.latency.resources[at.latency.bottleneck])},
         {"accesses", accesses_json(arch, chain, e, *cost)}});
  }
  json["intermediates"] = Json::array();
  for (const TensorScope& scope : shape_of(arch, chain, tree).scopes) {
    const Intermediate& t = chain.intermediates[scope.intermediate];
    const IntermediateCounts& at = cost->counts.intermediates[scope.intermediate];
    json["intermediates"].push_back({{"tensor", t.name},
                                     {"level", arch.levels[scope.level].name},
                                     {"spilled", scope.level == LevelId{0}},
                                     {"points", points_of(chain, t)},
                                     {"made", at.made},
                                     {"live", at.held.live},
                                     {"carried", at.held.carried},
                                     {"energy_pj", cost->passing[scope.intermediate].count()}});
  }
  json["phases"] = phases_json(arch, chain, *cost);
}

}  // namespace

std::string tree_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                      const MappingTree& tree,
                      const std::variant<TreeCost, PhaseExceeded>& evaluation) {
  Json json = head_json(origin, arch, chain, tree);
  const auto* cost = std::get_if<TreeCost>(&evaluation);
  json["feasible"] = cost != nullptr;
  if (cost == nullptr) {
    json["infeasible"] = exceeded_text(arch, chain, std::get<PhaseExceeded>(evaluation));
  } else {
    add_cost(arch, chain, tree, cost, json);
  }
  return json.dump(2) + "\n";
}

std::string chain_search_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                              const ChainComparison& found) {
  const ChainResult& best = found.fused;
  Json json = head_json(origin, arch, chain, best.best.value_or(MappingTree{}));
  json["feasible"] = best.cost.has_value();
  const auto energy = [](const ChainResult& result) {
    return result.cost ? Json(result.cost->energy.count()) : Json();
  };
  const auto latency = [](const ChainResult& result) {
    return result.cost ? Json(result.cost->latency.count()) : Json();
  };
  const auto value = [&](const ChainResult& result) {
    return result.cost ? Json(value_of(found.objective, *result.cost)) : Json();
  };
  json["search"] = {{"objective", to_string(found.objective)},
                    {"proven", best.proven},
                    {"value", value(best)},
                    {"lower_bound", best.lower_bound},
                    {"energy_layer_by_layer_on_chip_pj", energy(found.on_chip)},
                    {"energy_layer_by_layer_spilled_pj", energy(found.spilled)},
                    {"latency_layer_by_layer_on_chip_cycles", latency(found.on_chip)},
                    {"latency_layer_by_layer_spilled_cycles", latency(found.spilled)},
                    {"value_layer_by_layer_on_chip", value(found.on_chip)},
                    {"value_layer_by_layer_spilled", value(found.spilled)},
                    {"groups", best.groups},
                    {"classes", best.classes},
                    {"interfaces", best.interfaces},
                    {"branches", best.branches},
                    {"labels", best.labels},
                    {"seconds", best.seconds},
                    {"out_of_memory", is_short_of_memory(found)},
                    {"peak_bytes", best.peak_bytes}};
  if (best.cost) {
    add_cost(arch, chain, *best.best, &*best.cost, json);
  }
  return json.dump(2) + "\n";
}

std::string chain_curves_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                              const ChainCurves& curves) {
  Json json = provenance_json(origin);
  json["arch"] = arch.name;
  json["chain"] = chain.name;
  json["curve_of"] = capacity_name(arch, curves.of);
  json["objective"] = to_string(curves.objective);
  for (const auto& [key, curve] : {std::pair{"spilled", &curves.spilled},
                                   {"on_chip", &curves.on_chip},
                                   {"best", &curves.fused}}) {
    Json steps = Json::array();
    for (const ChainStep& step : curve->steps) {
      steps.push_back({{"capacity_bits", step.capacity.count()},
                       {"energy_pj", step.result.cost->energy.count()},
                       {"latency_cycles", step.result.cost->latency.count()},
                       {"value", value_of(curves.objective, *step.result.cost)},
                       {"tree", print_tree(arch, chain, *step.result.best)}});
    }
    json.emplace("curves", Json::object());
    json["curves"][key] = {{"complete", curve->complete},
                           {"searches", curve->searches},
                           {"seconds", curve->seconds},
                           {"steps", std::move(steps)}};
  }
  return json.dump(2) + "\n";
}

std::string chain_fronts_json(const Provenance& origin, const Arch& arch, const EinsumChain& chain,
                              const ChainFronts& fronts) {
  Json json = provenance_json(origin);
  json["arch"] = arch.name;
  json["chain"] = chain.name;
  for (const auto& [key, front] :
       {std::pair{"on_chip", &fronts.on_chip}, {"best", &fronts.fused}}) {
    Json points = Json::array();
    for (const ChainPoint& point : front->points) {
      points.push_back({{"energy_pj", point.cost.energy.count()},
                        {"latency_cycles", point.cost.latency.count()},
                        {"tree", print_tree(arch, chain, point.tree)}});
    }
    json.emplace("fronts", Json::object());
    json["fronts"][key] = {{"complete", front->complete},
                           {"searches", front->searches},
                           {"seconds", front->seconds},
                           {"points", std::move(points)}};
  }
  return json.dump(2) + "\n";
}

std::string tree_simulation_json(const Provenance& origin, const Arch& arch,
                                 const EinsumChain& chain, const MappingTree& tree,
                                 const SimulationRecord& record) {
  Json json = head_json(origin, arch, chain, tree);
  json["simulation"] = record_json(record);
  return json.dump(2) + "\n";
}

}  // namespace mapsim
