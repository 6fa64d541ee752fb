// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>

#include "app/options.hpp"
#include "core/quantity_text.hpp"

namespace mapsim {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Options tool_options(DeviceArguments& a) {
  a.cuda = environment("MAPSIM_CUDA_LIBRARY");
  a.nvml = environment("MAPSIM_NVML_LIBRARY");
  a.cublas = environment("MAPSIM_CUBLAS_LIBRARY");
  a.nvrtc = environment("MAPSIM_NVRTC_LIBRARY");
  a.include = environment("MAPSIM_CUDA_INCLUDE");
  a.toolkit = environment("CUDA_HOME");
  return {{"--cubins", "DIR", "Keep compiled kernels in this folder", &a.cubins},
          {"--gpu", "N", "Which GPU, counted as CUDA does [0]", whole(a.ordinal, 0, 64)}};
}

// What is timed.
Options subject_options(ValidateArguments& a) {
  const auto read_device = [&a](const std::string& text) -> std::optional<std::string> {
    if (text != "cuda" && !(text.starts_with("replay=") && text.size() > 7)) {
      return fmt::format("'{}' is neither cuda nor replay=FILE", text);
    }
    a.device = text;
    return std::nullopt;
  };
  return {
      arch_argument(a.arch, "Architecture (YAML) of the GPU"),
      input(required({"WORKLOAD", "", "Workloads (YAML, or names of shipped ones)", &a.workloads}),
            FileKind::kWorkload),
      {"--device", "cuda|replay=FILE",
       "cuda: the GPU of this machine (default); replay=FILE: measurements in its place",
       Read{read_device}},
      {"--top", "N", "Kernels that the model puts first, most of them of different tiles [16]",
       whole(a.top, 1, 1000)},
      {"--sample", "N", "Kernels drawn from all others, half from the fast ones [16]",
       whole(a.sample, 0, 1000)},
      {"--seed", "N", "Seed of draws and orders [1]", whole(a.seed, 0, kMost)},
      generated_precision_option(a.precision,
                                 "Of the operands, whatever their width in the workload"),
      layout_option(a.layout, {"tn", "nn", "nt", "tt"}, "Of GEMMs [tn]")};
}

Options protocol_options(ValidateArguments& a) {
  const auto take = [](auto& into) { return [&into](Seconds time) { into = time; }; };
  return {{"--rounds", "N", "Rounds in which the kernels take turns [9]", whole(a.rounds, 1, 1000)},
          {"--per-kernel", "TIME", "About how long each kernel is timed, over all rounds [100 ms]",
           reads(parse_seconds, take(a.per_kernel))},
          {"--warm-up", "TIME", "How long the GPU works before anything is timed [20 s]",
           reads(parse_seconds, take(a.warm_up))},
          {"--budget", "TIME", "Begin no further problem after this long; run again to go on",
           reads(parse_seconds, take(a.budget))},
          {"--cold", "", "Before each run something else is read into the L2 cache", &a.cold},
          {"--once", "", "Run and check each kernel once, without timing: for a profiler", &a.once},
          {"--no-library", "", "Without cuBLAS beside our kernels", &a.no_library}};
}

// -o had another meaning in these commands once: what was written there must not be replaced by the
// report.
void refuse_out(const std::string& file, const char* ending, const char* instead) {
  if (file.ends_with(ending)) {
    throw UsageError(fmt::format("--out {}: the report goes there; {}", file, instead));
  }
}

}  // namespace

CommandOptions options_of(ValidateArguments& a) {
  return {joined({subject_options(a),
                  protocol_options(a),
                  {{"--measurements", "FILE",
                    "Add the measurements to FILE (CSV); what is in it is not measured again",
                    &a.measurements},
                   {"--report", "FILE", "Write the report to FILE, as HTML if its name says so",
                    &a.report},
                   {"--svg", "FILE", "Draw measured against predicted times to FILE (SVG)", &a.svg},
                   {"--counters", "FILE", "Set these counters of ncu --csv beside the model's",
                    &a.counters},
                   threads_option(a.threads)},
                  tool_options(a.tools),
                  output_options(a.output)}),
          "", [&a](const auto& /*given*/) {
            refuse_out(a.output.file, ".csv", "measurements are added to --measurements FILE");
          }};
}

CommandOptions options_of(MicrobenchArguments& a) {
  return {joined({{arch_argument(a.arch, "Architecture (YAML) of the GPU")},
                  tool_options(a.tools),
                  {out_option(a.output.file)}})};
}

CommandOptions options_of(CalibrateArguments& a) {
  return {
      joined({{required({"MEASUREMENTS", "", "Measurements (CSV)", &a.measurements}),
               input(required({"--arch", "FILE", "Architecture (YAML) of a GPU", &a.arch}),
                     FileKind::kArch),
               {"--save-arch", "FILE", "Write the architecture with its calibration to FILE (YAML)",
                &a.calibrated},
               {"--gpu", "NAME", "Use the rows of this GPU [the architecture's name]", &a.gpu},
               {"--folds", "N", "Hold out one problem in N, and judge by it [5]",
                whole(a.folds, 2, 100)},
               {"--rows", "N", "Fit to N rows at most, drawn by the seed; all are judged [1500]",
                whole(a.fit_rows, 20, kMost)},
               {"--seed", "N", "Seed of folds and draws [1]", whole(a.seed, 0, kMost)}},
              output_options(a.output)}),
      "", [&a](const auto& /*given*/) {
        refuse_out(a.output.file, ".yaml", "the architecture goes to --save-arch FILE");
      }};
}

}  // namespace mapsim
