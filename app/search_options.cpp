// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/options.hpp"
#include "app/shipped_kinds.hpp"

namespace mapsim {

namespace {

// How mappings are looked for: of search and of network.
template <class Arguments>
Options strategy_options(Arguments& a) {
  return {{"--strategy", "NAME", "exact (default), exhaustive, random, annealing or genetic",
           choice(a.strategy, {"exact", "exhaustive", "random", "annealing", "genetic"})},
          {"--evaluations,--samples", "N",
           "How many mappings random, annealing and genetic try [10000]",
           whole(a.evaluations, 1, kMost)},
          {"--seed", "N", "Seed of these [1]", whole(a.seed, 0, kMost)},
          {"--batches", "",
           "Engines after NVDLA: fully connected layers in batches, too, by the frame", &a.batches},
          {"--even", "", "A level keeps all its tensors at one point of the nest", &a.even}};
}

template <class Arguments>
auto strategy_check(const Arguments& a) {
  return [&a](const Given& given) {
    for (const char* name : {"--evaluations", "--seed"}) {
      if (given(name) && (a.strategy == "exact" || a.strategy == "exhaustive")) {
        throw UsageError(
            fmt::format("{}: the strategy {} draws nothing; of random, annealing and genetic only",
                        name, a.strategy));
      }
    }
  };
}

Options result_options(SearchArguments& a) {
  return {{"--print-constraints", "", "Print what the constraints say, in full, before the result",
           &a.print_constraints},
          {.names = "--explain-energy",
           .type = "",
           .help = "Every action of the best mapping with its count and its energy",
           .value = &a.explain_energy,
           .excludes = {"--pareto", "--curve"}},
          {"--why", "", "Which capacity or bandwidth, doubled, would help first", &a.why},
          {"--save-mapping", "FILE",
           "Write the best mapping to FILE (YAML); with --pareto or --curve one per point to "
           "the folder FILE",
           &a.mapping_file},
          {"--certificate", "FILE", "Write the proof to FILE, for check", &a.certificate_file},
          {.names = "--trace",
           .type = "FILE",
           .help = "Write the best mapping in time to FILE, for Perfetto (JSON)",
           .value = &a.trace,
           .excludes = {"--pareto", "--curve"}}};
}

Options front_options(SearchArguments& a) {
  return {{.names = "--pareto",
           .type = "",
           .help = "Every mapping that none beats in both energy and latency",
           .value = &a.pareto,
           .excludes = {"--objective", "--strategy", "--why"}},
          {.names = "--curve",
           .type = "LEVEL[:ROLE]",
           .help = "The optimum over the capacity of a level, or of its part for a role",
           .value = &a.curve,
           .excludes = {"--pareto", "--strategy", "--why"}},
          {"--svg", "FILE", "Draw the front or the curve to FILE (SVG)", &a.svg}};
}

Options kernel_options(KernelListArguments& a) {
  return {{"--top", "N", "GPU: how many kernels to print [10]", whole(a.top, 1, 1000)},
          precision_option(a.precision),
          path_option(a.path),
          any_layout_option(a.layout),
          {"--export", "NAME", "GPU: the kernels as triton.Config list, CUTLASS test list or JSON",
           choice(a.format, {"triton", "cutlass", "json"})}};
}

}  // namespace

CommandOptions options_of(SearchArguments& a) {
  return {joined({layer_arguments(a.arch, a.workload),
                  layer_options(a.layer),
                  {constraints_option(a.constraints)},
                  objective_options(a.objective),
                  strategy_options(a),
                  {{"--imperfect", "",
                    "Tiles of ceil(bound / n) beside divisors (factors: imperfect)", &a.imperfect},
                   threads_option(a.threads)},
                  result_options(a),
                  front_options(a),
                  kernel_options(a.kernels),
                  budget_options(a.budget),
                  output_options(a.output)}),
          "", [&a, check = strategy_check(a)](const Given& given) {
            take_layer(a.layer, a.workload);
            check(given);
          }};
}

CommandOptions options_of(NetworkArguments& a) {
  return {
      joined({{arch_argument(a.arch),
               input(required({"NETWORK", "",
                               "Network (YAML, the name of a shipped one, or a model: FILE.onnx)",
                               &a.network}),
                     FileKind::kNetwork)},
              onnx_options(a.onnx),
              {input({"--constraints", "FILE", "What mappings of every layer must look like",
                      &a.constraints},
                     FileKind::kConstraints)},
              objective_options(a.objective),
              strategy_options(a),
              {threads_option(a.threads),
               budget_option(a.budget,
                             "Stop the search of each distinct layer after this long (10 s, 2 "
                             "min)"),
               gap_option(a.budget), memory_option(a.budget),
               labels_option(a.budget,
                             "Stop that of each after about N labels: the same result on any "
                             "machine"),
               precision_option(a.kernels.precision), path_option(a.kernels.path),
               layout_option(a.kernels.layout, {"nhwc", "nchw"},
                             "GPU: nhwc (default) or nchw, of convolutions")},
              output_options(a.output)}),
      "", strategy_check(a)};
}

CommandOptions options_of(ListArguments& a) {
  Words kinds;
  for (const ShippedKind& kind : kShippedKinds) {
    kinds.emplace_back(kind.name);
  }
  const std::string help = fmt::format("One of {} [all]", fmt::join(kinds, ", "));
  return {{{"KIND", "", help, choice(a.kind, kinds)},
           {"--names", "", "Names only, one a line", &a.names},
           out_option(a.output.file)}};
}

CommandOptions options_of(CheckArguments& a) {
  return {joined(
      {{required({"CERTIFICATE", "", "Of search --certificate", &a.certificate}),
        {"--arch", "FILE", "It must be about this architecture (YAML)", &a.machine},
        {"--workload", "FILE", "It must be about this workload (YAML)", &a.layer},
        {"--constraints", "FILE", "Its mapspace must have these rules (YAML)", &a.constraints},
        {"--max-steps", "N",
         "Walk the mapping step by step if it has no more MACs than this [1000000]",
         whole(a.max_steps, 0, kMost)},
        threads_option(a.threads)},
       output_options(a.output)})};
}

}  // namespace mapsim
