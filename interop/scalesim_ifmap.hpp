// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "interop/scalesim_compat.hpp"

namespace mapsim {

// Words of the ifmap read from DRAM under the tool's dataflow if half of the SRAM holds a tile of
// pixels instead of a tile of the unfolded ifmap. The distinct pixels of a tile are read whenever
// the loops around it advance. The tile is kept as far out as it fits: the whole ifmap, a column
// fold, a row fold, or a part of its time; if none fits, every word is read when it is used. The
// tiles are those of scalesim_mapping(); if each pixel is used once (a GEMM), so are the counts.
// `gemm`: scalesim_gemm(layer) or whole_gemm(layer); pixels beyond the ifmap are not read. nullopt:
// windows overlap, and the layer is so large that a walk through them would take too long.
std::optional<std::int64_t> ifmap_pixel_reads(const ScaleSimConfig& config,
                                              const ScaleSimLayer& layer, const ScaleSimGemm& gemm);
// The same with at most `steps`, which is reduced by those taken.
std::optional<std::int64_t> ifmap_pixel_reads(const ScaleSimConfig& config,
                                              const ScaleSimLayer& layer, const ScaleSimGemm& gemm,
                                              std::int64_t& steps);

// The figures of a layer that need walks through requests. All walks of a topology together take
// ten to twenty seconds at most: short ones come first, and figures of the remaining ones are
// unknown.
struct ScaleSimWalk {
  ScaleSimFigures figures;
  std::optional<std::int64_t> pixels;  // ifmap_pixel_reads() of whole_gemm()
};
std::vector<ScaleSimWalk> scalesim_walks(const ScaleSimConfig& config,
                                         const std::vector<ScaleSimLayer>& layers,
                                         std::int64_t steps = 2 * kMostWalkSteps);

}  // namespace mapsim
