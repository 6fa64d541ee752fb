// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "costmodel/gpu/measurement.hpp"

namespace mapsim {

// Facts about a table that it does not contain.
struct GpuTableContext {
  std::string gpu;                          // for tables without such a column
  std::optional<GpuPrecision> precision{};  // for tables without such a column
  std::optional<GemmTile> problem{};        // M, N, K, for tables of one problem
  std::string origin;                       // goes into every row
  std::optional<bool> hot{};                // for rows without a mark: GpuMeasurement::hot or cold
};

// The measurements of a table.
struct GpuTableImport {
  std::string kind;  // "leetcuda", "neusight", ...
  std::vector<GpuMeasurement> measurements;
  std::vector<std::string> notes;  // rows left out, and assumptions, each with its count
};

// Reads a table of GEMM timings that another project published. Columns tell which
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
// Throws ConfigError with all errors, including missing facts of the context. For tables that are
// known to hold no GEMM timings the error states what they hold.
GpuTableImport import_gpu_table(const std::string& text, const std::string& filename,
                                const GpuTableContext& context);

}  // namespace mapsim
