// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu.hpp"
#include "costmodel/gpu/estimate.hpp"
#include "costmodel/gpu/measurement.hpp"
#include "validate/fit.hpp"
#include "validate/metrics.hpp"

namespace mapsim {

struct CalibrationOptions {
  std::int64_t folds = 5;        // of the cross-validation, by problem; at least 2
  std::int64_t fit_rows = 1500;  // that a fit sees at most, drawn by `seed`; all rows are judged
  std::uint64_t seed = 1;
  std::string source;  // goes into GpuCalibration::fitted_from
  // The kernels that a library chooses from, for measurements that do not name theirs. The
  // prediction is the best of them: a library picks well, though not always.
  std::function<std::vector<KernelChoice>(const Gpu&, const GemmProblem&)> library;
};

// One way to predict, on held-out problems.
struct CalibrationScore {
  // "calibrated", "uncalibrated", "roofline", "in the file" (a calibration that was there already:
  // fitted to whatever, so perhaps not held out), "static best", "random"
  std::string name;
  std::optional<ErrorMetrics> errors{};  // static best and random predict no times
  RankMetrics ranks{};
};

struct CalibratedParameter {
  std::string name;
  double before = 0;  // SI units
  FittedParameter fitted;
};

// What the measurements of one precision and path say.
struct GroupCalibration {
  GpuPrecision precision = GpuPrecision::kF16;
  std::optional<GpuPath> path{};  // absent: kernels that a library chose
  GpuCalibration fitted;          // of all rows
  std::vector<CalibratedParameter> parameters;
  std::vector<CalibrationScore> scores;  // calibrated first, uncalibrated second
  std::vector<ErrorMetrics> by_decade;   // calibrated, held out, by measured time
  std::vector<double> decades;           // seconds; lower ends of the above
  // Of held-out times, within the interval (fitted.error) as taken from the other folds.
  double covered = 0;
  // Of what the figures of the file allow, 90th percentile (check_specification); 0: unknown.
  double reached = 0;
  std::vector<double> covered_by_decade;
  bool resolution_fitted = false;  // else fitted.resolution is the default: too few pairs
  std::int64_t rows = 0;
  std::int64_t problems = 0;
  bool by_kernel = false;  // too few problems: kernels were held out, and what it is worth on other
                           // problems is not known
  std::int64_t left_out = 0;             // kernels that are illegal on this GPU
  std::string first_left_out;            // and why the first of them is
  std::optional<std::string> refusal{};  // why the fit must not be used
  std::vector<std::string> warnings;     // suspicious specification, undetermined parameters
};

// The launch time that the groups agree on: geometric mean of the determined ones, by their errors.
// Nothing: no group that may be used determines it.
std::optional<Seconds> common_launch(const std::vector<GroupCalibration>& groups);

// Fits the calibration of `gpu` to the measurements, group by group, cross-validated by problem.
// What the measurements do not determine keeps its uncalibrated value; a launch takes the same time
// on all paths of a GPU, so that groups that do not determine it get that of those that do.
// Deterministic. Measurements of other GPUs are the caller's to leave out. Groups of fewer problems
// than folds get a refusal.
std::vector<GroupCalibration> calibrate(const Gpu& gpu,
                                        const std::vector<GpuMeasurement>& measurements,
                                        const CalibrationOptions& options);

}  // namespace mapsim
