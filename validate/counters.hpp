// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "validate/verdict.hpp"

namespace mapsim {

// One profiled kernel: every cell of its rows that might name it, and its metrics by name, in base
// units as far as ncu says them (byte, cycle, second; Kbyte is 1000).
struct ProfiledKernel {
  std::string names;
  std::map<std::string, double> metrics;
};

// What `ncu --csv` prints, details (one row per metric) or `--page raw` (one row per kernel);
// lines without quotes, ncu's own and the program's, are skipped. Throws ConfigError: no table, no
// column that a page must have, a row that is not whole.
std::vector<ProfiledKernel> parse_counters(const std::string& text, const std::string& filename);

// Gives each kernel of the verdict the metrics of the profiled kernel whose names contain its
// measured_what() (NVTX ranges: --nvtx --print-nvtx-rename kernel); where no range names any, by
// its entry, which tells kernels of one problem apart. How many got some.
std::int64_t attach_counters(const std::vector<ProfiledKernel>& profiled,
                             ValidationVerdict& verdict);

// A metric and the model's value of the same quantity.
struct CounterComparison {
  std::string metric;
  double counted = 0;
  double modelled = 0;
};
// Those of docs/gpu_validation.md that the kernel has counters for.
std::vector<CounterComparison> compare_counters(const Gpu& gpu, const KernelVerdict& kernel);

}  // namespace mapsim
