// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/files.hpp"
#include "arch/load.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/simulate.hpp"
#include "report/figures.hpp"
#include "report/json.hpp"
#include "report/names.hpp"
#include "report/table.hpp"
#include "report/text.hpp"
#include "validate/agreement.hpp"
#include "workloads/load.hpp"

namespace mapsim {

namespace {

std::string counts_text(const Agreement& agreement) {
  const auto agreeing =
      agreement.compared - static_cast<std::int64_t>(agreement.differences.size());
  std::string text = fmt::format("{} of {} counts agree\n", agreeing, agreement.compared);
  if (agreement.differences.empty()) {
    return text;
  }
  std::vector<Row> rows{{"", "closed form", "simulated"}};
  for (const CountDifference& difference : agreement.differences) {
    rows.push_back({difference.name, grouped(difference.model), grouped(difference.simulated)});
  }
  return text + table(rows);
}

}  // namespace

Answer run(const SimulateArguments& arguments) {
  const Problem problem{load_arch(arguments.arch),
                        load_form(arguments.mapping, load_workload(arguments.workload))};
  const Arch& arch = problem.arch();
  const Workload& workload = problem.workload();
  const Mapping mapping = load_mapping(arguments.mapping, arch, workload);
  // Every MAC is a step of some unit; the walk takes time in proportion.
  if (workload.macs() > arguments.max_steps) {
    throw UsageError(
        fmt::format("'{}' has {} MACs, a walk of as many steps; allow it with --max-steps {}, or "
                    "take a smaller "
                    "workload",
                    workload.name, grouped(workload.macs()), workload.macs()));
  }
  Provenance origin{"simulate", input_files(arguments.arch, arch, arguments.workload)};
  origin.inputs.push_back(input_file("mapping", arguments.mapping));
  const Counts model = count(problem, mapping);
  std::string text = title_text(arch, workload) + "\n";
  if (const auto reason = check_feasible(problem, model)) {
    if (arguments.output.json) {
      return {kNegative, evaluation_json(origin, problem, mapping, *reason)};
    }
    return {kNegative, text + "does not fit: " + infeasible_text(arch, *reason) + "\n"};
  }
  const PerTensor<DenseTensor> operands =
      random_operands(workload, static_cast<std::uint64_t>(arguments.seed));
  const Simulation simulation = simulate(problem, mapping, operands, arguments.max_steps);
  const Agreement agreement = compare_counts(arch, workload, model, simulation.counts);
  const DenseTensor expected = plain_loops(workload, operands);
  const std::int64_t wrong = count_wrong(expected, simulation.output);
  const auto elements = static_cast<std::int64_t>(expected.values.size());
  const ExitCode code = agreement.differences.empty() && wrong == 0 ? kDone : kNegative;
  if (arguments.output.json) {
    SimulationRecord record{simulation.counts.steps, agreement.compared, {}, elements, wrong};
    for (const CountDifference& difference : agreement.differences) {
      record.differences.push_back({difference.name, difference.model, difference.simulated});
    }
    return {code, simulation_json(origin, problem, mapping, record)};
  }
  text += fmt::format("simulated {} steps of the first of {} MAC units\n",
                      grouped(simulation.counts.steps), arch.mac_units());
  text += counts_text(agreement);
  text += fmt::format("{} of {} output elements equal those of plain loops\n",
                      grouped(elements - wrong), grouped(elements));
  return {code, text};
}

}  // namespace mapsim
