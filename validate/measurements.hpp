// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "costmodel/gpu/measurement.hpp"

namespace mapsim {

// The measurements file: CSV, one row per kernel and problem, in the order of measuring; rows are
// only ever added. Its first line is "# mapsim measurements 1"; docs/gpu_calibration.md has the
// columns. Reading what was printed gives equal values.

// Throws ConfigError with everything that is wrong: version, columns, cells, kernels without a
// part.
std::vector<GpuMeasurement> parse_measurements(const std::string& text,
                                               const std::string& filename);

std::string measurements_header();   // the version and the names of the columns
std::string measurements_columns();  // the latter alone, a line
std::string measurement_rows(const std::vector<GpuMeasurement>& measurements);

}  // namespace mapsim
