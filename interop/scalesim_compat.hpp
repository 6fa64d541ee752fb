// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "interop/scalesim.hpp"

namespace mapsim {

// The (implicit) GEMM of a layer: Z[M][N] += A[M][K] * B[K][N], unfolded as SCALE-Sim does.
struct ScaleSimGemm {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
  friend bool operator==(const ScaleSimGemm&, const ScaleSimGemm&) = default;
};

// The GEMM's dims on the array: rows, columns, time.
struct ScaleSimFolding {
  std::int64_t rows = 1;     // Sr, along the rows
  std::int64_t columns = 1;  // Sc
  std::int64_t time = 1;     // T
  std::int64_t row_folds = 1;
  std::int64_t column_folds = 1;
  std::int64_t folds() const { return row_folds * column_folds; }
};

struct ScaleSimTraffic {
  std::int64_t sram = 0;  // words: reads of an operand, writes of the ofmap
  std::int64_t dram = 0;
  std::int64_t dram_start = 0;  // cycle of the first DRAM access; prefetches are before 0
  friend bool operator==(const ScaleSimTraffic&, const ScaleSimTraffic&) = default;
};

// What SCALE-Sim v3 prints for one layer when it computes the bandwidth (InterfaceBandwidth: CALC).
struct ScaleSimFigures {
  std::int64_t cycles = 0;
  std::int64_t cycles_with_prefetch = 0;
  double overall_utilization = 0;  // percent, like the next two
  double mapping_efficiency = 0;
  double compute_utilization = 0;
  ScaleSimTraffic ifmap, filter, ofmap;
};

ScaleSimGemm scalesim_gemm(const ScaleSimLayer& layer);
ScaleSimFolding scalesim_folding(const ScaleSimConfig& config, const ScaleSimGemm& gemm);
ScaleSimFigures scalesim_figures(const ScaleSimConfig& config, const ScaleSimLayer& layer);

}  // namespace mapsim
