// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "interop/scalesim.hpp"

namespace mapsim {

// The (implicit) GEMM into which SCALE-Sim unfolds a layer: Z[M][N] += A[M][K] * B[K][N].
struct ScaleSimGemm {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  friend bool operator==(const ScaleSimGemm&, const ScaleSimGemm&) = default;
};

// The extents of the GEMM's dims along the array's rows, its columns and time.
struct ScaleSimFolding {
  std::int64_t rows = 1;     // Sr, along the rows
  std::int64_t columns = 1;  // Sc
  std::int64_t time = 1;     // T
  std::int64_t row_folds = 1;
  std::int64_t column_folds = 1;
  std::int64_t folds() const { return row_folds * column_folds; }
};

// The accesses of one operand.
struct ScaleSimTraffic {
  std::int64_t sram = 0;  // words: reads of an operand, writes of the ofmap
  std::int64_t dram = 0;
  std::int64_t dram_start = 0;  // cycle of the first DRAM access; prefetches are before 0
  friend bool operator==(const ScaleSimTraffic&, const ScaleSimTraffic&) = default;
};

// The figures that SCALE-Sim v3 prints for one layer: at the bandwidths of the configuration or, if
// it has none or needs more than is modelled, at those that the tool computes.
struct ScaleSimFigures {
  // False: simulating the requests would take too long. Stalls (`cycles` is without them),
  // cycles_with_prefetch and all figures of DRAM are then unknown.
  bool walked = true;
  std::int64_t cycles = 0;
  std::int64_t stall_cycles = 0;
  std::int64_t cycles_with_prefetch = 0;
  double overall_utilization = 0;  // percent, like the next two
  double mapping_efficiency = 0;
  double compute_utilization = 0;
  ScaleSimTraffic ifmap, filter, ofmap;
};

// The number of outputs along an axis, of the tool. A slip of the tool: it rounds up even if the
// last window does not fit, so that pixels of the last row and column may lie beyond the ifmap. It
// drops their requests, but counts them.
std::int64_t scalesim_outputs(std::int64_t ifmap, std::int64_t filter, std::int64_t stride);
ScaleSimGemm scalesim_gemm(const ScaleSimLayer& layer);
ScaleSimFolding scalesim_folding(const ScaleSimConfig& config, const ScaleSimGemm& gemm);
// Limit of the steps of a walk through requests, which takes some seconds: a step is about 3 ns.
inline constexpr std::int64_t kMostWalkSteps = std::int64_t{1} << 30;
// The figures of a layer, with a walk of at most `steps`, which is reduced by those taken.
ScaleSimFigures scalesim_figures(const ScaleSimConfig& config, const ScaleSimLayer& layer,
                                 std::int64_t& steps);
ScaleSimFigures scalesim_figures(const ScaleSimConfig& config, const ScaleSimLayer& layer);

}  // namespace mapsim
