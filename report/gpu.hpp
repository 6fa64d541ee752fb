// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "costmodel/roofline.hpp"
#include "mapper/gpu/search.hpp"
#include "report/json.hpp"

namespace mapsim {

// A search of kernels: what was asked, and what came of it.
struct KernelReport {
  Gpu gpu;
  Workload workload;
  GpuSearchResult result;
  // By rank, why 'export cuda' does not write the kernel; empty: it does. None: nobody asked.
  std::vector<std::string> not_written{};
  std::optional<RankedKernel> best_written{};  // that it does write, where that is not the first
};

// How far measured times may be from `time`, predicted with `calibration`.
std::string trust_text(const GpuCalibration& calibration, GpuPrecision precision, Seconds time);

// For people: the ranked kernels, each with predicted time, bottleneck and resources; which are as
// good as the first; how far to trust it; constraints that the layer violates.
std::string kernels_text(const KernelReport& report);

// One kernel compared with the best: `report.result.ranked` has it alone.
struct KernelComparison {
  KernelReport report;
  std::optional<RankedKernel> best_of_path;  // absent: none is legal
  std::optional<RankedKernel> best;          // whatever its path
};
// Its resources, grid and traffic, and what each part of its time takes, of the best ones, too.
std::string kernel_text(const KernelComparison& comparison);
std::string kernel_json(const Provenance& origin, const KernelComparison& comparison);

// Bounds of a GEMM, as it is, that no kernel can beat, one per kind of arithmetic that the chip has
// for it: operations at the peak, each operand and result once from or to DRAM.
struct GpuRoofline {
  std::string path;  // "tensor cores", "WMMA", "without tensor cores"
  RooflineBound bound;
  Peak peak;
};
std::vector<GpuRoofline> gpu_rooflines(const Gpu& gpu, const GemmProblem& problem);
std::string gpu_roofline_text(const Gpu& gpu, const Workload& workload, const GemmProblem& problem);
std::string gpu_roofline_json(const Provenance& origin, const Gpu& gpu, const Workload& workload,
                              const GemmProblem& problem);

// The beginning of every result (docs/results.md) as JSON text, for results whose rest another
// library writes.
std::string provenance_text(const Provenance& origin);

// For programs: docs/results.md.
std::string kernels_json(const Provenance& origin, const KernelReport& report);

}  // namespace mapsim
