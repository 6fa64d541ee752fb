// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/options.hpp"

namespace mapsim {

namespace {

// The tool whose files are read or written.
void add_format(CLI::App& command, const Words& formats, std::string& format) {
  command
      .add_option("FORMAT", format,
                  fmt::format("Of the other tool: {}", fmt::join(formats, " or ")))
      ->check([formats](const std::string& word) {
        const bool known = std::find(formats.begin(), formats.end(), word) != formats.end();
        return known ? std::string{}
                     : fmt::format("no format '{}'{}", word, suggestion(word, formats));
      })
      ->required()
      ->type_name("");
}

}  // namespace

void add_import(CLI::App& app, ImportArguments& a) {
  CLI::App& command = *app.add_subcommand("import", "Read the design of another tool");
  add_format(command, {"timeloop", "scalesim", "onnx", "gpu-table"}, a.format);
  command
      .add_option(
          "FILE", a.files,
          "timeloop: architecture, ERT, problem, mapping, constraints (YAML); scalesim: "
          "configuration and topology (CFG CSV); onnx: a model; gpu-table: GEMM timings (CSV, T4 "
          "JSON)")
      ->required()
      ->type_name("");
  command
      .add_option("-o,--out", a.folder,
                  "Write arch.yaml and so on to DIR; gpu-table: add to the measurements file")
      ->required()
      ->type_name("DIR");
  add_onnx(command, a.onnx);
  command.add_option("--gpu", a.gpu, "gpu-table: of which GPU, where it does not say")
      ->type_name("NAME");
  command.add_option("--precision", a.precision, "gpu-table: in which precision: f16, bf16, ...")
      ->type_name("NAME");
  command.add_option("--problem", a.problem, "gpu-table: of which GEMM: 4096x4096x4096")
      ->type_name("MxNxK");
}

void add_export(CLI::App& app, ExportArguments& a) {
  CLI::App& command = *app.add_subcommand(
      "export", "Write a mapping for another tool, or as the kernel that it is");
  add_format(command, {"timeloop", "cuda"}, a.format);
  add_inputs(command, a.arch, a.workload);
  command
      .add_option("MAPPING", a.mapping,
                  "Mapping (YAML); cuda: a kernel as `search --export json` writes it [the best]")
      ->type_name("");
  add_choice(
      command, "precision", {"f64", "tf32", "f16", "f16_acc16", "bf16", "s8"},
      [&a](const std::string& word) { a.precision = word; },
      "cuda: of the operands, whatever their width in the workload");
  add_choice(
      command, "layout", {"tn", "nn", "nt", "tt"},
      [&a](const std::string& word) { a.layout = word; }, "cuda: of a GEMM [tn]");
  add_number(command, "--kernel", a.kernel, std::int64_t{1}, kMost,
             "cuda: which of the kernels in MAPPING [1]");
  command.add_flag("--bias", a.bias, "cuda: a bias for each column is added");
  command.add_flag("--relu", a.relu, "cuda: what is below zero becomes zero");
  command.add_option("-o,--out", a.output.file, "Write to FILE, whole or not at all")
      ->type_name("FILE");
}

}  // namespace mapsim
