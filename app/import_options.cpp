// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/options.hpp"
#include "arch/gpu_words.hpp"

namespace mapsim {

namespace {

// The tool whose files are read or written.
Option format_argument(const Words& formats, std::string& format) {
  return required({"FORMAT", "", fmt::format("Of the other tool: {}", fmt::join(formats, " or ")),
                   choice(format, formats)});
}

Options timeloop_options(TimeloopArguments& a) {
  const auto take = [&a](const std::string& text) -> std::optional<std::string> {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fmt::format("'{}' is not NAME=VALUE", text);
    }
    a.settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    return std::nullopt;
  };
  return {{"--ert", "FILE", "timeloop: energies by Accelergy [among FILE; else our own tables]",
           &a.ert},
          {.names = "--counts-only",
           .type = "",
           .help = "timeloop: no energies, counts and cycles only",
           .value = &a.counts_only,
           .excludes = {"--ert"}},
          {.names = "--set",
           .type = "NAME=VALUE",
           .help = "timeloop, accelforge: what a name of a template stands for",
           .value = take,
           .repeats = true}};
}

}  // namespace

CommandOptions options_of(CompareArguments& a) {
  return {joined(
      {{format_argument({"timeloop", "zigzag"}, a.format),
        required({"FILE", "",
                  "timeloop: the design, with its mapping, as `import` takes it; zigzag: the "
                  "accelerator (YAML) and what ZigZag wrote of a layer (JSON)",
                  &a.files}),
        {"--stats", "FILE", "timeloop: what timeloop-model or timeloop-mapper printed of it",
         &a.stats},
        {"--timeloop-version", "VERSION",
         "2024: as Timeloop counted overlap before January 2025 (commit a12fff5) [current]",
         choice(a.version, {"current", "2024"})},
        {"--all", "", "Equal figures, too", &a.all},
        budget_option(a.budget, "zigzag: search no longer for each of the three optima"),
        threads_option(a.threads)},
       timeloop_options(a.timeloop),
       output_options(a.output)})};
}

CommandOptions options_of(ImportArguments& a) {
  return {joined(
      {{format_argument({"timeloop", "scalesim", "zigzag", "accelforge", "onnx", "gpu-table"},
                        a.format),
        required({"FILE", "",
                  "timeloop: architecture, ERT, problem, mapping, constraints (YAML, templates); "
                  "scalesim: "
                  "configuration and topology (CFG CSV); zigzag: accelerator, workload, mapping "
                  "(YAML); accelforge: arch, workload, mapping (YAML, templates); onnx: a model; "
                  "gpu-table: GEMM timings "
                  "(CSV, T4 JSON)",
                  &a.files}),
        required({"-o,--out", "DIR",
                  "Write arch.yaml and so on to DIR; gpu-table: add to the measurements file",
                  &a.folder})},
       onnx_options(a.onnx),
       timeloop_options(a.timeloop),
       {{"--gpu", "NAME", "gpu-table: of which GPU, where it does not say", &a.gpu},
        precision_option(a.precision, "gpu-table: in which precision: f16, bf16, ...",
                         precision_names()),
        {"--problem", "MxNxK", "gpu-table: of which GEMM: 4096x4096x4096", &a.problem}}})};
}

CommandOptions options_of(ExportArguments& a) {
  return {joined(
      {{format_argument({"timeloop", "cuda"}, a.format)},
       input_arguments(a.arch, a.workload),
       {{"MAPPING", "",
         "Mapping (YAML); cuda: a kernel as `search --export json` writes it [the best]",
         &a.mapping},
        generated_precision_option(a.precision,
                                   "cuda: of the operands, whatever their width in the workload"),
        layout_option(a.layout, {"tn", "nn", "nt", "tt"}, "cuda: of a GEMM [tn]"),
        {"--kernel", "N", "cuda: which of the kernels in MAPPING [1]", whole(a.kernel, 1, kMost)},
        {"--bias", "", "cuda: a bias for each column is added", &a.bias},
        {"--relu", "", "cuda: what is below zero becomes zero", &a.relu},
        out_option(a.output.file)}})};
}

}  // namespace mapsim
