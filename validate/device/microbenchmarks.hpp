// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "arch/gpu.hpp"
#include "validate/candidates.hpp"
#include "validate/measure.hpp"

namespace mapsim {

// One figure of a chip, measured by a kernel made for it.
struct Microbenchmark {
  std::string what;       // "mma", "shared read", "l2 read", "dram read", "dram copy", "launch"
  std::string precision;  // of mma
  double value = 0;
  std::string unit;         // "MAC/cycle/SM", "B/cycle/SM", "B/s", "s"
  double architecture = 0;  // the architecture file's figure; 0: it has none
  Hertz clock{0};           // of the SMs meanwhile, by NVML or by their counters; 0: not known
  std::string refusal{};    // why there is no value; empty: there is one
};

// Measures, as medians of nine runs after two seconds of work:
// - mma.sync through WMMA, in every precision for which the chip's file has a rate;
// - shared memory, 16 B per lane without conflicts; L2, half of it read repeatedly past L1;
// - DRAM, 1 GiB read, and read and written; back-to-back launches of an empty kernel.
// Each figure takes about 50 ms. Figures per cycle are counted by the SM's cycle counter.
std::vector<Microbenchmark> microbenchmarks(
    const DeviceTools& tools, const Gpu& gpu, const Compile& compile,
    const std::function<void(const std::string&)>& progress);

// The kernels that these are measured with, for this chip; only entry and text are set.
std::vector<KernelSource> microbenchmark_sources(const Gpu& gpu);

// CSV: "# mapsim microbenchmarks 1", the names of the columns, a row per figure.
std::string microbenchmarks_csv(const std::string& gpu, const std::string& driver,
                                const std::vector<Microbenchmark>& figures);

// The same as JSON; `head`: a JSON object with the beginning of every result.
std::string microbenchmarks_json(const std::string& head, const std::string& gpu,
                                 const std::string& driver,
                                 const std::vector<Microbenchmark>& figures);

}  // namespace mapsim
