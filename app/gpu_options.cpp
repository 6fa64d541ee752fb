// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>

#include "app/options.hpp"
#include "arch/gpu_words.hpp"
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
  return {{"--cubins", "DIR", "Keep compiled kernels in DIR", &a.cubins},
          {"--gpu", "N", "Number of the GPU, as CUDA counts them [0]", whole(a.ordinal, 0, 64)}};
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
      arch_argument(a.arch, "GPU (YAML, or the name of a shipped one)"),
      input({"WORKLOAD", "", "Workloads (YAML, or the names of shipped ones)", &a.workloads},
            FileKind::kWorkload),
      {"--device", "cuda|replay=FILE",
       "cuda: measure on this machine's GPU (default); replay=FILE: take the measurements from "
       "FILE",
       Read{read_device}},
      {"--top", "N", "Number of kernels that the model ranks first; most have different tiles [16]",
       whole(a.top, 1, 1000)},
      {"--sample", "N",
       "Number of kernels drawn from the others, half of them from the fast ones [16]",
       whole(a.sample, 0, 1000)},
      {"--seed", "N", "Seed of draws and of the order of kernels [1]", whole(a.seed, 0, kMost)},
      generated_precision_option(
          a.precision, "Precision of the operands, such as f16, bf16, s8 [from the workload]"),
      layout_option(a.layout, {"tn", "nn", "nt", "tt"}, "Layout of GEMMs: tn, nn, nt or tt [tn]"),
      generated_path_option(
          a.path,
          "Instructions of the kernels: wmma, mma or wgmma [wmma; all of those in a file]")};
}

Options protocol_options(ValidateArguments& a) {
  const auto take = [](auto& into) { return [&into](Seconds time) { into = time; }; };
  return {{"--rounds", "N", "Number of rounds; each runs all kernels in another order [9]",
           whole(a.rounds, 1, 1000)},
          {"--per-kernel", "TIME", "Time for each kernel, all rounds together [100 ms]",
           reads(parse_seconds, take(a.per_kernel))},
          {"--warm-up", "TIME", "Time for which the GPU works before anything is timed [20 s]",
           reads(parse_seconds, take(a.warm_up))},
          {"--budget", "TIME",
           "Start no further problem after this time; run the command again to go on",
           reads(parse_seconds, take(a.budget))},
          {"--cold", "", "Evict the operands from the L2 cache before each run", &a.cold},
          {"--once", "", "Run and check each kernel once, without timing, for a profiler", &a.once},
          {"--no-library", "", "Do not time cuBLAS", &a.no_library}};
}

// The least that a measurements file has, as the end of --help. The example stands last: in the
// manual page, indented lines are not filled.
constexpr const char* kMeasurementsFile =
    "A measurements file has a row for each timed kernel. Its first two lines and a row are "
    "below.\n"
    "The columns may be in any order. time_s is the time of one launch in seconds, output_bytes "
    "the\n"
    "size of an element of C, and a and b are row or column (major). path is empty if a library\n"
    "chose the kernel; else it is wmma, mma, wgmma or simt, and the row also needs block_m, "
    "block_n,\n"
    "block_k, warp_m, warp_n, frag_m, frag_n, frag_k, stages and split_k. All columns are in\n"
    "docs/gpu_calibration.md.\n"
    "  # mapsim measurements 1\n"
    "  gpu,precision,m,n,k,batch,output_bytes,a,b,path,time_s\n"
    "  h100_sxm,f16,4096,4096,4096,1,2,row,column,,230e-6";

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
                  layer_options(a.layer),
                  protocol_options(a),
                  {{"--measurements", "FILE",
                    "Add the measurements to FILE (CSV); skip what FILE has", &a.measurements},
                   {"--report", "FILE",
                    "Write the report to FILE, as HTML if its name ends in .html", &a.report},
                   {"--svg", "FILE",
                    "Write a figure of measured against predicted times to FILE (SVG)", &a.svg},
                   {"--counters", "FILE",
                    "Compare the model's counts with these counters (output of ncu --csv)",
                    &a.counters},
                   threads_option(a.threads)},
                  tool_options(a.tools),
                  output_options(a.output)}),
          "", [&a](const auto& /*given*/) {
            std::string more = a.workloads.empty() ? "" : a.workloads.back();
            take_layer(a.layer, more);
            a.workloads = a.workloads.empty() ? Words{more} : a.workloads;
            refuse_out(a.output.file, ".csv", "measurements are added to --measurements FILE");
          }};
}

CommandOptions options_of(MicrobenchArguments& a) {
  return {joined({{arch_argument(a.arch, "GPU (YAML, or the name of a shipped one)")},
                  tool_options(a.tools),
                  output_options(a.output)})};
}

CommandOptions options_of(CalibrateArguments& a) {
  return {
      joined(
          {{required({"MEASUREMENTS", "", "Measurements (CSV), from validate or import gpu-table",
                      &a.measurements}),
            input(required({"--arch", "FILE", "GPU (YAML, or the name of a shipped one)", &a.arch}),
                  FileKind::kArch),
            {"--save-arch", "FILE", "Write the GPU with its new calibration to FILE (YAML)",
             &a.calibrated},
            {"--gpu", "NAME", "Use the measurements of this GPU [the name in --arch]", &a.gpu},
            {"--folds", "N", "Number of folds: each holds out one problem in N, to judge by [5]",
             whole(a.folds, 2, 100)},
            {"--rows", "N",
             "Fit to at most N measurements, drawn by the seed; all are judged [1500]",
             whole(a.fit_rows, 20, kMost)},
            {"--seed", "N", "Seed of folds and draws [1]", whole(a.seed, 0, kMost)}},
           output_options(a.output)}),
      kMeasurementsFile, [&a](const auto& /*given*/) {
        refuse_out(a.output.file, ".yaml", "the architecture goes to --save-arch FILE");
      }};
}

CommandOptions options_of(PredictArguments& a) {
  return {
      joined(
          {{required({"TABLE", "",
                      "Measurements (CSV), or a table of GEMM timings as import gpu-table reads it",
                      &a.table}),
            input(required({"--arch", "FILE", "GPU (YAML, or the name of a shipped one)", &a.arch}),
                  FileKind::kArch),
            {"--gpu", "NAME", "Use the rows of this GPU [the name in --arch]", &a.gpu},
            precision_option(a.precision, "Precision of a table that does not say it, such as f16",
                             precision_names()),
            {"--problem", "MxNxK", "Shape of the GEMM, of a table that does not say it",
             &a.problem},
            cache_option(a.cache)},
           output_options(a.output)}),
      kMeasurementsFile};
}

}  // namespace mapsim
