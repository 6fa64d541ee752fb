// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/files.hpp"
#include "app/space.hpp"
#include "arch/load.hpp"
#include "core/file_kind.hpp"
#include "costmodel/reference/simulate_tree.hpp"
#include "report/figures.hpp"
#include "report/table.hpp"
#include "report/tree.hpp"
#include "validate/agreement.hpp"
#include "workloads/inline_layer.hpp"

namespace mapsim {

namespace {

// A machine, a chain and its tree, read.
struct TreeInput {
  Arch arch;
  EinsumChain chain;
  MappingTree tree;
};

TreeInput read_input(const std::string& arch_path, const std::string& chain_path,
                     const std::string& tree_path) {
  if (tree_path.empty()) {
    throw UsageError("MAPPING is required");
  }
  TreeInput input{load_arch(arch_path), load_chain(chain_path), {}};
  if (const std::string obstacle = tree_obstacle(input.arch); !obstacle.empty()) {
    throw UsageError(obstacle);
  }
  input.tree = load_tree(tree_path, input.arch, input.chain);
  return input;
}

Provenance origin_of(const std::string& command, const TreeInput& input,
                     const std::string& arch_path, const std::string& chain_path,
                     const std::string& tree_path) {
  Provenance origin{command, input_files(arch_path, input.arch, chain_path)};
  origin.inputs.push_back(input_file("mapping", tree_path));
  return origin;
}

Answer exceeded(const TreeInput& input, const PhaseExceeded& reason) {
  return {kNegative, chain_title_text(input.arch, input.chain) + "\ndoes not fit: " +
                         exceeded_text(input.arch, input.chain, reason) + "\n"};
}

SimulationRecord compare(const TreeInput& input, const TreeCounts& model,
                         const TreeSimulation& walked, const std::vector<DenseTensor>& expected) {
  SimulationRecord record;
  const auto add = [&record](const std::string& name, std::int64_t a, std::int64_t b) {
    ++record.counts_compared;
    if (a != b) {
      record.differences.push_back({name, a, b});
    }
  };
  for (std::size_t e = 0; e < input.chain.einsums.size(); ++e) {
    const Workload& einsum = input.chain.einsums[e];
    record.steps += walked.counts.einsums[e].steps;
    const Agreement agreement =
        compare_counts(input.arch, einsum, model.einsums[e], walked.counts.einsums[e]);
    record.counts_compared += agreement.compared;
    for (const CountDifference& difference : agreement.differences) {
      record.differences.push_back(
          {einsum.name + " " + difference.name, difference.model, difference.simulated});
    }
    if (!input.chain.intermediate_of({e, einsum.output()})) {
      record.outputs += static_cast<std::int64_t>(expected[e].values.size());
      record.outputs_wrong += count_wrong(expected[e], walked.outputs[e]);
    }
  }
  for (std::size_t i = 0; i < input.chain.intermediates.size(); ++i) {
    const std::string& name = input.chain.intermediates[i].name;
    const IntermediateCounts& a = model.intermediates[i];
    const IntermediateCounts& b = walked.counts.intermediates[i];
    add(name + " made", a.made, b.made);
    add(name + " live", a.held.live, b.held.live);
    add(name + " carried", a.held.carried, b.held.carried);
  }
  return record;
}

}  // namespace

bool is_chain(const std::string& path) {
  if (path.empty() || is_inline_layer(path)) {
    return false;
  }
  const std::optional<Recognised> found = recognise(beginning_of(path));
  return found && found->kind == FileKind::kChain;
}

Answer run_on_chain(const EvalArguments& arguments) {
  if (arguments.why || arguments.explain_energy || !arguments.constraints.empty() ||
      !arguments.csv_file.empty()) {
    throw UsageError(
        "--why, --explain-energy, --csv and --constraints are for "
        "mappings of one layer, not of a chain");
  }
  const TreeInput input = read_input(arguments.arch, arguments.workload, arguments.mapping);
  const auto evaluation = evaluate_tree(input.arch, input.chain, input.tree);
  const auto* cost = std::get_if<TreeCost>(&evaluation);
  if (arguments.output.json) {
    const Provenance origin =
        origin_of("eval", input, arguments.arch, arguments.workload, arguments.mapping);
    return {cost != nullptr ? kDone : kNegative,
            tree_json(origin, input.arch, input.chain, input.tree, evaluation)};
  }
  if (cost == nullptr) {
    return exceeded(input, std::get<PhaseExceeded>(evaluation));
  }
  return {kDone, chain_title_text(input.arch, input.chain) + "\n" +
                     tree_cost_text(input.arch, input.chain, input.tree, *cost)};
}

// Text: a tree has no picture yet.
Answer run_on_chain(const ShowArguments& arguments) {
  if (arguments.html) {
    throw UsageError("--html is for mappings of one layer, not of a chain");
  }
  const TreeInput input = read_input(arguments.arch, arguments.workload, arguments.mapping);
  const auto evaluation = evaluate_tree(input.arch, input.chain, input.tree);
  const auto* cost = std::get_if<TreeCost>(&evaluation);
  Answer answer =
      cost == nullptr
          ? exceeded(input, std::get<PhaseExceeded>(evaluation))
          : Answer{kDone, chain_title_text(input.arch, input.chain) + "\n" +
                              tree_scopes_text(input.arch, input.chain, input.tree, *cost)};
  if (arguments.output.json) {
    answer.text =
        text_json(origin_of("show", input, arguments.arch, arguments.workload, arguments.mapping),
                  {"text", std::move(answer.text)});
  }
  return answer;
}

Answer run_on_chain(const SimulateArguments& arguments) {
  if (!arguments.trace.empty()) {
    throw UsageError("--trace is for mappings of one layer, not of a chain");
  }
  const TreeInput input = read_input(arguments.arch, arguments.workload, arguments.mapping);
  const auto evaluation = evaluate_tree(input.arch, input.chain, input.tree);
  const auto* cost = std::get_if<TreeCost>(&evaluation);
  const Provenance origin =
      origin_of("simulate", input, arguments.arch, arguments.workload, arguments.mapping);
  if (cost == nullptr) {
    return arguments.output.json ? Answer{kNegative, tree_json(origin, input.arch, input.chain,
                                                               input.tree, evaluation)}
                                 : exceeded(input, std::get<PhaseExceeded>(evaluation));
  }
  std::int64_t macs = 0;
  for (const Counts& counts : cost->counts.einsums) {
    macs += counts.macs;
  }
  if (macs > arguments.max_steps) {
    throw UsageError(fmt::format("the tree takes {} MACs, {}; allow it with --max-steps {}",
                                 grouped(macs), walk_text(macs), macs));
  }
  const auto operands = random_operands(input.chain, static_cast<std::uint64_t>(arguments.seed));
  const TreeSimulation walked =
      simulate_tree(input.arch, input.chain, input.tree, operands, arguments.max_steps);
  const SimulationRecord record =
      compare(input, cost->counts, walked, plain_loops(input.chain, operands));
  const ExitCode code = record.differences.empty() && record.outputs_wrong == 0 ? kDone : kNegative;
  if (arguments.output.json) {
    return {code, tree_simulation_json(origin, input.arch, input.chain, input.tree, record)};
  }
  const auto differing = static_cast<std::int64_t>(record.differences.size());
  std::string text = chain_title_text(input.arch, input.chain) + "\n";
  text += fmt::format("simulated {} steps\n{} of {} counts agree\n", grouped(record.steps),
                      record.counts_compared - differing, record.counts_compared);
  if (differing > 0) {
    std::vector<Row> rows{{"", "closed form", "simulated"}};
    for (const SimulationRecord::Difference& difference : record.differences) {
      rows.push_back({difference.name, grouped(difference.model), grouped(difference.simulated)});
    }
    text += table(rows);
  }
  return {code, text + fmt::format("{} of {} output elements equal those of plain loops\n",
                                   grouped(record.outputs - record.outputs_wrong),
                                   grouped(record.outputs))};
}

}  // namespace mapsim
