// SPDX-License-Identifier: Apache-2.0
#include "app/command.hpp"
#include "app/files.hpp"
#include "app/gpu_request.hpp"
#include "app/inputs.hpp"
#include "app/places.hpp"
#include "app/space.hpp"
#include "app/startable_threads.hpp"
#include "arch/gpu_load.hpp"
#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "mapper/why.hpp"
#include "plan/places.hpp"
#include "report/accesses.hpp"
#include "report/json.hpp"
#include "report/names.hpp"
#include "report/nest.hpp"
#include "report/sparse.hpp"
#include "report/text.hpp"
#include "report/why.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

// Against the optimum of a mapspace, in which the mapping may or may not lie.
GapReport gap_of(const Problem& problem, const EvalArguments& arguments, const Mapping& mapping,
                 const Cost& given, std::vector<std::string>& warnings) {
  SearchOptions options;
  options.objective = complete(arguments.objective, problem.arch().clock);
  options.threads = threads_to_use(arguments.threads);
  options.budget = arguments.budget;
  const Mapspace space{
      problem, read_space(problem, arguments.constraints, false, arguments.imperfect, &warnings)};
  GapReport gap = find_gap(space, options, mapping, given);
  if (gap.outside.ends_with("partial") && arguments.constraints.empty()) {
    gap.outside += "; --imperfect searches a space with such tiles";
  }
  return gap;
}

// A plan of a network on a chip.
Answer run_on_chip(const EvalArguments& arguments) {
  if (arguments.mapping.empty()) {
    throw UsageError("PLAN is required");
  }
  if (!arguments.csv_file.empty()) {
    throw UsageError("--csv: only for mappings; for a plan use --json");
  }
  OneKernelArguments others = arguments.kernel;
  others.precision.clear();
  refuse_kernel_options(others);
  PlanArguments plan;
  if (!arguments.kernel.precision.empty()) {
    const auto width = width_named(arguments.kernel.precision);
    if (!width) {
      throw UsageError(fmt::format("--precision: on a chip s8, f16 or f32, not {}",
                                   quoted(arguments.kernel.precision)));
    }
    plan.options.widths = {*width};
  }
  plan.soc = arguments.arch;
  plan.network = arguments.workload;
  plan.given = arguments.mapping;
  plan.output = arguments.output;
  return run(plan);
}

}  // namespace

Answer run(const EvalArguments& arguments) {
  if (is_chip(arguments.arch)) {
    return run_on_chip(arguments);
  }
  const Document machine = read_yaml(arguments.arch);
  if (describes_gpu(machine)) {
    return run_on_gpu(arguments, machine);
  }
  refuse_kernel_options(arguments.kernel);
  if (is_chain(arguments.workload)) {
    return run_on_chain(arguments);
  }
  if (arguments.mapping.empty()) {
    throw UsageError("MAPPING is required");
  }
  const Problem problem{load_arch(arguments.arch),
                        load_form(arguments.mapping, load_workload(arguments.workload))};
  const Mapping mapping = load_mapping(arguments.mapping, problem.arch(), problem.workload());
  const Evaluation evaluation = evaluate(problem, mapping);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  const ExitCode code = cost != nullptr ? kDone : kNegative;
  std::optional<GapReport> gap;
  std::vector<std::string> warnings;
  if (cost != nullptr && arguments.why) {
    gap = gap_of(problem, arguments, mapping, *cost, warnings);
  }
  if (cost != nullptr) {
    OutputFile{arguments.csv_file}.write(action_csv(problem, *cost));
  }
  Answer answer{code, ""};
  remark_warnings(warnings, answer);
  if (arguments.output.json) {
    Provenance origin{"eval", input_files(arguments.arch, problem, arguments.workload)};
    origin.inputs.push_back(input_file("mapping", arguments.mapping));
    if (!arguments.constraints.empty()) {
      origin.inputs.push_back(input_file("constraints", arguments.constraints));
    }
    origin.warnings = warnings;
    std::ranges::copy(zero_notes(problem, &mapping),  // text has them in its table
                      std::back_inserter(origin.warnings));
    answer.text = evaluation_json(origin, problem, mapping, evaluation, gap);
    return answer;
  }
  std::string& text = answer.text;
  text = warning_lines(warnings) + title_text(problem.arch(), problem.workload()) + "\n";
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
  return answer;
}

}  // namespace mapsim
