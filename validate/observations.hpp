// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "validate/calibrate.hpp"

namespace mapsim {

// A measurement made ready: what does not depend on the calibration is done.
struct Observation {
  struct Option {
    KernelChoice kernel;
    GpuWork work;
  };
  GemmProblem problem;
  std::int64_t problem_number = 0;  // equal problems of the group, equal numbers
  std::int64_t competition = 0;     // equal problems of all groups, equal numbers
  std::int64_t kernel_number = 0;   // 0: a library's
  double measured = 0;              // seconds
  double clock = 0;                 // Hz
  bool clock_measured = false;      // else it is the specification's
  GpuTiming timing;
  std::vector<Option> options;  // one, or those of a library
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

// What the time of a row is of: `validate` times kernels again and again, queued ahead of the GPU.
// Of others, and of cold ones, it is not known to be more than one run.
GpuTiming timing_of(const GpuMeasurement& row);

// In the order of first appearance. Library rows have no options yet: fill_options() makes them.
std::vector<ObservationGroup> group_observations(const Gpu& gpu,
                                                 const std::vector<GpuMeasurement>& measurements);

// The kernels that a library would choose from; those that `start` prices far above the best
// cannot become it and go. False: it has none.
bool fill_options(const Gpu& gpu, const GpuCalibration& start, const CalibrationOptions& options,
                  Observation& row);

// Seconds: the least over the row's options.
double predict(const Gpu& gpu, const GpuCalibration& calibration, const Observation& row);

// Seconds: all operations at the peak, or each operand and result once from DRAM at its bandwidth.
double roofline_time(const Gpu& gpu, const Observation& row, std::optional<GpuPath> path);
// The same but for what a repeated measurement may find in the L2 cache: nothing is faster.
double least_time(const Gpu& gpu, const Observation& row, std::optional<GpuPath> path);

// What a fit moves, and how far it may.
struct CalibrationField {
  const char* name;
  double lower;  // SI units
  double upper;
  double prior;  // how far ln(value / prior value) may well be from 0
  bool is_rate;  // a share of a figure of the specification
  double (*get)(const GpuCalibration&);
  void (*set)(GpuCalibration&, double);
};
std::span<const CalibrationField> calibration_fields();

}  // namespace mapsim
