// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "interop/scalesim_compat.hpp"

namespace mapsim {

// Words of the ifmap that DRAM hands out under the tool's dataflow if half of the SRAM holds a tile
// of pixels, not of the unfolded ifmap: each tile's distinct pixels, whole, whenever the loops
// around it move on. The tile lies as far out as it fits: the whole ifmap, a column fold, a row
// fold, a part of its time; where not even that fits, every word comes when it is used. The tiles
// are those of scalesim_mapping(), whose counts these are where a pixel is used once (a GEMM).
// `gemm`: scalesim_gemm(layer) or whole_gemm(layer); what lies beyond the ifmap is not read.
// nullopt: windows that overlap, of so large a layer that a walk through them would take too long.
std::optional<std::int64_t> ifmap_pixel_reads(const ScaleSimConfig& config,
                                              const ScaleSimLayer& layer, const ScaleSimGemm& gemm);
// The same with at most `steps`, less those taken.
std::optional<std::int64_t> ifmap_pixel_reads(const ScaleSimConfig& config,
                                              const ScaleSimLayer& layer, const ScaleSimGemm& gemm,
                                              std::int64_t& steps);

// What needs walks, of each layer of a topology. All walks together take ten to twenty seconds
// at most: short ones come first, and what is left over is not known.
struct ScaleSimWalk {
  ScaleSimFigures figures;
  std::optional<std::int64_t> pixels;  // of whole_gemm()
};
std::vector<ScaleSimWalk> scalesim_walks(const ScaleSimConfig& config,
                                         const std::vector<ScaleSimLayer>& layers,
                                         std::int64_t steps = 2 * kMostWalkSteps);

}  // namespace mapsim
