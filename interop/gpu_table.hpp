// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "costmodel/gpu/measurement.hpp"

namespace mapsim {

// What a table does not say itself.
struct GpuTableContext {
  std::string gpu;                          // where the table has no such column
  std::optional<GpuPrecision> precision{};  // where it has none
  std::optional<GemmTile> problem{};        // M, N, K where it is about one problem
  std::string origin;                       // goes into every row
  std::optional<bool> hot{};  // of rows that do not say: as GpuMeasurement::hot or cold
};

struct GpuTableImport {
  std::string kind;  // "leetcuda", "neusight", ...
  std::vector<GpuMeasurement> measurements;
  std::vector<std::string> notes;  // what was left out, or assumed, and how often
};

// Tables of GEMM timings that others publish, recognised by their columns
// (docs/gpu_calibration.md):
//   plain       m,n,k and latency_us, latency_ms or time_ms: kernels that a library chose
//               (AIConfigurator, LLMCompass)
//   leetcuda    LeetCUDA's hgemm: label, family, warps, warp_frag_m, BM, stages, ...
//   neusight    tile_m, grid_x, block, ...: cuBLAS kernels in FP32 with their tiles
//   clblast     Kernel Tuner on CLBlast's Xgemm: MWG, NWG, MDIMC, ...
//   triton      Triton's regression figures: util_of_peak_at_clock
//   deepbench   transA, transB
//   neusight_conv, deepbench_conv: forward convolutions in FP32 by implicit GEMM
//   cutlass     cutlass_profiler: Operation, cta_m, Runtime, ...
//   t4          Kernel Tuner's T4 JSON, of CLBlast or of BLOCK_M, BLOCK_N, ... parameters
// Throws ConfigError with everything that is wrong, the lack of a context included; and for tables
// that are known to hold no GEMM timings, with what they hold.
GpuTableImport import_gpu_table(const std::string& text, const std::string& filename,
                                const GpuTableContext& context);

}  // namespace mapsim
