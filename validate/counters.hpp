// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "validate/verdict.hpp"

namespace mapsim {

// One profiled kernel: all cells of its rows that may name it, and its metrics by name. Units that
// ncu prints are converted to byte, cycle and second; a Kbyte is 1000 bytes.
struct ProfiledKernel {
  std::string names;
  std::map<std::string, double> metrics;
};

// Reads the output of `ncu --csv`: the details page (one row per metric) or `--page raw` (one row
// per kernel). Lines without quotes, which ncu and the program also print, are skipped. Throws
// ConfigError if there is no table, a column is missing, or a row is incomplete.
std::vector<ProfiledKernel> parse_counters(const std::string& text, const std::string& filename);

// Gives each kernel of the verdict the metrics of the profiled kernel whose names contain its
// measured_what() (NVTX ranges: --nvtx --print-nvtx-rename kernel). If no range names a kernel,
// they are matched by their entries, which differ among kernels of one problem. Returns how many
// kernels got metrics.
std::int64_t attach_counters(const std::vector<ProfiledKernel>& profiled,
                             ValidationVerdict& verdict);

// A metric and the model's value of the same quantity.
struct CounterComparison {
  std::string metric;
  double counted = 0;
  double modelled = 0;
};
// The metrics of docs/gpu_validation.md that this kernel has.
std::vector<CounterComparison> compare_counters(const Gpu& gpu, const KernelVerdict& kernel);

}  // namespace mapsim
