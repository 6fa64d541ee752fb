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

// Throws ConfigError with all errors: version, missing or unknown columns, wrong or missing cells.
std::vector<GpuMeasurement> parse_measurements(const std::string& text,
                                               const std::string& filename);

// The first two lines of the file: the version, and the names of all columns.
std::string measurements_header();
// The rows of these measurements, in the order of those columns.
std::string measurement_rows(const std::vector<GpuMeasurement>& measurements);

// A file to which rows of measurement_rows() can be added: the text itself or, if it lacks columns,
// the same rows with all columns. Throws as parse_measurements() does.
std::string with_all_columns(const std::string& text, const std::string& filename);

// The rows of one GPU. Names are compared by their letters and digits, because tables write "RTX
// 4090" for the architecture rtx4090. The text: there are none, and the names that there are.
Parsed<std::vector<GpuMeasurement>> rows_of_gpu(std::vector<GpuMeasurement> all,
                                                const std::string& gpu);

// GPU, problem, cache and kernel as text. Two measurements of the same kernel have equal texts.
std::string measured_what(const GpuMeasurement& measurement);

}  // namespace mapsim
