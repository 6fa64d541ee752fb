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
GapReport find_gap(const Problem& problem, const EvalArguments& arguments) {
  SearchOptions options;
  options.objective = complete(arguments.objective, problem.arch().clock);
  options.threads = arguments.threads;
  const Mapspace space{problem, {}};
  GapReport gap{options.objective, search_exact(space, options).cost, {}};
  if (gap.best) {
    gap.reliefs = what_would_help(space, options, *gap.best);
  }
  return gap;
}

}  // namespace

Answer run(const EvalArguments& arguments) {
  const Problem problem{load_arch(arguments.arch),
                        load_form(arguments.mapping, load_workload(arguments.workload))};
  const Mapping mapping = load_mapping(arguments.mapping, problem.arch(), problem.workload());
  const Evaluation evaluation = evaluate(problem, mapping);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  const ExitCode code = cost != nullptr ? kDone : kNegative;
  std::optional<GapReport> gap;
  if (cost != nullptr && arguments.why) {
    gap = find_gap(problem, arguments);
  }
  if (arguments.output.json) {
    Provenance origin{"eval", input_files(arguments.arch, problem.arch(), arguments.workload)};
    origin.inputs.push_back(input_file("mapping", arguments.mapping));
    return {code, evaluation_json(origin, problem, mapping, evaluation, gap)};
  }
  std::string text = title_text(problem.arch(), problem.workload()) + "\n";
  if (cost != nullptr) {
    text += cost_text(problem, mapping, *cost);
    if (gap) {
      text += '\n' + gap_text(problem, *gap, *cost);
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
