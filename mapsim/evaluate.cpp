// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "check/check.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/data_set.hpp"
#include "costmodel/reference/simulate.hpp"
#include "costmodel/timeline/timeline.hpp"
#include "mapsim/request.hpp"
#include "report/names.hpp"
#include "report/show.hpp"
#include "report/text.hpp"
#include "report/trace.hpp"
#include "validate/agreement.hpp"

namespace mapsim {

namespace {

std::string trace_of(const Provenance& origin, const Problem& problem, const Mapping& mapping,
                     const Cost& cost, const std::atomic<bool>* stop) {
  TimelineOptions options;
  options.stop = stop;
  std::string text;
  const TimelineSummary summary = write_trace(origin, problem, mapping, cost, options,
                                              [&text](std::string_view part) { text += part; });
  return summary.stopped ? "" : text;
}

}  // namespace

std::string roofline_json(const Arch& arch, const Workload& layer) {
  return roofline_json({"roofline", {}}, arch, layer, roofline(arch, layer));
}

std::string roofline_text(const Arch& arch, const Workload& layer) {
  return roofline_text(arch, layer, roofline(arch, layer));
}

Evaluated evaluate(const Arch& arch, const Workload& layer, const std::string& mapping,
                   const std::string& name) {
  Problem problem{arch, parse_form(mapping, name, layer)};
  Mapping nest = parse_mapping(mapping, name, problem.arch(), problem.workload());
  Evaluation evaluation = evaluate(problem, nest);
  return {std::move(problem), std::move(nest), std::move(evaluation)};
}

std::string to_json(const Evaluated& evaluated) {
  return evaluation_json({"eval", {}}, evaluated.problem, evaluated.mapping, evaluated.evaluation);
}

std::string to_text(const Evaluated& evaluated) {
  const Problem& problem = evaluated.problem;
  const std::string title = title_text(problem.arch(), problem.workload()) + "\n";
  if (const auto* cost = std::get_if<Cost>(&evaluated.evaluation)) {
    return title + cost_text(problem, evaluated.mapping, *cost);
  }
  return title + "does not fit: " +
         infeasible_text(problem.arch(), std::get<Infeasible>(evaluated.evaluation)) + "\n";
}

GapReport find_gap(const Evaluated& evaluated, const SearchRequest& request) {
  const auto* cost = std::get_if<Cost>(&evaluated.evaluation);
  if (cost == nullptr) {
    throw std::invalid_argument{"the mapping does not fit: it has no cost to compare"};
  }
  return find_gap(Mapspace{evaluated.problem, constraints_of(evaluated.problem, request)},
                  request.options, evaluated.mapping, *cost);
}

std::string to_json(const Evaluated& evaluated, const GapReport& gap) {
  return evaluation_json({"eval", {}}, evaluated.problem, evaluated.mapping, evaluated.evaluation,
                         gap);
}

std::string to_text(const Evaluated& evaluated, const GapReport& gap) {
  return gap_text(evaluated.problem, gap, std::get<Cost>(evaluated.evaluation));
}

std::string to_svg(const Evaluated& evaluated) {
  const auto* cost = std::get_if<Cost>(&evaluated.evaluation);
  return cost == nullptr ? "" : show_mapping(evaluated.problem, evaluated.mapping, *cost);
}

std::optional<SimulationRecord> simulate(const Evaluated& evaluated, std::int64_t max_steps,
                                         std::uint64_t seed, const std::atomic<bool>* stop) {
  const auto* cost = std::get_if<Cost>(&evaluated.evaluation);
  if (cost == nullptr) {
    return std::nullopt;
  }
  const Problem& problem = evaluated.problem;
  const Workload& workload = problem.workload();
  if (workload.macs() > max_steps) {
    throw std::invalid_argument{"'" + workload.name + "' has " + std::to_string(workload.macs()) +
                                " MACs, a walk of as many steps; max_steps allows " +
                                std::to_string(max_steps)};
  }
  const PerTensor<DenseTensor> operands =
      cost->sparse ? operands_with_zeros(workload, seed) : random_operands(workload, seed);
  const Simulation simulation = simulate(problem, evaluated.mapping, operands, max_steps, stop);
  if (simulation.stopped) {
    return std::nullopt;
  }
  const Agreement agreement =
      compare_counts(problem.arch(), workload, cost->counts, simulation.counts);
  const DenseTensor expected = plain_loops(workload, operands);
  SimulationRecord record{simulation.counts.steps,
                          agreement.compared,
                          {},
                          static_cast<std::int64_t>(expected.values.size()),
                          count_wrong(expected, simulation.output)};
  for (const CountDifference& difference : agreement.differences) {
    record.differences.push_back({difference.name, difference.model, difference.simulated});
  }
  if (cost->sparse) {
    record.zeros = zero_counts(problem, evaluated.mapping, *cost, simulation);
    record.zeros_known = has_known_zeros(workload);
  }
  return record;
}

std::string to_json(const Evaluated& evaluated, const SimulationRecord& record) {
  return simulation_json({"simulate", {}}, evaluated.problem, evaluated.mapping, record);
}

std::string trace_json(const Solution& solution, const std::atomic<bool>* stop) {
  const SearchResult& found = solution.result;
  return found.best && found.cost
             ? trace_of({"search", {}}, solution.problem, *found.best, *found.cost, stop)
             : "";
}

std::string trace_json(const Evaluated& evaluated, const std::atomic<bool>* stop) {
  const auto* cost = std::get_if<Cost>(&evaluated.evaluation);
  return cost == nullptr
             ? ""
             : trace_of({"simulate", {}}, evaluated.problem, evaluated.mapping, *cost, stop);
}

Verified verify(const std::string& proof, const std::string& name,
                const check::CheckOptions& options) {
  check::Certificate certificate = check::parse_certificate(proof, name);
  check::Verdict verdict = check::check_certificate(certificate, options);
  return {std::move(certificate), std::move(verdict)};
}

std::string to_json(const Verified& verified) {
  return check_json({"check", {}}, verified.certificate, verified.verdict);
}

}  // namespace mapsim
