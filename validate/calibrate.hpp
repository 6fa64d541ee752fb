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

// How calibrate() fits and judges.
struct CalibrationOptions {
  std::int64_t folds = 5;        // of the cross-validation, by problem; at least 2
  std::int64_t fit_rows = 1500;  // most rows of a fit, drawn by `seed`; all rows are judged
  std::uint64_t seed = 1;
  std::string source;  // goes into GpuCalibration::fitted_from
  // The kernels that a library chooses from, for measurements that do not name a kernel. Their
  // predicted time is that of the fastest of these: a library picks well, though not always.
  std::function<std::vector<KernelChoice>(const Gpu&, const GemmProblem&)> library;
};

// The errors of one predictor on held-out problems.
struct CalibrationScore {
  // "calibrated", "uncalibrated", "roofline", "static best", "random", or "in the file": a
  // calibration that the file had already, which may have been fitted to the same problems
  std::string name;
  std::optional<ErrorMetrics> errors{};  // static best and random predict no times
  RankMetrics ranks{};
};

// A parameter of the model before and after the fit.
struct CalibratedParameter {
  std::string name;
  double before = 0;  // SI units
  FittedParameter fitted;
};

// The fit to the measurements of one precision and path, and how good it is.
struct GroupCalibration {
  GpuPrecision precision = GpuPrecision::kF16;
  std::optional<GpuPath> path{};  // absent: kernels that a library chose
  GpuCalibration fitted;          // to all rows
  std::vector<CalibratedParameter> parameters;
  std::vector<CalibrationScore> scores;  // calibrated first, uncalibrated second
  std::vector<ErrorMetrics> by_decade;   // calibrated, held out, by measured time
  std::vector<double> decades;           // seconds; lower ends of the above
  // Share of held-out times within the interval (fitted.error) that the other folds give.
  double covered = 0;
  // SpecificationCheck::reached; 0: unknown.
  double reached = 0;
  std::vector<double> covered_by_decade;
  bool resolution_fitted = false;  // else fitted.resolution is the default: too few pairs
  std::int64_t rows = 0;
  std::int64_t problems = 0;
  bool by_kernel = false;      // too few problems: kernels were held out instead, and the error on
                               // other problems is unknown
  std::int64_t left_out = 0;   // kernels that are illegal on this GPU
  std::string first_left_out;  // why the first of them is
  std::optional<std::string> refusal{};  // why the fit must not be used
  std::vector<std::string> warnings;     // suspicious specification, undetermined parameters
};

// The launch time of a GPU: the geometric mean over the groups that determine it, weighted by their
// errors. Nothing: no usable group determines it.
std::optional<Seconds> common_launch(const std::vector<GroupCalibration>& groups);

// Fits the calibration of `gpu` to measurements, one precision and path at a time, with
// cross-validation by problem (docs/gpu_calibration.md). Parameters that the measurements do not
// determine keep their uncalibrated values. A launch takes the same time on all paths of a GPU, so
// groups that do not determine it get common_launch(). Deterministic. The measurements must all be
// of this GPU. A group with fewer problems than folds gets a refusal.
std::vector<GroupCalibration> calibrate(const Gpu& gpu,
                                        const std::vector<GpuMeasurement>& measurements,
                                        const CalibrationOptions& options);

}  // namespace mapsim
