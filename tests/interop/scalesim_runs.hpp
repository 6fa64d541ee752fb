// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "interop/scalesim_compat.hpp"

namespace mapsim {

// A run of the tool: what went in, and what it printed.
struct ToolRun {
  std::string text;
  ScaleSimConfig config;
  ScaleSimLayer layer;
  ScaleSimFigures printed;
  double seconds = 0;
};

// Runs in which the tool computes the bandwidth, or has it `given`; of the collection that
// MAPSIM_GOLDENS names.
std::vector<ToolRun> collected_scalesim_runs(bool given = false);

// A small layer and machine of a seed; buffers of 1 and 2 KiB, so that they fill and drain.
ToolRun random_scalesim_run(std::uint64_t seed);

}  // namespace mapsim
