// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "app/options.hpp"
#include "core/quantity_text.hpp"

namespace mapsim {

namespace {

void add_duration(CLI::App& command, const char* name, const std::function<void(Seconds)>& take,
                  const char* help) {
  add_text(command, name, "TIME", help, [take](const std::string& text) {
    const auto parsed = parse_seconds(text);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
      return std::optional{*problem};
    }
    take(std::get<Seconds>(parsed));
    return std::optional<std::string>{};
  });
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void add_tools(CLI::App& command, DeviceArguments& a) {
  a.cuda = environment("MAPSIM_CUDA_LIBRARY");
  a.nvml = environment("MAPSIM_NVML_LIBRARY");
  a.cublas = environment("MAPSIM_CUBLAS_LIBRARY");
  a.nvrtc = environment("MAPSIM_NVRTC_LIBRARY");
  a.include = environment("MAPSIM_CUDA_INCLUDE");
  a.toolkit = environment("CUDA_HOME");
  command.add_option("--cubins", a.cubins, "Keep compiled kernels in this folder")
      ->type_name("DIR");
  add_number(command, "--gpu", a.ordinal, std::int64_t{0}, std::int64_t{64},
             "Which GPU, counted as CUDA does [0]");
}

void add_protocol(CLI::App& command, ValidateArguments& a) {
  add_number(command, "--rounds", a.rounds, std::int64_t{1}, std::int64_t{1000},
             "Rounds in which the kernels take turns [9]");
  add_duration(
      command, "--per-kernel", [&a](Seconds time) { a.per_kernel = time; },
      "About how long each kernel is timed, over all rounds [100 ms]");
  add_duration(
      command, "--warm-up", [&a](Seconds time) { a.warm_up = time; },
      "How long the GPU works before anything is timed [20 s]");
  add_duration(
      command, "--budget", [&a](Seconds time) { a.budget = time; },
      "Begin no further problem after this long; run again to go on");
  command.add_flag("--cold", a.cold, "Before each run something else is read into the L2 cache");
  command.add_flag("--once", a.once,
                   "Run and check each kernel once, without timing: for a profiler");
  command.add_flag_callback(
      "--no-library", [&a] { a.library = false; }, "Without cuBLAS beside our kernels");
}

}  // namespace

void add_validate(CLI::App& app, ValidateArguments& a) {
  CLI::App& command = *app.add_subcommand(
      "validate", "Kernels built, checked and timed on a GPU, beside what the model says");
  command.add_option("ARCH", a.arch, "Architecture (YAML) of the GPU")->required()->type_name("");
  command.add_option("WORKLOAD", a.workloads, "Workloads (YAML)")->required()->type_name("");
  add_text(command, "--device", "cuda|replay=FILE",
           "cuda: the GPU of this machine (default); replay=FILE: measurements in its place",
           [&a](const std::string& text) {
             if (text != "cuda" && !(text.starts_with("replay=") && text.size() > 7)) {
               return std::optional{fmt::format("'{}' is neither cuda nor replay=FILE", text)};
             }
             a.device = text;
             return std::optional<std::string>{};
           });
  add_number(command, "--top", a.top, std::int64_t{1}, std::int64_t{1000},
             "Kernels that the model puts first, most of them of different tiles [16]");
  add_number(command, "--sample", a.sample, std::int64_t{0}, std::int64_t{1000},
             "Kernels drawn from all others, half from the fast ones [16]");
  add_number(command, "--seed", a.seed, std::int64_t{0}, kMost, "Seed of draws and orders [1]");
  add_choice(
      command, "precision", {"f64", "tf32", "f16", "f16_acc16", "bf16", "s8"},
      [&a](const std::string& word) { a.precision = word; },
      "Of the operands, whatever their width in the workload");
  add_choice(
      command, "layout", {"tn", "nn", "nt", "tt"},
      [&a](const std::string& word) { a.layout = word; }, "Of GEMMs [tn]");
  add_protocol(command, a);
  command
      .add_option("-o", a.measurements,
                  "Add the measurements to FILE; what is in it is not "
                  "measured again")
      ->type_name("FILE");
  command.add_option("--report", a.report, "Write the report to FILE, as HTML if its name says so")
      ->type_name("FILE");
  command.add_option("--svg", a.svg, "Draw measured against predicted times to FILE (SVG)")
      ->type_name("FILE");
  command
      .add_option("--counters", a.counters, "Set these counters of ncu --csv beside the model's")
      ->type_name("FILE");
  add_threads(command, a.threads);
  add_tools(command, a.tools);
  add_output(command, a.output);
}

void add_microbench(CLI::App& app, MicrobenchArguments& a) {
  CLI::App& command = *app.add_subcommand(
      "microbench", "Rates and bandwidths of a GPU, measured, beside its file's (CSV)");
  command.add_option("ARCH", a.arch, "Architecture (YAML) of the GPU")->required()->type_name("");
  add_tools(command, a.tools);
  command.add_option("--out", a.output.file, "Write to FILE, whole or not at all")
      ->type_name("FILE");
}

void add_calibrate(CLI::App& app, CalibrateArguments& a) {
  CLI::App& command =
      *app.add_subcommand("calibrate", "Fit a GPU's calibration to measured kernels");
  command.add_option("MEASUREMENTS", a.measurements, "Measurements (CSV)")
      ->required()
      ->type_name("");
  command.add_option("--arch", a.arch, "Architecture (YAML) of a GPU")
      ->required()
      ->type_name("FILE");
  command.add_option("-o", a.calibrated, "Write the architecture with its calibration to FILE")
      ->type_name("FILE");
  command.add_option("--gpu", a.gpu, "Use the rows of this GPU [the architecture's name]")
      ->type_name("NAME");
  add_number(command, "--folds", a.folds, std::int64_t{2}, std::int64_t{100},
             "Hold out one problem in N, and judge by it [5]");
  add_number(command, "--rows", a.fit_rows, std::int64_t{20}, kMost,
             "Fit to N rows at most, drawn by the seed; all are judged [1500]");
  add_number(command, "--seed", a.seed, std::int64_t{0}, kMost, "Seed of folds and draws [1]");
  add_output(command, a.output);
}

}  // namespace mapsim
