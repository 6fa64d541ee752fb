// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/space.hpp"
#include "app/trace_file.hpp"
#include "app/watch.hpp"
#include "arch/load.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping_text.hpp"
#include "costmodel/reference/data_set.hpp"
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

std::string counts_text(const Agreement& agreement, const char* kind) {
  const auto agreeing =
      agreement.compared - static_cast<std::int64_t>(agreement.differences.size());
  std::string text = fmt::format("{} of {} {}counts agree\n", agreeing, agreement.compared, kind);
  if (agreement.differences.empty()) {
    return text;
  }
  std::vector<Row> rows{{"", "closed form", "simulated"}};
  for (const CountDifference& difference : agreement.differences) {
    rows.push_back({difference.name, grouped(difference.model), grouped(difference.simulated)});
  }
  return text + table(rows);
}

std::string amount(double value) { return fmt::format("{:.6g}", value); }

// Of given data a run counts what the closed form does. Of drawn zeros it shows one data set.
std::string zeros_text(const SimulationRecord& record, std::int64_t seed) {
  std::vector<Row> rows{{"", record.zeros_known ? "closed form" : "mean of all", "simulated"}};
  for (const ZeroCount& count : record.zeros) {
    if (!record.zeros_known || !count.agrees()) {
      rows.push_back({count.name, amount(count.expected), amount(count.simulated)});
    }
  }
  if (!record.zeros_known) {
    return fmt::format("zeros of one data set (seed {}) beside the mean over all data sets\n",
                       seed) +
           table(rows);
  }
  const auto wrong = static_cast<std::ptrdiff_t>(rows.size()) - 1;
  return fmt::format("{} of {} counts of the zeros agree\n", std::ssize(record.zeros) - wrong,
                     record.zeros.size()) +
         (wrong > 0 ? table(rows) : "");
}

// Every MAC is a step of some unit; the walk takes time in proportion.
bool is_too_long(const SimulateArguments& arguments, const Workload& workload) {
  if (workload.macs() <= arguments.max_steps) {
    return false;
  }
  if (arguments.trace.empty()) {
    throw UsageError(fmt::format(
        "'{}' has {} MACs, {}; allow it with --max-steps {}, or take a smaller "
        "workload; --trace alone has no limit",
        workload.name, grouped(workload.macs()), walk_text(workload.macs()), workload.macs()));
  }
  return true;
}

// Counts and outputs beside those of the closed form and of plain loops.
Answer compared(const SimulateArguments& arguments, const Provenance& origin,
                const Problem& problem, const Mapping& mapping, const Cost& cost,
                const std::atomic<bool>& stop) {
  const Workload& workload = problem.workload();
  const auto seed = static_cast<std::uint64_t>(arguments.seed);
  const PerTensor<DenseTensor> operands =
      cost.sparse ? operands_with_zeros(workload, seed) : random_operands(workload, seed);
  const Simulation simulation = simulate(problem, mapping, operands, arguments.max_steps, &stop);
  if (simulation.stopped) {
    return {kInterrupted, "", "interrupted: nothing was compared"};
  }
  const Agreement agreement =
      compare_counts(problem.arch(), workload, cost.counts, simulation.counts);
  const DenseTensor expected = plain_loops(workload, operands);
  const std::int64_t wrong = count_wrong(expected, simulation.output);
  const auto elements = static_cast<std::int64_t>(expected.values.size());
  SimulationRecord record{simulation.counts.steps, agreement.compared, {}, elements, wrong};
  for (const CountDifference& difference : agreement.differences) {
    record.differences.push_back({difference.name, difference.model, difference.simulated});
  }
  if (cost.sparse) {
    record.zeros = zero_counts(problem, mapping, cost, simulation);
    record.zeros_known = has_known_zeros(workload);
  }
  const ExitCode code = record.agrees() ? kDone : kNegative;
  if (arguments.output.json) {
    return {code, simulation_json(origin, problem, mapping, record)};
  }
  std::string text = title_text(problem.arch(), workload) + "\n";
  text += fmt::format("simulated {} steps of the first of {} MAC units\n",
                      grouped(simulation.counts.steps), problem.arch().mac_units());
  text += counts_text(agreement, cost.sparse ? "dense " : "");
  text += cost.sparse ? zeros_text(record, arguments.seed) : "";
  text += fmt::format("{} of {} output elements equal those of plain loops\n",
                      grouped(elements - wrong), grouped(elements));
  return {code, text};
}

// No comparison, but the cost that the trace shows in time.
Answer not_compared(const SimulateArguments& arguments, const Provenance& origin,
                    const Problem& problem, const Mapping& mapping, const Cost& cost) {
  if (arguments.output.json) {
    return {kDone, evaluation_json(origin, problem, mapping, cost)};
  }
  return {kDone, fmt::format("{}\nnot simulated: {} MACs are more than --max-steps {}\n",
                             title_text(problem.arch(), problem.workload()),
                             grouped(problem.workload().macs()), grouped(arguments.max_steps))};
}

}  // namespace

Answer run(const SimulateArguments& arguments) {
  if (is_chain(arguments.workload)) {
    return run_on_chain(arguments);
  }
  const Problem problem{load_arch(arguments.arch),
                        load_form(arguments.mapping, load_workload(arguments.workload))};
  const Arch& arch = problem.arch();
  const Workload& workload = problem.workload();
  const Mapping mapping = load_mapping(arguments.mapping, arch, workload);
  const bool too_long = is_too_long(arguments, workload);
  TraceFile trace{arguments.trace};
  Provenance origin{"simulate", input_files(arguments.arch, problem, arguments.workload)};
  origin.inputs.push_back(input_file("mapping", arguments.mapping));
  const Evaluation evaluation = evaluate(problem, mapping);
  if (const auto* reason = std::get_if<Infeasible>(&evaluation)) {
    trace.remove();
    if (arguments.output.json) {
      return {kNegative, evaluation_json(origin, problem, mapping, *reason)};
    }
    return {kNegative, title_text(arch, workload) +
                           "\ndoes not fit: " + infeasible_text(arch, *reason) + "\n"};
  }
  const Cost& cost = std::get<Cost>(evaluation);
  const Watch watch{{"simulating", "stop"}};
  Answer answer = too_long ? not_compared(arguments, origin, problem, mapping, cost)
                           : compared(arguments, origin, problem, mapping, cost, watch.stop());
  if (trace.wanted() && answer.code != kInterrupted) {
    add_trace(trace, arguments.trace, arguments.output.json,
              trace.write(origin, problem, mapping, cost, watch.stop()), answer);
  }
  return answer;
}

}  // namespace mapsim
