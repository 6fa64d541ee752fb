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

// A measurement and the model's prediction with the GPU's calibration.
struct PredictedKernel {
  std::string name;      // "4096x4096x4096 ..." and the kernel, or that a library chose it
  double measured = 0;   // seconds
  double predicted = 0;  // seconds
};

// How well some of them are predicted.
struct PredictionScore {
  std::string name;  // the class of shapes, or "all"
  ErrorMetrics errors;
  RankMetrics ranks;
  double covered = 0;  // share of the times within the calibration's interval
};

// What choosers that know no model are worth on the same problems.
struct BlindRanks {
  RankMetrics random;  // the expected value of a draw
  RankMetrics fixed;   // of each problem the kernel that is best on average on all the others
};

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
  std::string first_left_out;  // and why the first of them cannot
};

// All kernels of one precision, whatever their paths: they compete for the same problems.
struct PathRanks {
  GpuPrecision precision = GpuPrecision::kF16;
  std::int64_t kernels = 0;
  RankMetrics ranks;
  BlindRanks blind;
};

struct MeasuredPredictions {
  std::vector<PredictedGroup> groups;  // in the order of their first rows
  std::vector<PathRanks> together;     // of precisions with kernels of several paths
};

// What sets problems apart for the choice of a kernel: few rows or columns are bound by memory, and
// tiles are mostly padding there; convolutions copy their input.
std::vector<std::string> shape_classes();
std::size_t shape_class(const GemmProblem& problem);  // index into these

// Of rows of this GPU. Nothing is fitted: where the GPU has no calibration of a group, its starting
// values predict. Kernels that cannot run and library rows without a kernel are left out; a group
// without any kernel is, too.
MeasuredPredictions predict_measurements(
    const Gpu& gpu, const std::vector<GpuMeasurement>& measurements,
    const std::function<std::vector<KernelChoice>(const Gpu&, const GemmProblem&)>& library);

// What the L2 cache held before each run. Rows that do not say are taken as hot where some of them
// are faster than DRAM can bring A and B, which proves it; else as cold.
struct CacheEvidence {
  std::int64_t hot = 0;   // rows that say so
  std::int64_t cold = 0;  // rows that say so
  std::int64_t unsaid = 0;
  std::int64_t too_fast = 0;  // of the unsaid: for operands from DRAM
  bool taken_hot = false;     // the unsaid
};
// Marks the rows that do not say.
CacheEvidence infer_cache(const Gpu& gpu, std::vector<GpuMeasurement>& measurements);

// For programs (docs/results.md); `head` is the beginning of every result.
std::string predictions_json(const std::string& head, const Gpu& gpu, const CacheEvidence& cache,
                             const MeasuredPredictions& predictions);

}  // namespace mapsim
