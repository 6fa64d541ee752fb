// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "app/options.hpp"

namespace mapsim {

namespace {

void add_fronts(CLI::App& command, SearchArguments& a) {
  CLI::Option* pareto = command.add_flag(
      "--pareto", a.pareto, "Every mapping that none beats in both energy and latency");
  CLI::Option* curve = command.add_option(
      "--curve", a.curve, "The optimum over the capacity of a level, or of its part for a role");
  curve->type_name("LEVEL[:ROLE]")->excludes(pareto);
  pareto->excludes(command.get_option("--objective"));
  for (CLI::Option* front : {pareto, curve}) {
    for (const char* other : {"--strategy", "--why"}) {
      front->excludes(command.get_option(other));
    }
  }
  command.add_option("--svg", a.svg, "Draw the front or the curve to FILE (SVG)")
      ->type_name("FILE");
}

// How mappings are looked for: of search and of network.
template <class Arguments>
void add_strategy(CLI::App& command, Arguments& a) {
  add_choice(
      command, "strategy", {"exact", "exhaustive", "random", "annealing", "genetic"},
      [&a](const std::string& word) { a.strategy = word; },
      "exact (default), exhaustive, random, annealing or genetic");
  add_number(command, "--evaluations,--samples", a.evaluations, std::int64_t{1}, kMost,
             "How many mappings random, annealing and genetic try [10000]");
  add_number(command, "--seed", a.seed, std::int64_t{0}, kMost, "Seed of these [1]");
  command.parse_complete_callback([&command, &a] {
    for (const char* name : {"--evaluations", "--seed"}) {
      if (command.count(name) > 0 && (a.strategy == "exact" || a.strategy == "exhaustive")) {
        throw UsageError(
            fmt::format("{}: the strategy {} draws nothing; of random, annealing and genetic only",
                        name, a.strategy));
      }
    }
  });
  command.add_flag("--batches", a.batches,
                   "Engines after NVDLA: fully connected layers in batches, too, by the frame");
  command.add_flag("--even", a.even, "A level keeps all its tensors at one point of the nest");
}

void add_path(CLI::App& command, KernelListArguments& a) {
  add_choice(
      command, "path", {"wmma", "mma", "wgmma", "simt"},
      [&a](const std::string& word) { a.path = word; },
      "GPU: wmma, mma, wgmma or simt; default the chip's fastest");
}

void add_kernels(CLI::App& command, KernelListArguments& a) {
  command.add_option("--top", a.top, "GPU: how many kernels to print [10]")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  add_precision(command, a.precision);
  add_path(command, a);
  add_choice(
      command, "layout", {"tn", "nn", "nt", "tt", "nhwc", "nchw"},
      [&a](const std::string& word) { a.layout = word; },
      "GPU: tn (default), nn, nt or tt of a GEMM; nhwc (default) or nchw of a convolution");
  add_choice(
      command, "export", {"triton", "cutlass", "json"},
      [&a](const std::string& word) { a.format = word; },
      "GPU: the kernels as triton.Config list, CUTLASS test list or JSON");
}

}  // namespace

void add_search(CLI::App& app, SearchArguments& a) {
  CLI::App& command = *app.add_subcommand("search", "The best mapping, and the proof that it is");
  add_inputs(command, a.arch, a.workload);
  command.add_option("--constraints", a.constraints, "What mappings must look like (YAML)")
      ->type_name("FILE");
  add_objective(command, a.objective);
  add_strategy(command, a);
  command.add_flag("--imperfect", a.imperfect,
                   "Tiles of ceil(bound / n) beside divisors (factors: balanced)");
  add_threads(command, a.threads);
  command.add_flag("--print-constraints", a.print_constraints,
                   "Print what the constraints say, in full, before the result");
  CLI::Option* explain =
      command.add_flag("--explain-energy", a.explain_energy,
                       "Every action of the best mapping with its count and its energy");
  command.add_flag("--why", a.why, "Which capacity or bandwidth, doubled, would help first");
  command
      .add_option(
          "--save-mapping", a.mapping_file,
          "Write the best mapping to FILE (YAML); with --pareto or --curve one per point to "
          "the folder FILE")
      ->type_name("FILE");
  command.add_option("--certificate", a.certificate_file, "Write the proof to FILE, for check")
      ->type_name("FILE");
  add_fronts(command, a);
  add_kernels(command, a.kernels);
  explain->excludes("--pareto")->excludes("--curve");
  add_budget(command, a.budget);
  add_output(command, a.output);
}

void add_network(CLI::App& app, NetworkArguments& a) {
  CLI::App& command =
      *app.add_subcommand("network", "The best mapping of every layer of a network, and totals");
  command.add_option("ARCH", a.arch, "Architecture (YAML)")->required()->type_name("");
  command.add_option("NETWORK", a.network, "Network (YAML, or a model: FILE.onnx)")
      ->required()
      ->type_name("");
  add_onnx(command, a.onnx);
  command.add_option("--constraints", a.constraints, "What mappings of every layer must look like")
      ->type_name("FILE");
  add_objective(command, a.objective);
  add_strategy(command, a);
  add_threads(command, a.threads);
  add_budget(command, a.budget);
  command.get_option("--budget")
      ->description("Stop the search of each distinct layer after this long (10 s, 2 min)");
  command.get_option("--budget-labels")
      ->description("Stop that of each after about N labels: the same result on any machine");
  add_precision(command, a.kernels.precision);
  add_path(command, a.kernels);
  add_choice(
      command, "layout", {"nhwc", "nchw"},
      [&a](const std::string& word) { a.kernels.layout = word; },
      "GPU: nhwc (default) or nchw, of convolutions");
  add_output(command, a.output);
}

void add_check(CLI::App& app, CheckArguments& a) {
  CLI::App& command =
      *app.add_subcommand("check", "Does a certificate prove what it claims? Without the search");
  command.add_option("CERTIFICATE", a.certificate, "Of search --certificate")
      ->required()
      ->type_name("");
  command.add_option("--arch", a.machine, "It must be about this architecture (YAML)")
      ->type_name("FILE");
  command.add_option("--workload", a.layer, "It must be about this workload (YAML)")
      ->type_name("FILE");
  command.add_option("--constraints", a.constraints, "Its mapspace must have these rules (YAML)")
      ->type_name("FILE");
  add_number(command, "--max-steps", a.max_steps, std::int64_t{0}, kMost,
             "Walk the mapping step by step if it has no more MACs than this [1000000]");
  add_threads(command, a.threads);
  add_output(command, a.output);
}

Objective complete(const ObjectiveArguments& arguments, Hertz clock) {
  Objective objective = arguments.objective;
  if (!arguments.max_latency.empty()) {
    const auto problem = taken(parse_duration(arguments.max_latency, clock),
                               [&objective](Cycles latency) { objective.max_latency = latency; });
    if (problem) {
      throw UsageError("--max-latency: " + *problem);
    }
  }
  return objective;
}

}  // namespace mapsim
