// SPDX-License-Identifier: Apache-2.0
#include "app/options.hpp"

namespace mapsim {

namespace {

Options kernel_options(OneKernelArguments& a) {
  const auto count = [](const char* name, std::optional<std::int64_t>& value, const char* help) {
    return Option{name, "N", help, whole(value, 0, 1024)};
  };
  return {precision_option(a.precision),
          path_option(a.path),
          any_layout_option(a.layout),
          {"--block", "MxNxK", "GPU: tile of a block and its step along K: 128x128x32", &a.block},
          {"--warp", "MxN", "GPU: tile of a warp or warpgroup: 64x64", &a.warp},
          {"--fragment", "MxNxK", "GPU: tile of one MMA operation: 16x16x16", &a.fragment},
          count("--stages", a.stages, "GPU: K steps of shared memory [3, before sm_80 2]"),
          count("--split-k", a.split_k, "GPU: slices of K [1]"),
          count("--raster", a.raster, "GPU: block columns of a group; 0: row by row [8]"),
          count("--padding", a.padding, "GPU: elements after a row of shared memory"),
          count("--cluster", a.cluster, "GPU: blocks along M that share B (wgmma) [1]"),
          count("--registers", a.registers, "GPU: of a thread, from the compiler")};
}

// What eval --why compares with.
Options mapspace_options(EvalArguments& a) {
  Options options = joined(
      {{{"--constraints", "FILE", "... that obey these constraints (YAML)", &a.constraints},
        {"--imperfect", "",
         "... with tiles of ceil(bound / n) beside divisors (factors: imperfect)", &a.imperfect}},
       budget_options(a.budget)});
  for (Option& option : options) {
    option.needs = {"--why"};
  }
  return options;
}

}  // namespace

CommandOptions options_of(EvalArguments& a) {
  return {
      joined(
          {layer_arguments(a.arch, a.workload),
           {input(
               {"MAPPING", "",
                "Mapping (YAML); on a GPU a kernel (YAML, or JSON of search), or options instead",
                &a.mapping},
               FileKind::kMapping)},
           layer_options(a.layer),
           kernel_options(a.kernel),
           {{"--explain-energy", "",
             "Every action with its count, its energy, and where that number comes from",
             &a.explain_energy},
            {"--why", "",
             "What sets it apart from the optimum of a mapspace: all of perfect factors", &a.why}},
           mapspace_options(a),
           objective_options(a.objective),
           {threads_option(a.threads)},
           output_options(a.output)}),
      "", [&a](const Given&) { take_layer(a.layer, a.workload, &a.mapping); }};
}

CommandOptions options_of(SimulateArguments& a) {
  return {joined({layer_arguments(a.arch, a.workload),
                  {input({"MAPPING", "", "Mapping (YAML)", &a.mapping}, FileKind::kMapping)},
                  layer_options(a.layer),
                  {{"--seed", "N", "Seed of the operands [1]", whole(a.seed, 0, kMost)},
                   {"--max-steps", "N", "Refuse walks of more steps of MAC units [10000000]",
                    whole(a.max_steps, 1, kMost)},
                   {"--trace", "FILE",
                    "Write the mapping in time to FILE, for Perfetto (JSON); of more MACs than "
                    "--max-steps only the trace, without the comparison",
                    &a.trace},
                   threads_option(a.threads)},
                  output_options(a.output)}),
          "", [&a](const Given&) {
            take_layer(a.layer, a.workload, &a.mapping);
            if (a.mapping.empty()) {
              throw UsageError("MAPPING is required");
            }
          }};
}

CommandOptions options_of(RooflineArguments& a) {
  return {joined({layer_arguments(a.arch, a.workload),
                  layer_options(a.layer),
                  {precision_option(a.precision), threads_option(a.threads)},
                  output_options(a.output)}),
          "", [&a](const Given&) { take_layer(a.layer, a.workload); }};
}

CommandOptions options_of(ShowArguments& a) {
  return {{arch_argument(a.arch),
           input({.names = "WORKLOAD",
                  .type = "",
                  .help = "Workload (YAML)",
                  .value = &a.workload,
                  .needs = {"MAPPING"}},
                 FileKind::kWorkload),
           input({"MAPPING", "", "Mapping (YAML)", &a.mapping}, FileKind::kMapping),
           {.names = "--html",
            .type = "",
            .help = "A page (HTML) with the picture, and the mapping step by step",
            .value = &a.html,
            .needs = {"MAPPING"}},
           threads_option(a.threads),
           out_option(a.output.file)}};
}

CommandOptions options_of(HistogramArguments& a) {
  return {joined({layer_arguments(a.arch, a.workload),
                  layer_options(a.layer),
                  {constraints_option(a.constraints),
                   {"--mappings", "N", "How many distinct mappings [480000]",
                    whole(a.options.mappings, 1, kMost)},
                   {"--compute-only", "", "Busy as if bandwidths were infinite",
                    &a.options.compute_only},
                   {"--seed", "N", "Seed of the walks [1]", whole(a.options.seed, 0, kMost)},
                   threads_option(a.options.threads),
                   {"--svg", "FILE", "Draw it to FILE (SVG)", &a.svg}},
                  output_options(a.output)}),
          "It is the picture of Timeloop's figure 1 (Parashar et al., ISPASS 2019); the buffer "
          "sizes of\nthe machine there are not published, so shapes can be compared, energies "
          "cannot.",
          [&a](const Given&) { take_layer(a.layer, a.workload); }};
}

}  // namespace mapsim
