// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <variant>

#include "costmodel/explain.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/nvdla/stripe.hpp"
#include "mapper/why_empty.hpp"
#include "report/constraints.hpp"
#include "report/json_head.hpp"
#include "report/names.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

using Json = nlohmann::ordered_json;

Json head(const Provenance& origin, const Arch& arch, const Workload& workload) {
  Json json = provenance_json(origin);
  json["arch"] = arch.name;
  json["workload"] = workload.name;
  json["equation"] = workload.equation();
  if (workload.form != Form{}) {
    json["form"] = to_string(workload.form);
  }
  for (const Tensor& tensor : workload.tensors) {
    json["density"][tensor.name] = tensor.density;
  }
  return json;
}

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
          {"stationary", time.stationary ? Json(workload.tensors[*time.stationary].name) : Json()}};
}

// Banks of the buffer of an engine after NVDLA that the tile of each tensor takes; else null.
Json banks_json(const Problem& problem, const Counts& counts) {
  const auto* timing = std::get_if<NvdlaTiming>(&problem.arch().compute.timing);
  if (timing == nullptr) {
    return {};
  }
  Json used = Json::object();
  for (const TensorId t : problem.workload().tensors.ids()) {
    const TensorCounts& at = counts.levels[timing->buffer][t];
    const Bits tile{at.kept ? at.footprint * at.bits.count() : 0};
    used[problem.workload().tensors[t].name] = banks_for(problem.arch(), *timing, tile);
  }
  return {{"of", timing->banks}, {"tensors", used}};
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
    entry[term.width > Bits{0} ? "pj_per_bit" : "pj"] = term.per_unit;
    entry["energy_pj"] = term.energy.count();
    entry["source"] = term.source.empty() ? "architecture file" : term.source;
    json.push_back(entry);
  }
  return json;
}

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
  json["fanouts"] = fanouts_json(problem, cost);
  json["compute"] = {{"name", problem.arch().compute.name},
                     {"energy_pj", cost.energy.compute.count()}};
  json["energy_terms"] = energy_terms_json(problem, cost);
  json["roofline"] =
      bounds_json(problem.arch(), problem.workload(), roofline(problem.arch(), problem.workload()));
  json["mapping"] = print_mapping(problem.arch(), problem.workload(), mapping);
}

Json infeasible_json(const InfeasibleReport& report) {
  Json json = Json::array();
  for (const auto& [reason, times] : report.reasons) {
    Json entry{{"reason", reason}, {"times", times}};
    if (const auto need = report.smallest_need.find(reason); need != report.smallest_need.end()) {
      entry["smallest_need"] = need->second;
    }
    json.push_back(entry);
  }
  return json;
}

Json limits_json(const Objective& objective) {
  return {
      {"energy_pj", objective.max_energy ? Json(objective.max_energy->count()) : Json()},
      {"latency_cycles", objective.max_latency ? Json(objective.max_latency->count()) : Json()}};
}

Json reliefs_json(const std::vector<Relief>& reliefs) {
  Json json = Json::array();
  for (const Relief& relief : reliefs) {
    json.push_back({{"resource", relief.resource}, {"value", relief.value}, {"gain", relief.gain}});
  }
  return json;
}

Json gap_json(const Problem& problem, const GapReport& gap, const Cost& given) {
  Json json{{"objective", to_string(gap.objective)}, {"optimum", Json()}};
  json["outside"] = gap.outside.empty() ? Json() : Json(gap.outside);
  if (gap.lower_bound) {
    json["lower_bound"] = *gap.lower_bound;
  }
  if (!gap.best) {
    return json;
  }
  const double value = objective_value(gap.objective, *gap.best);
  json[gap.lower_bound ? "best_found" : "optimum"] = {
      {"value", value},
      {"energy_pj", gap.best->energy.total.count()},
      {"latency_cycles", latency_of(gap.objective.mode, gap.best->latency).count()}};
  json["excess"] = objective_value(gap.objective, given) / value - 1;
  json["energy_shares"] = Json::array();
  for (const EnergyShare& share : compare_energy(problem, given, *gap.best)) {
    Json entry{{"action", share.action}};
    if (share.level) {
      entry["level"] = problem.arch().levels[*share.level].name;
    }
    if (share.fanout) {
      entry["fanout"] = problem.arch().fanouts[*share.fanout].name;
    }
    if (share.tensor) {
      entry["tensor"] = problem.workload().tensors[*share.tensor].name;
    }
    entry["difference_pj"] = share.difference_pj;
    json["energy_shares"].push_back(entry);
  }
  json["reliefs"] = reliefs_json(gap.reliefs);
  return json;
}

