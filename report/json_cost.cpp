// SPDX-License-Identifier: Apache-2.0
#include "report/json_cost.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <variant>

#include "costmodel/busiest.hpp"
#include "costmodel/explain.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/nvdla/engine.hpp"
#include "costmodel/roofline.hpp"
#include "costmodel/sparse/model.hpp"
#include "report/names.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

Json cost_json(const Problem& problem, const Cost& cost) {
  const Latency& latency = cost.latency;
  const auto area = total_area(problem.arch());
  const auto leakage = total_leakage(problem.arch());
  return {{"energy_pj", cost.energy.total.count()},
          {"leakage_pj",
           leakage.sum && problem.arch().leaks ? Json(cost.energy.leakage.count()) : Json()},
          {"leakage_missing", leakage.missing},
          {"area_mm2", area.sum ? Json(area.sum->count()) : Json()},
          {"area_missing", area.missing},
          {"latency_cycles", latency.steady.count()},
          {"latency_cycles_ramped", latency.ramped.count()},
          {"edp", cost.edp()},
          {"macs", cost.counts.macs},
          {"mac_units", problem.arch().mac_units()},
          {"clock_hz", problem.arch().clock.count()},
          {"utilization", cost.utilization},
          {"bottleneck", resource_name(problem.arch(), latency.resources[latency.bottleneck])}};
}

Json resources_json(const Arch& arch, const Latency& latency) {
  Json json = Json::array();
  for (const Resource& resource : latency.resources) {
    json.push_back({{"name", resource_name(arch, resource)},
                    {"cycles", resource.time.count()},
                    {"utilization", resource.utilization},
                    {"limits", resource.utilization >= kLimitingUtilization}});
  }
  return json;
}

// Where the steady latency goes, as the timing model of the compute node has it.
Json time_json(const Problem& problem, const Latency& latency) {
  const Workload& workload = problem.workload();
  const ComputeTime& time = latency.compute;
  return {{"busy_cycles", time.busy.count()},
          {"load_cycles", time.load.count()},
          {"skew_cycles", time.skew.count()},
          {"stall_cycles", latency.stall.count()},
          {"folds", time.folds},
          {"stationary", time.stationary ? Json(workload.tensors[*time.stationary].name) : Json()},
          {"dataflow", time.stationary ? Json(dataflow_name(workload, time)) : Json()}};
}

// Banks of the buffer of an NVDLA-like engine that the tile of each tensor takes; else null.
Json banks_json(const Problem& problem, const Counts& counts) {
  const std::optional<BufferBanks> banks = buffer_banks(problem, counts);
  if (!banks) {
    return {};
  }
  Json used = Json::object();
  for (const TensorId t : problem.workload().tensors.ids()) {
    used[problem.workload().tensors[t].name] = banks->used[t];
  }
  return {{"of", banks->of}, {"tensors", used}};
}

Json tensor_json(const TensorCounts& at, const TensorEnergy& energy) {
  return {{"kept", at.kept},
          {"reads", at.total.reads},
          {"fills", at.total.fills},
          {"updates", at.total.updates},
          {"readbacks", at.total.readbacks},
          {"drains", at.total.drains},
          {"energy_pj", energy.total.count()},
          {"footprint", at.footprint},
          {"bits", at.bits.count()}};
}

Json levels_json(const Problem& problem, const Cost& cost) {
  Json json = Json::array();
  for (const LevelId level : problem.arch().levels.ids()) {
    Json tensors = Json::object();
    for (const TensorId id : problem.workload().tensors.ids()) {
      tensors[problem.workload().tensors[id].name] =
          tensor_json(cost.counts.levels[level][id], cost.energy.levels[level][id]);
    }
    json.push_back({{"name", problem.arch().levels[level].name}, {"tensors", tensors}});
  }
  return json;
}

// null: no instance waits for another.
Json busiest_json(const std::optional<BusiestInstance>& busiest) {
  if (!busiest) {
    return {};
  }
  return {{"steps", busiest->steps},
          {"exact", busiest->exact},
          {"compute_cycles", busiest->compute.count()},
          {"steady_cycles", busiest->steady.count()}};
}

// In a machine with formats or conditions.
Json sparse_json(const Problem& problem, const Mapping& mapping, const Cost& cost) {
  const SparseModel& model = *problem.sparse();
  Json levels = Json::array();
  for (const LevelId l : problem.arch().levels.ids()) {
    Json tensors = Json::object();
    for (const TensorId t : problem.workload().tensors.ids()) {
      const SparseTensor& at = cost.sparse->levels[l][t];
      Json accesses = Json::object();
      for (const Access access : kAccesses) {
        const SparseAccess& of = at.total[static_cast<std::size_t>(access)];
        accesses[rule_of(access).name] = {{"actual", of.actual},
                                          {"gated", of.gated},
                                          {"skipped", of.skipped},
                                          {"format_bits", of.format_bits}};
      }
      tensors[problem.workload().tensors[t].name] = {{"format", to_string(model.format(l, t))},
                                                     {"stored_bits", at.stored_bits},
                                                     {"accesses", accesses}};
    }
    levels.push_back({{"name", problem.arch().levels[l].name},
                      {"fits", to_string(model.machine().levels[l].fits)},
                      {"tensors", tensors}});
  }
  return {{"levels", levels},
          {"operations",
           {{"actual", cost.sparse->operations},
            {"gated", cost.sparse->gated},
            {"skipped", cost.sparse->skipped}}},
          {"steps", cost.sparse->steps},
          {"busiest", busiest_json(busiest_instance(problem, mapping, cost))}};
}

