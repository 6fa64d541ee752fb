// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "app/options.hpp"
#include "app/places.hpp"
#include "core/shipped.hpp"
#include "core/shipped_kinds.hpp"

namespace mapsim {

namespace {

// How mappings are looked for: of search and of network.
template <class Arguments>
Options strategy_options(Arguments& a) {
  return {{"--strategy", "NAME",
           "Search strategy: exact (default), exhaustive, random, annealing or genetic",
           choice(a.strategy, {"exact", "exhaustive", "random", "annealing", "genetic"})},
          {"--evaluations,--samples", "N",
           "Number of mappings that random, annealing and genetic evaluate [10000]",
           whole(a.evaluations, 1, kMost)},
          {"--seed", "N", "Seed of random, annealing and genetic [1]", whole(a.seed, 0, kMost)},
          {"--batches", "",
           "NVDLA-like engines: also try batching fully connected layers; costs are per frame",
           &a.batches},
          {"--even", "", "Even mappings only: all tensors of a level are tiled at the same loop",
           &a.even}};
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
  return {
      {"--print-constraints", "", "Print the constraints in full, with dataflows expanded to rules",
       &a.print_constraints},
      {.names = "--explain-energy",
       .type = "",
       .help = "Print each kind of action with its count and energy",
       .value = &a.explain_energy,
       .excludes = {"--pareto", "--curve"}},
      {"--why", "", "Print which capacity or bandwidth would help most if it were doubled", &a.why},
      {"--save-mapping", "FILE",
       "Write the best mapping to FILE (YAML); with --pareto or --curve, FILE is a folder for "
       "one mapping per point",
       &a.mapping_file},
      {"--certificate", "FILE", "Write the proof to FILE, for mapsim check", &a.certificate_file},
      {.names = "--trace",
       .type = "FILE",
       .help = "Write a timeline of the best mapping to FILE (JSON for Perfetto)",
       .value = &a.trace,
       .excludes = {"--pareto", "--curve"}}};
}

Option imperfect_option(bool& imperfect) {
  return {"--imperfect", "",
          "Imperfect factors: a tile may be any ceil(bound / n), with a smaller last one",
          &imperfect};
}

Options front_options(SearchArguments& a) {
  return {{.names = "--pareto",
           .type = "",
           .help = "Find the whole Pareto front of energy and latency",
           .value = &a.pareto,
           .excludes = {"--objective", "--strategy", "--why"}},
          {.names = "--curve",
           .type = "LEVEL[:ROLE]",
           .help = "Find the optimum as a function of the capacity of LEVEL, or of its part for a "
                   "role: spad:weight. All else stays, the energy per bit of LEVEL included",
           .value = &a.curve,
           .excludes = {"--pareto", "--strategy", "--why"}},
          {"--svg", "FILE", "Write a figure of the front or curve to FILE (SVG)", &a.svg}};
}

Options fusion_options(FusionLimits& a) {
  return {{"--max-group", "N", "Fuse at most N einsums to a group [all]",
           whole(a.most_einsums, 1, kMaxEinsums)},
          {"--shared-loops", "N", "Let a group share at most N loops [one per dim]",
           whole(a.most_loops, 0, kMaxDims)}};
}

Options kernel_options(KernelListArguments& a) {
  return {
      {"--top", "N", "GPU: number of kernels to print [10]", whole(a.top, 1, 1000)},
      precision_option(a.precision),
      path_option(a.path),
      any_layout_option(a.layout),
      {"--export", "NAME",
       "GPU: print the kernels as triton (list of Config), cutlass (test list), cuda (a program "
       "that times them) or json",
       choice(a.format, {"triton", "cutlass", "cuda", "json"})}};
}

Option may_be(Option option, std::vector<FileKind> others) {
  option.also = std::move(others);
  return option;
}

}  // namespace

CommandOptions options_of(SearchArguments& a) {
  return {joined({chain_arguments(a.arch, a.workload), layer_options(a.layer),
                  under("Objective and limits", objective_options(a.objective)),
                  under("Fronts and curves", front_options(a)),
                  under("Mapspace and strategy",
                        joined({{constraints_option(a.constraints), imperfect_option(a.imperfect)},
                                strategy_options(a)})),
                  under("Time and memory",
                        joined({budget_options(a.budget), {threads_option(a.threads)}})),
                  under("Chains", fusion_options(a.fusion)),
                  under("Results", joined({result_options(a), output_options(a.output)})),
                  under("GPUs", kernel_options(a.kernels))}),
          "", [&a, check = strategy_check(a)](const Given& given) {
            take_layer(a.layer, a.workload);
            check(given);
          }};
}

CommandOptions options_of(NetworkArguments& a) {
  return {
      joined(
          {{arch_argument(a.arch),
            input(required({"NETWORK", "",
                            "Network: YAML file, name of a shipped one, or ONNX model (FILE.onnx)",
                            &a.network}),
                  FileKind::kNetwork)},
           under("ONNX models", onnx_options(a.onnx)),
           under("Objective and limits", objective_options(a.objective)),
           under("Mapspace and strategy",
                 joined({{input({"--constraints", "FILE",
                                 "Mapping constraints of every layer (YAML, or the name of a "
                                 "shipped file)",
                                 &a.constraints},
                                FileKind::kConstraints),
                          imperfect_option(a.imperfect)},
                         strategy_options(a)})),
           under("Time and memory",
                 {budget_option(
                      a.budget,
                      "Stop each search of a distinct layer after this time (10 s, 2 min); "
                      "--objective edp may search a layer several times; with --fuse stop all "
                      "chains together after it"),
                  labels_option(a.budget,
                                "Stop each search after about N labels (partial "
                                "mappings): repeatable on any machine"),
                  gap_option(a.budget), memory_option(a.budget.bytes), threads_option(a.threads)}),
           under("Fusion", joined({{{"--fuse", "",
                                     "Search chains of layers for the best mapping trees "
                                     "(docs/fusion.md); the network is a graph",
                                     &a.fuse}},
                                   needing("--fuse", fusion_options(a.fusion)),
                                   needing("--fuse", {{"--certificate", "FILE",
                                                       "Write the proof to FILE, for mapsim check",
                                                       &a.certificate_file}})})),
           under("GPUs", {precision_option(a.kernels.precision), path_option(a.kernels.path),
                          layout_option(a.kernels.layout, {"nhwc", "nchw"},
                                        "GPU: layout of convolutions: nhwc (default) or nchw")}),
           under("Results", output_options(a.output))}),
      "", strategy_check(a)};
}

CommandOptions options_of(ListArguments& a) {
  Words kinds;
  for (const ShippedKind& kind : kShippedKinds) {
    kinds.emplace_back(kind.name);
  }
  const std::string help = fmt::format("What to list: {} [all]", fmt::join(kinds, ", "));
  return {joined({{{"KIND", "", help, choice(a.kind, kinds)},
                   {"NAME", "",
                    "Print this file of the kind, to begin your own with; paths in it are relative "
                    "to its folder",
                    &a.name},
                   {.names = "--names",
                    .type = "",
                    .help = "Print names only, one per line",
                    .value = &a.names,
                    .excludes = {"--json"}}},
                  output_options(a.output)})};
}

CommandOptions options_of(CheckArguments& a) {
  return {
      joined(
          {{required({"CERTIFICATE", "", "File that --certificate wrote", &a.certificate}),
            input({"--arch", "FILE",
                   "Also verify that the proof is about this architecture (YAML, or the name of a "
                   "shipped one)",
                   &a.machine},
                  FileKind::kArch),
            may_be(input({"--workload", "FILE",
                          "Also verify that the proof is about this workload, chain or network "
                          "(YAML, or the name of a shipped one)",
                          &a.layer},
                         FileKind::kWorkload),
                   {FileKind::kChain, FileKind::kNetwork}),
            input({"--constraints", "FILE",
                   "Also verify that the mapspace has these constraints (YAML, or the name of a "
                   "shipped file)",
                   &a.constraints},
                  FileKind::kConstraints),
            {"--max-steps", "N", "Simulate the mapping if the layer has at most N MACs [1000000]",
             whole(a.max_steps, 0, kMost)},
            {"--sample", "N",
             "Of a proof of designs, check only N of the bounds of layers, drawn evenly [all]",
             whole(a.sample, 1, kMost)},
            input(
                {"--space", "SPACE",
                 "Also verify that a proof of designs is about this space (YAML, or the name of a "
                 "shipped one)",
                 &a.space},
                FileKind::kCampaign),
            {.names = "--work",
             .type = "FILE",
             .help =
                 "Networks and layers that were given to design, where they replace those of SPACE",
             .value = &a.work,
             .also = {FileKind::kNetwork, FileKind::kWorkload},
             .needs = {"--space"}},
            threads_option(a.threads)},
           output_options(a.output)}),
      "", [&a](const Given&) {
        find_work(a.work);
        a.layer = find_shipped(a.layer, FileKind::kNetwork, shipped_configs());
      }};
}

}  // namespace mapsim
