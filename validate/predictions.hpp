// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "arch/gpu.hpp"
#include "costmodel/gpu/measurement.hpp"
#include "validate/calibrate.hpp"
#include "validate/metrics.hpp"

namespace mapsim {

// A measurement beside what the model says with the calibration that the GPU has.
struct PredictedKernel {
  std::string name;      // "4096x4096x4096 ..." and the kernel, or that a library chose it
  double measured = 0;   // seconds
  double predicted = 0;  // seconds
};
struct PredictedGroup {
  std::string name;  // precision and path: "f16, wmma"
  GpuPrecision precision = GpuPrecision::kF16;
  GpuCalibration calibration;  // that predicted
  std::vector<PredictedKernel> kernels;
  ErrorMetrics errors;
  RankMetrics ranks;
  double covered = 0;  // share of the times within the calibration's interval
};

// Of rows of this GPU, in groups of precision and path in the order of their first rows.
// Nothing is fitted: where the GPU has no calibration of a group, its starting values predict.
// Kernels that cannot run and library rows without a kernel are left out.
std::vector<PredictedGroup> predict_measurements(
    const Gpu& gpu, const std::vector<GpuMeasurement>& measurements,
    const std::function<std::vector<KernelChoice>(const Gpu&, const GemmProblem&)>& library);

}  // namespace mapsim
