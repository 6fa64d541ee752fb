// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <variant>

#include "campaign/layer.hpp"
#include "core/edit_distance.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/timing/model.hpp"
#include "mapper/branch/partial_folds.hpp"
#include "mapper/least_busiest.hpp"
#include "mapper/mapspace/constraints.hpp"
#include "mapper/supported.hpp"
#include "mapper/unfolded.hpp"
#include "mapsim/request.hpp"
#include "report/certificate.hpp"
#include "report/histogram.hpp"
#include "report/nest.hpp"
#include "report/show.hpp"
#include "report/text.hpp"

namespace mapsim {

Constraints constraints_of(const Problem& problem, const SearchRequest& request,
                           std::vector<std::string>* warnings) {
  std::vector<LackingRule> lacking;
  Constraints constraints = request.constraints.empty()
                                ? Constraints{}
                                : parse_constraints(request.constraints, request.constraints_name,
                                                    problem, &lacking, request.imperfect);
  if (warnings != nullptr) {
    std::ranges::copy(warnings_of(problem, lacking), std::back_inserter(*warnings));
  }
  constraints.even = constraints.even || request.even;
  constraints.factors.imperfect = constraints.factors.imperfect || request.imperfect;
  check_supported(problem, constraints, request.strategy);
  check_range(problem, request.options.objective);
  return constraints;
}

Frames frames_of(const Arch& arch, const SearchRequest& request) {
  if (request.batches && !timing_model(arch).is_engine) {
    throw std::invalid_argument{"batches: only for NVDLA-like engines"};
  }
  return request.batches ? Frames::kBatches : Frames::kOne;
}

SearchOptions kept(SearchOptions options) {
  options.stop = nullptr;
  options.progress = {};
  return options;
}

namespace {

Provenance origin_of(const char* command, const std::vector<std::string>& warnings) {
  return {command, {}, warnings};
}

bool on_engine(const Solution& solution) {
  return timing_model(solution.problem.arch()).is_engine && solution.request.strategy == "exact";
}

FrontSolution front_of(Problem problem, const SearchRequest& request,
                       const std::optional<CurveCapacity>& capacity) {
  std::vector<std::string> warnings;
  Constraints constraints = constraints_of(problem, request, &warnings);
  FrontSolution solution{std::move(problem),
                         std::move(constraints),
                         {request.options.objective, capacity},
                         kept(request.options),
                         {},
                         std::move(warnings)};
  const Mapspace mapspace{solution.problem, solution.constraints};
  solution.front = capacity ? search_curve(mapspace, request.options, *capacity)
                            : search_front(mapspace, request.options);
  return solution;
}

}  // namespace

Solution search(const Arch& arch, const Workload& layer, const SearchRequest& request) {
  if (!find_mapper(request.strategy)) {
    throw std::invalid_argument{
        "no strategy '" + request.strategy + "'" +
        suggestion(request.strategy, {"exact", "exhaustive", "random", "annealing", "genetic"})};
  }
  Problem problem{arch, layer};
  std::vector<std::string> warnings;
  Constraints constraints = constraints_of(problem, request, &warnings);
  LayerSearch how{request.strategy, request.options, frames_of(arch, request)};
  how.options.partial_folds = true;
  const std::optional<UnfoldedSpace> unfolded =
      request.strategy == "exact"
          ? unfolded_space(Mapspace{problem, constraints}, how.options.objective)
          : std::nullopt;
  FormedResult found = unfolded
                           ? search_both(Mapspace{problem, constraints}, *unfolded, how.options)
                           : search_layer(problem, {}, constraints, how);
  if (unfolded && found.result.form != Form{}) {
    constraints = unfolded->constraints;  // in the dims of the form
  }
  if (found.result.form == Form{} && !timing_model(arch).is_engine) {
    take_least_busiest(Mapspace{found.problem, constraints}, how.options, found.result);
  }
  SearchRequest asked = request;
  asked.options = kept(request.options);
  return {layer,
          std::move(asked),
          std::move(found.problem),
          std::move(constraints),
          std::move(found.result),
          std::move(found.tried),
          std::move(warnings)};
}

std::vector<Relief> what_would_help(const Solution& solution, const std::atomic<bool>* stop) {
  if (!solution.result.cost) {
    return {};
  }
  SearchOptions options = solution.request.options;
  options.stop = stop;
  return what_would_help(Mapspace{solution.problem, solution.constraints}, options,
                         *solution.result.cost);
}

std::string to_json(const Solution& solution) {
  return search_json(origin_of("search", solution.warnings),
                     Mapspace{solution.problem, solution.constraints}, solution.request.strategy,
                     solution.request.options, solution.result, std::nullopt, solution.tried);
}

std::string to_text(const Solution& solution) {
  return search_text(Mapspace{solution.problem, solution.constraints},
                     solution.request.options.objective, solution.result) +
         forms_text(solution.tried);
}

std::string nest_text(const Solution& solution) {
  return solution.result.best
             ? draw_nest(solution.problem, *solution.result.best, solution.result.cost->counts)
             : "";
}

std::string why_none(const Solution& solution) {
  return solution.result.best
             ? ""
             : why_none_text(Mapspace{solution.problem, solution.constraints}, solution.result);
}

std::string mapping_yaml(const Solution& solution) {
  return solution.result.best ? print_mapping(solution.problem.arch(), solution.problem.workload(),
                                              *solution.result.best)
                              : "";
}

std::string to_svg(const Solution& solution) {
  return solution.result.best
             ? show_mapping(solution.problem, *solution.result.best, *solution.result.cost)
             : "";
}

std::string proof_yaml(const Solution& solution, const std::atomic<bool>* stop) {
  if (solution.request.strategy != "exact") {
    throw UnsupportedSearch{"only the strategy exact proves anything"};
  }
  SearchOptions options = solution.request.options;
  options.stop = stop;
  const Provenance origin = origin_of("search", solution.warnings);
  if (on_engine(solution)) {
    return schedules_certificate_file(origin, Problem{solution.problem.arch(), solution.layer},
                                      frames_of(solution.problem.arch(), solution.request),
                                      options.objective,
                                      {solution.problem, solution.result, solution.tried});
  }
  // Folds that leave a remainder or cross lines lie beyond the mapspace that a proof is about.
  const bool is_unfolded = solution.problem.workload().form != Form{};
  const Problem problem =
      is_unfolded ? Problem{solution.problem.arch(), solution.layer} : solution.problem;
  const Mapspace space{
      problem, is_unfolded ? constraints_of(problem, solution.request) : solution.constraints};
  const SearchResult within = exact::has_partial_folds(space, options.objective)
                                  ? search_exact(space, options)
                                  : solution.result;
  return certificate_file(origin, space, options.objective, within, options.threads,
                          {options.stop});
}

FrontSolution pareto_front(const Arch& arch, const Workload& layer, const SearchRequest& request) {
  return front_of(Problem{arch, layer}, request, std::nullopt);
}

FrontSolution capacity_curve(const Arch& arch, const Workload& layer, const std::string& capacity,
                             const SearchRequest& request) {
  const Parsed<CurveCapacity> parsed = parse_curve_capacity(capacity, arch);
  if (const auto* wrong = std::get_if<std::string>(&parsed)) {
    throw std::invalid_argument{"level: " + *wrong};
  }
  return front_of(Problem{arch, layer}, request, std::get<CurveCapacity>(parsed));
}

std::string to_json(const FrontSolution& solution) {
  return front_json(origin_of("search", solution.warnings),
                    Mapspace{solution.problem, solution.constraints}, solution.subject,
                    solution.options, solution.front);
}

std::string to_text(const FrontSolution& solution) {
  return front_text(Mapspace{solution.problem, solution.constraints}, solution.subject,
                    solution.front);
}

std::string to_svg(const FrontSolution& solution) {
  return front_svg(Mapspace{solution.problem, solution.constraints}, solution.subject,
                   solution.front);
}

Histogram energy_histogram(const Arch& arch, const Workload& layer, const HistogramOptions& options,
                           const SearchRequest& request, std::string* svg) {
  const Problem problem{arch, layer};
  const Constraints constraints = constraints_of(problem, request);
  if (constraints.factors.imperfect) {
    throw UnsupportedSearch{"histogram: walks perfect factors only"};
  }
  const Mapspace space{problem, constraints};
  Histogram histogram = make_histogram(space, options);
  if (svg != nullptr) {
    *svg = histogram_svg(space, options, histogram);
  }
  return histogram;
}

}  // namespace mapsim
