// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "core/quantity_text.hpp"
#include "costmodel/gpu/measurement.hpp"

namespace mapsim {

// The measurements file: CSV, one row per kernel and problem, in the order of measuring; rows are
// only ever added. Its first line is "# mapsim measurements 1"; docs/gpu_calibration.md has the
// columns. Reading what was printed gives equal values.

// Throws ConfigError with everything that is wrong: version, columns, cells, kernels without a
// part.
std::vector<GpuMeasurement> parse_measurements(const std::string& text,
                                               const std::string& filename);

std::string measurements_header();  // the version and the names of the columns
std::string measurement_rows(const std::vector<GpuMeasurement>& measurements);

// A file to which rows of measurement_rows() can be added: the text itself, or, where an earlier
// version lacks columns, the same rows with all of them. Throws as parse_measurements() does.
std::string with_all_columns(const std::string& text, const std::string& filename);

// The rows of one GPU, by the letters and digits of its name: tables say "RTX 4090" where an
// architecture is called rtx4090. The text: there are none; the names that there are.
Parsed<std::vector<GpuMeasurement>> rows_of_gpu(std::vector<GpuMeasurement> all,
                                                const std::string& gpu);

// GPU, problem, cache and kernel in words: equal for two measurements of the same thing.
std::string measured_what(const GpuMeasurement& measurement);

}  // namespace mapsim
