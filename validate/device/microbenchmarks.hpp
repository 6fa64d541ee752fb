// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "arch/gpu.hpp"
#include "validate/candidates.hpp"
#include "validate/measure.hpp"

namespace mapsim {

// One figure of a chip, measured by a kernel that does nothing else.
struct Microbenchmark {
  std::string what;       // "mma", "shared read", "l2 read", "dram read", "dram copy", "launch"
  std::string precision;  // of mma
  double value = 0;
  std::string unit;         // "MAC/cycle/SM", "B/cycle/SM", "B/s", "s"
  double architecture = 0;  // the file's figure of the same; 0: it has none
  Hertz clock{0};           // of the SMs while it ran, by NVML, else as they count; 0: not known
  std::string refusal{};    // why there is no value; empty: there is one
};

// Of mma.sync through WMMA in every precision that the chip's file has a rate for, shared memory
// (16 B per lane, no conflicts), L2 (half of it, read over and over past L1), DRAM (1 GiB read;
// read and written) and the launch of an empty kernel, back to back. Medians of nine runs, after
// two seconds of work, and 50 ms of each. What is per cycle is measured in cycles, by the SM's
// counter.
std::vector<Microbenchmark> microbenchmarks(
    const DeviceTools& tools, const Gpu& gpu, const Compile& compile,
    const std::function<void(const std::string&)>& progress);

// The texts that these are compiled from, for this chip: entry and text only.
std::vector<KernelSource> microbenchmark_sources(const Gpu& gpu);

// CSV: "# mapsim microbenchmarks 1", the names of the columns, a row per figure.
std::string microbenchmarks_csv(const std::string& gpu, const std::string& driver,
                                const std::vector<Microbenchmark>& figures);

// The same as JSON; `head` is an object with what every result begins with.
std::string microbenchmarks_json(const std::string& head, const std::string& gpu,
                                 const std::string& driver,
                                 const std::vector<Microbenchmark>& figures);

}  // namespace mapsim
