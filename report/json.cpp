// SPDX-License-Identifier: Apache-2.0
#include "report/json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <variant>

#include "check/scope.hpp"
#include "costmodel/mapping_text.hpp"
#include "mapper/branch/partial_folds.hpp"
#include "mapper/counting/why_empty.hpp"
#include "mapper/least_busiest.hpp"
#include "report/constraints.hpp"
#include "report/json_cost.hpp"
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
    json.emplace("density", Json::object());
    json["density"][tensor.name] = tensor.density;
  }
  add_widths(json, widths_of(workload));
  return json;
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

// Those that are known.
Json reliefs_json(const std::vector<Relief>& reliefs) {
  Json json = Json::array();
  for (const Relief& relief : reliefs) {
    if (relief.known) {
      json.push_back(
          {{"resource", relief.resource}, {"value", relief.value}, {"gain", relief.gain}});
    }
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

Json size_json(const std::string& size) { return size.empty() ? Json() : Json(size); }

// What can be said of no number is left out: nothing fits, or nothing is claimed.
Json certificate_json(const Certificate& certificate) {
  Json json{{"status", to_string(certificate.status)}};
  if (certificate.status != Proof::kInfeasible && certificate.status != Proof::kNone) {
    json["lower_bound"] = certificate.lower_bound;
    json["gap"] = certificate.gap;
  }
  if (certificate.bound_but_for_free_boundaries && certificate.status == Proof::kOptimal) {
    json["ties_proven"] = false;
  } else if (certificate.bound_but_for_free_boundaries) {
    json["lower_bound_but_for_bare_extents"] = *certificate.bound_but_for_free_boundaries;
  }
  if (const auto& divisors = certificate.divisors) {  // docs/systolic.md
    json["without_remainders"] = {{"objective", divisors->value ? Json(*divisors->value) : Json()},
                                  {"lower_bound", divisors->lower_bound}};
  }
  json["mapspace_size"] = size_json(certificate.mapspace_size);
  if (certificate.schedules) {
    json["space"] = "schedules";  // of an engine: docs/nvdla.md
  }
  return json;
}

Json statistics_json(const Statistics& statistics) {
  return {{"seconds", statistics.seconds},       {"evaluations", statistics.evaluations},
          {"states", statistics.states},         {"labels", statistics.labels},
          {"unrollings", statistics.unrollings}, {"unrollings_total", statistics.unrollings_total},
          {"peak_bytes", statistics.peak_bytes}, {"out_of_memory", statistics.out_of_memory}};
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
    if (subject.capacity) {
      json["capacity_bits"] = point.measure;
      json["objective"] = point.value;
    }
    if (front.schedules) {
      json["form"] = to_string(point.form);
    }
    json["mapping"] = print_mapping(problem.arch(), workload_of(problem, point), point.mapping);
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
                        const std::optional<std::vector<Relief>>& reliefs,
                        const std::vector<TriedForm>& forms) {
  const Problem& problem = space.problem();
  Json json = head(origin, problem.arch(), problem.workload());
  json["objective"] = to_string(options.objective);
  json["latency_mode"] = to_string(options.objective.mode);
  json["limits"] = limits_json(options.objective);
  json["budget"] = budget_json(options.budget);
  json["strategy"] = strategy;
  json["seed"] = options.seed;
  json["even"] = space.constraints().even;
  json["factors"] = space.constraints().factors.imperfect ? "imperfect" : "perfect";
  json["constraints"] = constraints_text(space);
  json["interrupted"] = result.interrupted;
  json["feasible"] = result.best.has_value();
  if (result.best && result.cost) {
    add_cost(json, problem, *result.best, *result.cost);
  }
  if (reliefs) {
    json["why"] = {{"reliefs", reliefs_json(*reliefs)}};
  }
  for (const TriedForm& tried : forms) {
    json.emplace("forms", Json::array());
    json["forms"].push_back({{"form", to_string(tried.form)},
                             {"value", std::isfinite(tried.value) ? Json(tried.value) : Json()}});
  }
  json["certificate"] = certificate_json(result.certificate);
  if (result.best && result.cost && result.certificate.lower_bound > 0) {
    if (const auto value = busiest_value(problem, options.objective, *result.best, *result.cost)) {
      json["certificate"]["busiest"] = {
          {"value", value->value},
          {"exact", value->exact},
          {"gap", std::max(0.0, value->value / result.certificate.lower_bound - 1)}};
    }
  }
  if (strategy == "exact" && !options.partial_folds &&
      exact::has_partial_folds(space, options.objective)) {
    json["certificate"]["remainders_searched"] = false;  // docs/systolic.md
  }
  json["mapspace_size"] = size_json(result.certificate.mapspace_size);
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
  json["clock_hz"] = problem.arch().clock.count();
  json["front"] = subject.capacity ? "capacity" : "energy_latency";
  if (subject.capacity) {
    json["objective"] = to_string(subject.objective);
    json["capacity"] = capacity_name(problem.arch(), *subject.capacity);
  }
  json["latency_mode"] = to_string(options.objective.mode);
  json["limits"] = limits_json(options.objective);
  json["budget"] = budget_json(options.budget);
  json["even"] = space.constraints().even;
  json["factors"] = space.constraints().factors.imperfect ? "imperfect" : "perfect";
  json["complete"] = front.complete && !front.but_for_free_boundaries;
  json["complete_but_for_bare_extents"] = front.complete;
  if (front.schedules) {
    json["space"] = "schedules";  // of an engine: docs/nvdla.md
  }
  json["points"] = points_json(problem, subject, front);
  json["mapspace_size"] = size_json(front.mapspace_size);
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
  json["mapspace_size"] = size_json(histogram.mapspace_size);
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
  json["simulation"] = record_json(record);
  json["mapping"] = print_mapping(problem.arch(), problem.workload(), mapping);
  return finish(json);
}

std::string comparison_json(const Provenance& origin, const Problem& problem,
                            const Mapping& mapping, const ComparisonRecord& record) {
  Json json = head(origin, problem.arch(), problem.workload());
  Json figures = Json::array();
  for (const ComparisonRecord::Figure& each : record.figures) {
    Json figure{{"figure", each.figure}, {"where", each.where}, {"theirs", each.theirs}};
    const Json ours = each.ours ? Json(*each.ours) : Json();
    if (record.tool == "zigzag") {
      figure.update({{"ours", ours},
                     {"best", each.best ? Json(*each.best) : Json()},
                     {"lower_bound", each.lower_bound ? Json(*each.lower_bound) : Json()}});
    } else {
      if (each.derived) {
        figure["derived"] = *each.derived;
      }
      figure.update({{"ours", ours}, {"verdict", each.verdict}, {"rules", each.rules}});
    }
    figures.push_back(std::move(figure));
  }
  json["comparison"] = {{"tool", record.tool}};
  if (record.tool != "zigzag") {
    json["comparison"].update({{"equal", record.equal},
                               {"derived", record.derived},
                               {"unexplained", record.unexplained},
                               {"not_compared", record.not_compared}});
    if (record.closer) {
      json["comparison"]["closer"] = {{"version", record.closer->version},
                                      {"unexplained", record.closer->unexplained}};
    }
  }
  json["comparison"]["figures"] = std::move(figures);
  json["mapping"] = print_mapping(problem.arch(), problem.workload(), mapping);
  return finish(json);
}

std::string check_json(const Provenance& origin, const check::Certificate& certificate,
                       const check::Verdict& verdict) {
  Json json = head(origin, certificate.problem.arch(), certificate.problem.workload());
  const bool one = !certificate.is_front() && !certificate.points.empty();
  const check::Scope scope = check::scope_of(certificate, verdict);
  json["check"] = {{"holds", verdict.problems.empty()},
                   {"verified", scope.verified},
                   {"unverified", scope.unverified},
                   {"problems", verdict.problems},
                   {"objective", check::goal_text(certificate.goal)},
                   {"rules", certificate.rules_text},
                   {"unit", check::unit_of(certificate.goal)},
                   {"value", one ? Json(certificate.value) : Json()},
                   {"lower_bound", !certificate.is_front() && certificate.lower_bound < HUGE_VAL
                                       ? Json(certificate.lower_bound)
                                       : Json()},
                   {"points", certificate.points.size()},
                   {"mapspace_size", certificate.size},
                   {"counted", verdict.counted},
                   {"walked", verdict.walked},
                   {"unrollings",
                    {{"by_floor", verdict.by_unrolling_bound},
                     {"by_relaxation", verdict.by_completion_bound},
                     {"by_search", verdict.by_label_search},
                     {"sets", verdict.sets}}},
                   {"states", verdict.states},
                   {"labels", verdict.labels}};
  if (certificate.rules.schedules) {
    json["check"]["schedules"] = verdict.schedules;
    json["check"]["forms"] = verdict.forms;
  }
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
