// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "report/json.hpp"
#include "report/names.hpp"
#include "report/nest.hpp"
#include "report/text.hpp"
#include "report/why.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

// Against the proven optimum of the same machine and workload, unrolling left free.
std::string why_text(const Problem& problem, const EvalArguments& arguments, const Cost& given) {
  SearchOptions options;
  options.objective = complete(arguments.objective, problem.arch().clock);
  options.threads = arguments.threads;
  const Mapspace space{problem, {}};
  const SearchResult best = search_exact(space, options);
  if (!best.cost) {
    return "why: nothing in the searched mapspace fits\n";
  }
  return gap_text(problem, options.objective, given, *best.cost) + '\n' +
         relief_text(options.objective, what_would_help(space, options, *best.cost));
}

}  // namespace

Answer run(const EvalArguments& arguments) {
  const Problem problem{load_arch(arguments.arch), load_workload(arguments.workload)};
  const Mapping mapping = load_mapping(arguments.mapping, problem.arch(), problem.workload());
  const Evaluation evaluation = evaluate(problem, mapping);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  const ExitCode code = cost != nullptr ? kDone : kNegative;
  if (arguments.output.json) {
    const Provenance origin{
        "eval",
        {input_file("arch", arguments.arch), input_file("workload", arguments.workload),
         input_file("mapping", arguments.mapping)}};
    return {code, evaluation_json(origin, problem, mapping, evaluation)};
  }
  std::string text = title_text(problem.arch(), problem.workload()) + "\n";
  if (cost != nullptr) {
    text += cost_text(problem, mapping, *cost);
    if (arguments.why) {
      text += '\n';
      text += why_text(problem, arguments, *cost);
    }
    if (arguments.explain_energy) {
      text += '\n' + explain_energy_text(problem, *cost);
    }
  } else {
    text += "mapping:\n" + draw_nest(problem, mapping, count(problem, mapping));
    text += "\ndoes not fit: " + infeasible_text(problem.arch(), std::get<Infeasible>(evaluation)) +
            "\n";
  }
  return {code, text};
}

}  // namespace mapsim
