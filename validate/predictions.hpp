// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "arch/gpu.hpp"
#include "costmodel/gpu/measurement.hpp"
#include "validate/calibrate.hpp"
#include "validate/metrics.hpp"

namespace mapsim {

// The time of a measurement, and the model's prediction with the GPU's calibration.
struct PredictedKernel {
  std::string name;      // "4096x4096x4096 ..." and the kernel, or that a library chose it
  double measured = 0;   // seconds
  double predicted = 0;  // seconds
};

// The errors of the predictions of a class of shapes.
struct PredictionScore {
  std::string name;  // the class of shapes, or "all"
  ErrorMetrics errors;
  RankMetrics ranks;
  double covered = 0;  // share of the times within the calibration's interval
};

// Two baselines without a model on the same problems.
struct BlindRanks {
  RankMetrics random;  // a kernel drawn at random: expected values
  RankMetrics fixed;   // for each problem the kernel that is best on average on the others
};

// The predictions for one precision and path.
struct PredictedGroup {
  std::string name;  // precision and path: "f16, wmma"
  GpuPrecision precision = GpuPrecision::kF16;
  GpuCalibration calibration;  // that predicted
  std::vector<PredictedKernel> kernels;
  PredictionScore all;
  std::vector<PredictionScore> classes;  // those that occur, in the order of shape_classes()
  BlindRanks blind;
  std::int64_t problems = 0;
  std::int64_t left_out = 0;   // kernels that cannot run on this GPU
  std::string first_left_out;  // why the first of them cannot
};

// The ranking of all kernels of one precision: kernels of different paths compete, too.
struct PathRanks {
  GpuPrecision precision = GpuPrecision::kF16;
  std::int64_t kernels = 0;
  RankMetrics ranks;
  BlindRanks blind;
};

// The predictions for all rows of a GPU.
struct MeasuredPredictions {
  std::vector<PredictedGroup> groups;  // in the order of their first rows
  std::vector<PathRanks> together;     // of precisions with kernels of several paths
};

// The classes of shapes that call for different kernels. Products with few rows or columns are
// bound by memory, and their tiles are mostly padding; convolutions copy their input.
std::vector<std::string> shape_classes();
std::size_t shape_class(const GemmProblem& problem);  // index into these

// Predicts the times of rows of this GPU. Nothing is fitted: without a calibration of a group, the
// uncalibrated values predict. Rows whose kernel cannot run, rows of a library that has no kernel
// for them, and groups without a row are left out. `library`: the kernels that a library chooses
// from.
MeasuredPredictions predict_measurements(
    const Gpu& gpu, const std::vector<GpuMeasurement>& measurements,
    const std::function<std::vector<KernelChoice>(const Gpu&, const GemmProblem&)>& library);

// What the rows of a table tell about the L2 cache: hot (it held the operands) or cold. Rows
// without this information are taken as hot if some of them are faster than DRAM can deliver A and
// B; else as cold.
struct CacheEvidence {
  std::int64_t hot = 0;       // rows marked so
  std::int64_t cold = 0;      // rows marked so
  std::int64_t unsaid = 0;    // rows without a mark
  std::int64_t too_fast = 0;  // of these: faster than operands can come from DRAM
  bool taken_hot = false;     // how rows without a mark are taken
};
// Marks the rows that have no mark.
CacheEvidence infer_cache(const Gpu& gpu, std::vector<GpuMeasurement>& measurements);

// The result of `predict` as JSON (docs/results_keys.md); `head`: the beginning of every result.
std::string predictions_json(const std::string& head, const Gpu& gpu, const CacheEvidence& cache,
                             const MeasuredPredictions& predictions);

}  // namespace mapsim