// Whole numbers without a point.
Json number(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

// null: the fanout does not say what a hop costs.
Json network_json(const Problem& problem, const Cost& cost, FanoutId fanout) {
  const auto& per_hop = problem.arch().fanouts[fanout].energy_per_hop;
  if (!per_hop) {
    return {};
  }
  Json tensors = Json::object();
  for (const TensorId id : problem.workload().tensors.ids()) {
    const NetworkCounts& at = cost.counts.networks[fanout][id];
    tensors[problem.workload().tensors[id].name] = {
        {"words", at.words},       {"received", at.received},
        {"returns", at.returns},   {"word_hops", number(at.word_hops())},
        {"bits", at.bits.count()}, {"energy_pj", cost.energy.hops[fanout][id].count()}};
  }
  return {{"pj_per_bit_and_hop", per_hop->count()}, {"tensors", tensors}};
}

Json fanouts_json(const Problem& problem, const Cost& cost) {
  const Arch& arch = problem.arch();
  Json json = Json::array();
  for (const FanoutId fanout : arch.fanouts.ids()) {
    json.push_back({{"name", arch.fanouts[fanout].name},
                    {"used_x", cost.counts.used_x[fanout]},
                    {"used_y", cost.counts.used_y[fanout]},
                    {"reductions", cost.counts.reductions[fanout]},
                    {"energy_pj", cost.energy.fanouts[fanout].count()},
                    {"network", network_json(problem, cost, fanout)}});
  }
  return json;
}

Json energy_terms_json(const Problem& problem, const Cost& cost) {
  Json json = Json::array();
  for (const EnergyTerm& term : explain_energy(problem, cost)) {
    Json entry{{"node", term.node}};
    if (term.tensor) {
      entry["tensor"] = problem.workload().tensors[*term.tensor].name;
    }
    entry["action"] = term.action;
    entry["count"] = number(term.count);
    if (term.width > Bits{0}) {
      entry["bits"] = term.width.count();
    }
    entry["density"] = term.density;
    entry[term.width > Bits{0} ? "pj_per_bit" : "pj_per_action"] = term.per_unit;
    entry["energy_pj"] = term.energy.count();
    entry["source"] = term.source.empty() ? "architecture file" : term.source;
    json.push_back(entry);
  }
  return json;
}

}  // namespace

Json bounds_json(const Arch& arch, const Workload& workload, const Roofline& bounds) {
  const RooflineBound& bound = bounds.bound;
  Json tensors = Json::object();
  for (const TensorId id : workload.tensors.ids()) {
    const TensorTraffic& entry = bounds.tensors[id];
    tensors[workload.tensors[id].name] = {{"elements", entry.elements},
                                          {"bytes", entry.bytes},
                                          {"transfer_seconds", entry.transfer.count()}};
  }
  const auto& port = bounds.slowest;
  return {{"ops", bounds.ops},
          {"ops_per_mac", bounds.ops_per_mac},
          {"bytes", bounds.bytes},
          {"tensors", tensors},
          {"intensity", bound.intensity},
          {"ridge", bound.ridge},
          {"limiter", to_string(bound.limiter)},
          {"slowest_port", port ? port_name(arch, port->level, port->kind) : ""},
          {"slowest_port_bytes_per_second", port ? port->bytes_per_second : 0},
          {"slowest_port_knee", port ? port->knee : 0},
          {"peak_macs_per_second", bounds.macs_per_second},
          {"peak_ops_per_second", bounds.peak.ops_per_second},
          {"peak_bytes_per_second", bounds.peak.bytes_per_second},  // null: unlimited
          {"compute_seconds", bound.compute.count()},
          {"transfer_seconds", bound.transfer.count()},
          {"math_utilization", bound.math_utilization},
          {"memory_utilization", bound.memory_utilization},
          {"least_cycles", bounds.least_cycles.count()},
          {"least_energy_pj", bounds.least_energy.count()}};
}

void add_cost(Json& json, const Problem& problem, const Mapping& mapping, const Cost& cost) {
  json["cost"] = cost_json(problem, cost);
  json["resources"] = resources_json(problem.arch(), cost.latency);
  json["time"] = time_json(problem, cost.latency);
  json["banks"] = banks_json(problem, cost.counts);
  json["levels"] = levels_json(problem, cost);
  if (cost.sparse) {
    json["zeros"] = sparse_json(problem, mapping, cost);
  }
  json["fanouts"] = fanouts_json(problem, cost);
  json["compute"] = {{"name", problem.arch().compute.name},
                     {"energy_pj", cost.energy.compute.count()}};
  json["energy_terms"] = energy_terms_json(problem, cost);
  json["roofline"] =
      bounds_json(problem.arch(), problem.workload(), roofline(problem.arch(), problem.workload()));
  json["mapping"] = print_mapping(problem.arch(), problem.workload(), mapping);
}

}  // namespace mapsim
