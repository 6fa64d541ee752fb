// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arch/gpu.hpp"
#include "costmodel/gpu/estimate.hpp"
#include "costmodel/gpu/measurement.hpp"
#include "validate/metrics.hpp"

namespace mapsim {

// A measured kernel and its prediction.
struct KernelVerdict {
  GpuMeasurement measurement;
  GpuEstimate estimate;                      // at the measured clock, with the compiler's registers
  double predicted = 0;                      // seconds
  double roofline = 0;                       // seconds
  std::map<std::string, double> counters{};  // of a profiler; by metric
};

// How one problem's kernels came out. Ratios of times; 0: not measured.
struct ProblemVerdict {
  std::string name;
  GemmProblem problem;
  bool cold = false;
  std::vector<KernelVerdict> kernels;  // by predicted time
  ErrorMetrics errors;
  RankMetrics ranks, roofline, fixed, random;
  double best = 0;              // seconds, of our kernels
  double naive = 0;             // seconds
  double library = 0;           // seconds
  double first_to_best = 0;     // time of the model's first choice over the best's
  double library_to_best = 0;   // speed of the best as a share of cuBLAS's
  double share_of_ceiling = 0;  // useful multiply-adds of the best over what its path could do
  std::string best_kernel;
};

// Everything together; medians over the problems that have the figure.
struct ValidationVerdict {
  std::vector<ProblemVerdict> problems;
  ErrorMetrics errors, roofline_errors;
  RankMetrics ranks, roofline, fixed, random;
  double first_to_best = 0;
  double library_to_best = 0;
  double share_of_ceiling = 0;
  std::int64_t kernels = 0;
  std::int64_t host_bound = 0;         // rows left out, as their times are the host's
  std::vector<std::string> throttles;  // what held clocks down, each once
};

// Of the rows of one GPU, in the order of the problems' first rows; `names` calls a problem, by
// problem_key(), what its workload is called. Kernels that this model calls illegal are left out.
// So are rows whose times are the host's, cuBLAS's and the naive kernel's too.
// "Fixed" is static best: per problem the kernel, of those measured in at least half of the others,
// that lost least on these. "Random" is the expected value of a draw.
ValidationVerdict judge(const Gpu& gpu, std::span<const GpuMeasurement> rows,
                        const std::map<std::string, std::string>& names);

// What the kernels of one problem have in common.
std::string problem_key(const GpuMeasurement& measurement);

// For programs: docs/gpu_validation.md. `head`: provenance, a JSON object. Ends with a newline.
std::string verdict_json(const std::string& head, const Gpu& gpu, const ValidationVerdict& verdict,
                         std::span<const std::string> refusals);

}  // namespace mapsim