Json size_json(const Certificate& certificate) {
  const bool counted = !certificate.mapspace_size.empty();
  return counted ? Json(certificate.mapspace_size) : Json();
}

// What can be said of no number is left out: nothing fits, so nothing bounds it.
Json certificate_json(const Certificate& certificate) {
  Json json{{"status", to_string(certificate.status)}};
  if (certificate.status != Proof::kInfeasible) {
    json["lower_bound"] = certificate.lower_bound;
    json["gap"] = certificate.gap;
  }
  if (certificate.bound_but_for_bare) {
    json["lower_bound_but_for_bare_extents"] = *certificate.bound_but_for_bare;
  }
  if (const auto& divisors = certificate.divisors) {  // docs/systolic.md
    json["without_remainders"] = {{"objective", divisors->value ? Json(*divisors->value) : Json()},
                                  {"lower_bound", divisors->lower_bound}};
  }
  json["mapspace_size"] = size_json(certificate);
  if (certificate.schedules) {
    json["space"] = "schedules";  // of an engine: docs/nvdla.md
  }
  return json;
}

Json statistics_json(const Statistics& statistics) {
  return {{"seconds", statistics.seconds},       {"evaluations", statistics.evaluations},
          {"states", statistics.states},         {"labels", statistics.labels},
          {"unrollings", statistics.unrollings}, {"unrollings_total", statistics.unrollings_total}};
}

Json budget_json(const Budget& budget) {
  const bool timed = budget.seconds < std::numeric_limits<double>::infinity();
  const bool counted = budget.labels < std::numeric_limits<std::int64_t>::max();
  return {{"seconds", timed ? Json(budget.seconds) : Json()},
          {"labels", counted ? Json(budget.labels) : Json()}};
}

Json points_json(const Problem& problem, const FrontSubject& subject, const Front& front) {
  Json points = Json::array();
  for (const FrontPoint& point : front.points) {
    Json json{{"energy_pj", point.cost.energy.total.count()},
              {"latency_cycles", point.cost.latency.steady.count()},
              {"latency_cycles_ramped", point.cost.latency.ramped.count()}};
    if (subject.room) {
      json["capacity_bits"] = point.measure;
      json["objective"] = point.value;
    }
    json["mapping"] = print_mapping(problem.arch(), problem.workload(), point.mapping);
    points.push_back(json);
  }
  return points;
}

std::string finish(const Json& json) { return json.dump(2) + "\n"; }

}  // namespace

std::string tool_version() { return MAPSIM_VERSION; }

std::string search_json(const Provenance& origin, const Mapspace& space,
                        const std::string& strategy, const SearchOptions& options,
                        const SearchResult& result,
                        const std::optional<std::vector<Relief>>& reliefs) {
  const Problem& problem = space.problem();
  Json json = head(origin, problem.arch(), problem.workload());
  json["objective"] = to_string(options.objective);
  json["latency_mode"] = to_string(options.objective.mode);
  json["limits"] = limits_json(options.objective);
  json["budget"] = budget_json(options.budget);
  json["strategy"] = strategy;
  json["seed"] = options.seed;
  json["even"] = space.constraints().even;
  json["factors"] = space.constraints().factors.balanced ? "balanced" : "perfect";
  json["constraints"] = constraints_text(space);
  json["interrupted"] = result.interrupted;
  json["feasible"] = result.best.has_value();
  if (result.best && result.cost) {
    add_cost(json, problem, *result.best, *result.cost);
  }
  if (reliefs) {
    json["why"] = {{"reliefs", reliefs_json(*reliefs)}};
  }
  json["certificate"] = certificate_json(result.certificate);
  json["mapspace_size"] = size_json(result.certificate);
  if (result.certificate.mapspace_size == "0") {
    json["empty"] = why_empty(space);
  }
  json["infeasible"] = infeasible_json(result.infeasible);
  json["statistics"] = statistics_json(result.statistics);
  return finish(json);
}

std::string front_json(const Provenance& origin, const Mapspace& space, const FrontSubject& subject,
                       const SearchOptions& options, const Front& front) {
  const Problem& problem = space.problem();
  Json json = head(origin, problem.arch(), problem.workload());
  json["front"] = subject.room ? "capacity" : "energy_latency";
  if (subject.room) {
    json["objective"] = to_string(subject.objective);
    json["room"] = room_name(problem.arch(), *subject.room);
  }
  json["latency_mode"] = to_string(options.objective.mode);
  json["limits"] = limits_json(options.objective);
  json["budget"] = budget_json(options.budget);
  json["even"] = space.constraints().even;
  json["complete"] = front.complete;
  json["points"] = points_json(problem, subject, front);
  json["mapspace_size"] = front.mapspace_size;
  json["infeasible"] = infeasible_json(front.infeasible);
  json["statistics"] = statistics_json(front.statistics);
  return finish(json);
}

