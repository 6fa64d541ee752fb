// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/calibrate.hpp"

namespace mapsim {

// A measurement, with all work done that does not depend on the calibration.
struct Observation {
  struct Option {  // a kernel that may have run
    KernelChoice kernel;
    GpuWork work;
  };
  GemmProblem problem;
  std::int64_t problem_number = 0;  // equal problems of the group, equal numbers
  std::int64_t competition = 0;     // equal problems of all groups, equal numbers
  std::int64_t kernel_number = 0;   // 0: chosen by a library
  double measured = 0;              // seconds
  double clock = 0;                 // Hz
  bool clock_measured = false;      // false: it is the architecture file's
  GpuTiming timing;
  std::vector<Option> options;  // the kernel, or those that a library chooses from
};

// The rows of one precision and path, numbered in the order of the file.
struct ObservationGroup {
  GpuPrecision precision = GpuPrecision::kF16;
  std::optional<GpuPath> path{};
  std::vector<Observation> rows;
  std::int64_t problems = 0;
  std::int64_t left_out = 0;
  std::string first_left_out;
};

// The conditions of a row's time: `validate` times hot kernels back to back, queued ahead of the
// GPU. Other times, and cold ones, are taken as those of single runs.
GpuTiming timing_of(const GpuMeasurement& row);

// Groups the rows by precision and path, in the order of first appearance. Rows of libraries have
// no options yet: fill_options() adds them.
std::vector<ObservationGroup> group_observations(const Gpu& gpu,
                                                 const std::vector<GpuMeasurement>& measurements);

// Adds the kernels that a library chooses from, without those whose time by `start` is far above
// the best, which no fit can make the best. False: there are none.
bool fill_options(const Gpu& gpu, const GpuCalibration& start, const CalibrationOptions& options,
                  Observation& row);

// Predicted time [s]: the least over the row's options.
double predict(const Gpu& gpu, const GpuCalibration& calibration, const Observation& row);

// Roofline [s]: all operations at the peak, or each operand and result once from or to DRAM.
double roofline_time(const Gpu& gpu, const Observation& row, std::optional<GpuPath> path);
// The same without the bytes that a repeated run may find in the L2 cache: a lower bound [s].
double least_time(const Gpu& gpu, const Observation& row, std::optional<GpuPath> path);

// A parameter that calibrate() fits, and its range.
struct CalibrationField {
  const char* name;
  double lower;  // SI units
  double upper;
  double prior;  // standard deviation of the prior of ln(value / uncalibrated value)
  bool is_rate;  // a share of a figure of the architecture file
  double (*get)(const GpuCalibration&);
  void (*set)(GpuCalibration&, double);
};
std::span<const CalibrationField> calibration_fields();

}  // namespace mapsim
