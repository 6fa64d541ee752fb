// SPDX-License-Identifier: Apache-2.0
#include "validate/predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "validate/observations.hpp"

namespace mapsim {

namespace {

std::string problem_text(const GemmProblem& problem) {
  return fmt::format("{}{}x{}x{}", problem.batch > 1 ? fmt::format("{}x", problem.batch) : "",
                     problem.m, problem.n, problem.k);
}

PredictedGroup predicted(const Gpu& gpu, const ObservationGroup& group,
                         const CalibrationOptions& options) {
  const GpuCalibration calibration =
      gpu.calibration(group.precision, group.path.value_or(GpuPath::kMma));
  PredictedGroup result;
  result.name = fmt::format("{}, {}", to_string(group.precision),
                            group.path ? to_string(*group.path) : "library");
  result.precision = group.precision;
  result.calibration = calibration;
  std::vector<Prediction> predictions;
  std::int64_t within = 0;
  for (Observation row : group.rows) {
    const bool is_library = row.options.empty();
    if (!fill_options(gpu, calibration, options, row)) {
      continue;
    }
    const double time = predict(gpu, calibration, row);
    result.kernels.push_back(
        {problem_text(row.problem) +
             (is_library ? " library" : fmt::format(" {}", to_string(row.options.front().kernel))),
         row.measured, time});
    within += std::abs(std::log(time / row.measured)) <= calibration.error ? 1 : 0;
    predictions.push_back({row.problem_number, row.kernel_number, row.measured, time});
  }
  if (!predictions.empty()) {
    result.errors = error_metrics(predictions);
    result.ranks = rank_metrics(predictions);
    result.covered = static_cast<double>(within) / static_cast<double>(predictions.size());
  }
  return result;
}

}  // namespace

std::vector<PredictedGroup> predict_measurements(
    const Gpu& gpu, const std::vector<GpuMeasurement>& measurements,
    const std::function<std::vector<KernelChoice>(const Gpu&, const GemmProblem&)>& library) {
  CalibrationOptions options;
  options.library = library;
  std::vector<PredictedGroup> groups;
  for (const ObservationGroup& group : group_observations(gpu, measurements)) {
    groups.push_back(predicted(gpu, group, options));
    if (groups.back().kernels.empty()) {
      groups.pop_back();
    }
  }
  return groups;
}

}  // namespace mapsim