std::string evaluation_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const Evaluation& evaluation,
                            const std::optional<GapReport>& gap) {
  Json json = head(origin, problem.arch(), problem.workload());
  const Cost* cost = std::get_if<Cost>(&evaluation);
  json["feasible"] = cost != nullptr;
  if (cost != nullptr) {
    add_cost(json, problem, mapping, *cost);
    if (gap) {
      json["why"] = gap_json(problem, *gap, *cost);
    }
  } else {
    json["reason"] = infeasible_text(problem.arch(), std::get<Infeasible>(evaluation));
    json["mapping"] = print_mapping(problem.arch(), problem.workload(), mapping);
  }
  return finish(json);
}

std::string histogram_json(const Provenance& origin, const Mapspace& space,
                           const HistogramOptions& options, const Histogram& histogram) {
  const Problem& problem = space.problem();
  Json json = head(origin, problem.arch(), problem.workload());
  json["within_peak"] = options.within_peak;
  json["compute_only"] = options.compute_only;
  json["seed"] = options.seed;
  json["interrupted"] = histogram.interrupted;
  json["mapspace_size"] = space.size();
  json["mappings"] = histogram.points.size();
  json["unrollings"] = histogram.unrollings;
  json["unrollings_total"] = histogram.unrollings_total;
  json["steps"] = histogram.proposals;
  json["optimum_pj"] = histogram.optimum ? Json(histogram.optimum->energy.total.count()) : Json();
  if (histogram.points.empty()) {
    return finish(json);
  }
  const HistogramSummary summary = summarise(histogram);
  json["least_pj"] = summary.least_pj;
  json["most_pj"] = summary.most_pj;
  json["near_optimum"] = summary.near_optimum;
  json["least_accesses"] = summary.least_accesses;
  json["tied"] = summary.tied;
  json["tied_spread"] = summary.tied_spread;
  const HistogramBins bins = make_bins(histogram, kHistogramBins);
  json["bins"] = Json::array();
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    json["bins"].push_back(
        {{"from_pj", bins.edge(i)}, {"to_pj", bins.edge(i + 1)}, {"mappings", bins.counts[i]}});
  }
  return finish(json);
}

std::string simulation_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const SimulationRecord& record) {
  Json json = head(origin, problem.arch(), problem.workload());
  Json differences = Json::array();
  for (const SimulationRecord::Difference& difference : record.differences) {
    differences.push_back({{"count", difference.name},
                           {"closed_form", difference.model},
                           {"simulated", difference.simulated}});
  }
  json["simulation"] = {{"agrees", record.differences.empty() && record.outputs_wrong == 0},
                        {"steps", record.steps},
                        {"counts_compared", record.counts_compared},
                        {"differences", differences},
                        {"outputs", record.outputs},
                        {"outputs_wrong", record.outputs_wrong}};
  json["mapping"] = print_mapping(problem.arch(), problem.workload(), mapping);
  return finish(json);
}

std::string check_json(const Provenance& origin, const check::Certificate& certificate,
                       const check::Verdict& verdict) {
  Json json = head(origin, certificate.problem.arch(), certificate.problem.workload());
  const bool one = !certificate.is_front() && !certificate.points.empty();
  json["check"] = {{"holds", verdict.problems.empty()},
                   {"problems", verdict.problems},
                   {"unit", check::unit_of(certificate.goal)},
                   {"value", one ? Json(certificate.value) : Json()},
                   {"lower_bound", !certificate.is_front() && certificate.lower_bound < HUGE_VAL
                                       ? Json(certificate.lower_bound)
                                       : Json()},
                   {"points", certificate.points.size()},
                   {"mapspace_size", certificate.size},
                   {"walked", verdict.walked},
                   {"unrollings",
                    {{"by_floor", verdict.by_floor},
                     {"by_relaxation", verdict.by_relaxation},
                     {"by_search", verdict.by_replay}}},
                   {"states", verdict.states},
                   {"labels", verdict.labels}};
  json["statistics"] = {{"seconds", verdict.seconds}};
  return finish(json);
}

std::string roofline_json(const Provenance& origin, const Arch& arch, const Workload& workload,
                          const Roofline& bounds) {
  Json json = head(origin, arch, workload);
  json["roofline"] = bounds_json(arch, workload, bounds);
  return finish(json);
}

}  // namespace mapsim
