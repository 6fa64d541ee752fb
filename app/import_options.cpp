// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

#include "app/options.hpp"
#include "arch/gpu_words.hpp"

namespace mapsim {

namespace {

// The tool whose files are read or written.
Option format_argument(const Words& formats, std::string& format) {
  return required({"FORMAT", "", fmt::format("Format of the files: {}", fmt::join(formats, ", ")),
                   choice(format, formats)});
}

// `templated`: the formats of the command whose files may be templates.
Options timeloop_options(TimeloopArguments& a, const std::string& templated) {
  const auto take = [&a](const std::string& text) -> std::optional<std::string> {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return fmt::format("'{}' is not NAME=VALUE", text);
    }
    a.settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    return std::nullopt;
  };
  return {{"--ert", "FILE",
           "timeloop: Accelergy's energy table [found in FILE, else our own tables]", &a.ert},
          {.names = "--counts-only",
           .type = "",
           .help = "timeloop: leave energies out; counts and cycles only",
           .value = &a.counts_only,
           .excludes = {"--ert"}},
          {.names = "--set",
           .type = "NAME=VALUE",
           .help = templated + ": value of a name in templates; may be given several times",
           .value = take,
           .repeats = true}};
}

}  // namespace

CommandOptions options_of(CompareArguments& a) {
  return {joined(
      {{format_argument({"timeloop", "zigzag"}, a.format),
        required(
            {"FILE", "",
             "timeloop: a folder, or the design with its mapping, as import reads it; zigzag: the "
             "accelerator (YAML) and a result of ZigZag (JSON)",
             &a.files}),
        {"--stats", "FILE", "timeloop: statistics that timeloop-model or timeloop-mapper wrote",
         &a.stats},
        {"--timeloop-version", "VERSION",
         "timeloop: the version that wrote STATS: current; 2024: before January 2025 (commit "
         "a12fff5), with another overlap of tiles; 2021: as 2024, and the first visit of a "
         "sum is a fill; 2020: as 2021, and a storage has one energy [current]",
         choice(a.version, {"current", "2024", "2021", "2020"})},
        {"--all", "", "timeloop: print equal figures, too", &a.all},
        budget_option(a.budget, "zigzag: time limit of each of the three searches"),
        threads_option(a.threads)},
       timeloop_options(a.timeloop, "timeloop"),
       output_options(a.output)})};
}

Option cache_option(std::string& cache) {
  return {"--cache", "hot|cold",
          "Whether the L2 cache held the operands, of a table that does not say it",
          choice(cache, {"hot", "cold"})};
}

// A model may be the workload of ZigZag, which has widths of its own.
Options import_onnx_options(OnnxArguments& a) {
  Options options = onnx_options(a);
  for (Option& option : options) {
    if (option.names != "--operand-bits") {
      option.help.replace(0, std::string_view{"ONNX"}.size(), "onnx, zigzag");
    }
  }
  return options;
}

CommandOptions options_of(ImportArguments& a) {
  Option cache = cache_option(a.cache);
  cache.help = "gpu-table: whether the L2 cache held the operands, if the table does not say it";
  return {joined(
      {{format_argument({"timeloop", "scalesim", "zigzag", "accelforge", "onnx", "gpu-table"},
                        a.format),
        required(
            {"FILE", "",
             "timeloop: architecture, ERT, problem, mapping, constraints (YAML, templates), or a "
             "folder with one of each; scalesim: "
             "configuration and topology (CFG CSV), or a folder; zigzag: accelerator, workload, "
             "mapping "
             "(YAML, the workload also ONNX), or a folder; accelforge: arch, workload, mapping "
             "(YAML, "
             "templates), or a folder; onnx: a model; "
             "gpu-table: GEMM timings "
             "(CSV, T4 JSON)",
             &a.files}),
        required({"-o,--out", "PATH",
                  "timeloop, scalesim, zigzag, accelforge, onnx: the folder to which arch.yaml, "
                  "workload.yaml and so on are written; gpu-table: the file (CSV) to which the "
                  "measurements are added",
                  &a.folder})},
       import_onnx_options(a.onnx),
       timeloop_options(a.timeloop, "timeloop, accelforge"),
       {{"--gpu", "NAME", "gpu-table: name of the GPU, if the table has none", &a.gpu},
        precision_option(a.precision,
                         "gpu-table: precision, if the table does not say it: f16, bf16, ...",
                         precision_names()),
        {"--problem", "MxNxK", "gpu-table: shape of the GEMM, if the table does not say it",
         &a.problem},
        cache,
        json_option(a.output)}})};
}

CommandOptions options_of(ExportArguments& a) {
  Option format = format_argument({"timeloop", "cuda"}, a.format);
  for (const std::string word : {"triton", "cutlass"}) {
    std::get<Choice>(format.value).elsewhere[word] =
        "'mapsim search GPU LAYER --export " + word + "' writes it";
  }
  return {
      joined({{format},
              layer_arguments(a.arch, a.workload),
              {input({"MAPPING", "",
                      "timeloop: a mapping (YAML, or the name of a shipped one); cuda: a kernel as "
                      "search --export json writes it [the best kernel]",
                      &a.mapping},
                     FileKind::kMapping),
               generated_precision_option(a.precision,
                                          "cuda: precision of the operands [from the workload]"),
               layout_option(a.layout, {"tn", "nn", "nt", "tt"},
                             "cuda: layout of a GEMM: tn, nn, nt or tt [tn]"),
               {"--kernel", "N", "cuda: number of the kernel in MAPPING [1]",
                whole(a.kernel, 1, kMost)},
               {"--bias", "", "cuda: add a bias to each column", &a.bias},
               {"--relu", "", "cuda: apply ReLU to the output", &a.relu},
               {"--gelu", "", "cuda: apply GELU (path mma)", &a.gelu},
               {"--silu", "", "cuda: apply SiLU (path mma)", &a.silu},
               {"--residual", "", "cuda: add another matrix, times beta (path mma)", &a.residual},
               {"--quantise", "", "cuda: round the output to 8 bits (path mma)", &a.quantise},
               generated_path_option(a.path,
                                     "cuda: instructions of the kernel: wmma, mma or wgmma [the "
                                     "fastest that can be written]"),
               json_option(a.output),
               out_option(a.output.file)},
              layer_options(a.layer)}),
      "", [&a](const Given&) { take_layer(a.layer, a.workload, &a.mapping); }};
}

}  // namespace mapsim
