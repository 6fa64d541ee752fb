// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "app/inputs.hpp"
#include "app/options.hpp"
#include "app/places.hpp"
#include "core/shipped.hpp"

namespace mapsim {

namespace {

Options kernel_options(OneKernelArguments& a) {
  const auto count = [](const char* name, std::optional<std::int64_t>& value, const char* help) {
    return Option{name, "N", help, whole(value, 0, 1024)};
  };
  return {
      precision_option(a.precision),
      path_option(a.path),
      any_layout_option(a.layout),
      {"--block", "MxNxK", "GPU: tile of a thread block and its step along K: 128x128x32",
       &a.block},
      {"--warp", "MxN", "GPU: tile of a warp or warpgroup: 64x64", &a.warp},
      {"--fragment", "MxNxK", "GPU: tile of one MMA operation: 16x16x16", &a.fragment},
      count("--stages", a.stages, "GPU: buffered K steps in shared memory [3; before sm_80: 2]"),
      count("--split-k", a.split_k, "GPU: number of slices of K [1]"),
      count("--raster", a.raster,
            "GPU: width of groups of blocks, in block columns; 0: blocks run row by row [8]"),
      count("--padding", a.padding, "GPU: padding of a row of shared memory, in elements"),
      count("--cluster", a.cluster, "GPU: blocks along M that share tiles of B (wgmma) [1]"),
      count("--registers", a.registers,
            "GPU: registers per thread, as the compiler reports them [estimated]")};
}

// What eval --why compares with.
Options mapspace_options(EvalArguments& a) {
  return joined(
      {{input({"--constraints", "FILE",
               "With --why: compare with the optimum under these constraints (YAML, or the name of "
               "a shipped file)",
               &a.constraints},
              FileKind::kConstraints),
        {"--imperfect", "", "With --why: compare with the optimum with imperfect factors",
         &a.imperfect}},
       budget_options(a.budget)});
}

// The name of a figure's file says what its reader expects in it.
void check_figure_name(const ShowArguments& a) {
  const std::string& file = a.output.file;
  for (const char* const kind : {"png", "pdf"}) {
    if (file.ends_with(std::string{"."} + kind)) {
      throw UsageError(
          fmt::format("--out {}: show writes SVG; rsvg-convert -f {} converts it", file, kind));
    }
  }
  if (!a.html && file.ends_with(".html")) {
    throw UsageError(fmt::format("--out {}: show writes SVG; with --html it writes a page", file));
  }
  if (a.html && file.ends_with(".svg")) {
    throw UsageError(fmt::format("--out {}: show --html writes HTML", file));
  }
}

}  // namespace

CommandOptions options_of(EvalArguments& a) {
  return {
      joined(
          {chain_arguments(a.arch, a.workload),
           {input({"MAPPING", "",
                   "Mapping (YAML, or the name of a shipped one). GPU: a kernel (YAML, or JSON of "
                   "search); or name it by options",
                   &a.mapping},
                  FileKind::kMapping)},
           layer_options(a.layer),
           {{"--explain-energy", "",
             "Print each kind of action with its count, its energy and the source of that figure",
             &a.explain_energy},
            {"--csv", "FILE",
             "Write the accesses of each level and tensor with their energies to FILE (CSV): made, "
             "gated, skipped, and format bits",
             &a.csv_file},
            {"--why", "", "Compare with the proven optimum (perfect factors), level by level",
             &a.why}},
           under("Comparison with the optimum (--why)",
                 needing("--why", joined({mapspace_options(a), objective_options(a.objective)}))),
           under("Results", joined({{threads_option(a.threads)}, output_options(a.output)})),
           under("GPUs", kernel_options(a.kernel))}),
      "", [&a](const Given&) {
        const std::string chip = find_shipped(a.arch, FileKind::kSoc, shipped_configs());
        if (is_chip(chip)) {
          a.arch = chip;
          a.workload = find_shipped(a.workload, FileKind::kNetwork, shipped_configs());
          return;
        }
        take_layer(a.layer, a.workload, &a.mapping);
      }};
}

CommandOptions options_of(SimulateArguments& a) {
  return {
      joined({chain_arguments(a.arch, a.workload),
              {input({"MAPPING", "", "Mapping (YAML, or the name of a shipped one)", &a.mapping},
                     FileKind::kMapping)},
              layer_options(a.layer),
              {{"--seed", "N", "Seed of the operands' values [1]", whole(a.seed, 0, kMost)},
               {"--max-steps", "N", "Refuse layers of more than N MACs [10000000]",
                whole(a.max_steps, 1, kMost)},
               {"--trace", "FILE",
                "Write a timeline of the mapping to FILE (JSON for Perfetto). Above --max-steps "
                "only the timeline is written, and nothing is compared",
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
  return {
      joined({chain_arguments(a.arch, a.workload),
              {input({"MAPPING", "", "Mapping (YAML, or the name of a shipped one)", &a.mapping},
                     FileKind::kMapping)},
              layer_options(a.layer),
              {{"--html", "", "Write an HTML page on which the mapping can be stepped through",
                &a.html},
               threads_option(a.threads)},
              output_options(a.output)}),
      "", [&a](const Given& given) {
        const bool has_layer =
            !a.workload.empty() || given("--gemm") || given("--conv") || given("--einsum");
        if (has_layer) {
          take_layer(a.layer, a.workload, &a.mapping);
        }
        if (a.mapping.empty() && (has_layer || a.html)) {
          throw UsageError(fmt::format("{} requires MAPPING", has_layer ? "WORKLOAD" : "--html"));
        }
        check_figure_name(a);
      }};
}

CommandOptions options_of(HistogramArguments& a) {
  return {
      joined({layer_arguments(a.arch, a.workload),
              layer_options(a.layer),
              {constraints_option(a.constraints),
               {"--mappings", "N", "Draw about N distinct mappings [480000]",
                whole(a.options.mappings, 1, kMost)},
               {"--compute-only", "", "Ignore bandwidths when deciding whether the machine is busy",
                &a.options.compute_only},
               {"--seed", "N", "Seed of the draws [1]", whole(a.options.seed, 0, kMost)},
               threads_option(a.options.threads),
               {"--svg", "FILE", "Write the figure to FILE (SVG)", &a.svg}},
              output_options(a.output)}),
      "The figure is that of Timeloop's figure 1 (Parashar et al., ISPASS 2019). The paper does "
      "not\nsay how large that machine's buffers are: compare shapes, not energies.",
      [&a](const Given&) { take_layer(a.layer, a.workload); }};
}

}  // namespace mapsim
