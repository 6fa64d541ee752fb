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

// The figures of one problem. A time or ratio of 0 was not measured.
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
  double first_to_best = 0;     // time of the model's first choice / time of the best
  double library_to_best = 0;   // speed of the best as a share of cuBLAS's
  double share_of_ceiling = 0;  // speed of the best as a share of its path's peak
  std::string best_kernel;
};

// The figures of all problems together; ratios are medians over the problems that have them.
struct ValidationVerdict {
  std::vector<ProblemVerdict> problems;
  ErrorMetrics errors, roofline_errors;
  RankMetrics ranks, roofline, fixed, random;
  double first_to_best = 0;
  double library_to_best = 0;
  double share_of_ceiling = 0;
  std::int64_t kernels = 0;
  std::int64_t host_bound = 0;         // rows left out, because the host's launches took longer
  std::vector<std::string> throttles;  // what limited the clock, each once
};

// Compares the model with the rows of one GPU, problems in the order of their first rows. `names`:
// the name of a workload by problem_key(). Left out are kernels that the model calls illegal, and
// all rows that the host's launches bound. `fixed` is the baseline static best: for each problem
// the kernel with the least slowdown on the others, among those measured on at least half of them.
// `random` has the expected values of a random choice.
ValidationVerdict judge(const Gpu& gpu, std::span<const GpuMeasurement> rows,
                        const std::map<std::string, std::string>& names);

// The problem of a measurement as text; equal for all kernels of a problem.
std::string problem_key(const GpuMeasurement& measurement);

// The result of `validate` as JSON (docs/results_keys.md). `head`: provenance, a JSON object. Ends
// with a newline.
std::string verdict_json(const std::string& head, const Gpu& gpu, const ValidationVerdict& verdict,
                         std::span<const std::string> refusals);

}  // namespace mapsim
