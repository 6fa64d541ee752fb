// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "costmodel/roofline.hpp"
#include "mapper/gpu/search.hpp"
#include "report/json.hpp"

namespace mapsim {

// A search of kernels: its question and its result.
struct KernelReport {
  Gpu gpu;
  Workload workload;
  GpuSearchResult result;
  // By rank, why 'export cuda' does not write the kernel; an empty text: it does. An empty list:
  // this was not examined.
  std::vector<std::string> not_written{};
  std::optional<RankedKernel> best_written{};  // the best that it writes, if not the first
};

// How far a measured time may be from the predicted `time`, by the calibration that predicted it.
std::string trust_text(const GpuCalibration& calibration, GpuPrecision precision, Seconds time);

// For people: the ranked kernels with predicted time, bottleneck and resources; which of them are
// as good as the first; how far to trust the times; rules of tensor cores that the layer violates;
// the power of the first one if it is above the board's limit.
std::string kernels_text(const KernelReport& report);

// One kernel, the only one of `report.result.ranked`, and the best ones.
struct KernelComparison {
  KernelReport report;
  std::optional<RankedKernel> best_of_path;  // absent: none is legal
  std::optional<RankedKernel> best;          // of all paths
};
// Resources, grid, traffic and the parts of the time of these kernels, for people and as JSON
// (docs/results_keys.md).
std::string kernel_text(const KernelComparison& comparison);
std::string kernel_json(const Provenance& origin, const KernelComparison& comparison);

// A bound of a GEMM that no kernel can beat: operations at the peak rate, and each operand and
// result once from or to DRAM. There is one for each kind of arithmetic that the chip has for the
// GEMM.
struct GpuRoofline {
  std::string path;  // "tensor cores", "WMMA", "without tensor cores"
  RooflineBound bound;
  Peak peak;
};
std::vector<GpuRoofline> gpu_rooflines(const Gpu& gpu, const GemmProblem& problem);
// The same for people and as JSON (docs/results_keys.md).
std::string gpu_roofline_text(const Gpu& gpu, const Workload& workload, const GemmProblem& problem);
std::string gpu_roofline_json(const Provenance& origin, const Gpu& gpu, const Workload& workload,
                              const GemmProblem& problem);

// The beginning of every result (docs/results.md) as JSON text, for results whose rest another
// folder writes.
std::string provenance_text(const Provenance& origin);

// The ranked kernels as JSON (docs/results_keys.md).
std::string kernels_json(const Provenance& origin, const KernelReport& report);

}  // namespace mapsim
