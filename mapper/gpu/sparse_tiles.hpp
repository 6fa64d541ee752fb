// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace mapsim {

// A kernel on sparse tensor cores: its block along the rows of the pruned operand and along the
// other's, a step along K [B of a dense operand], stages, and warps along both.
struct SparseTile {
  std::int64_t pruned, other, step, stages, warps_pruned, warps_other;
};

// What CUTLASS has for sm_80 (generator.py, GenerateSM80_SparseTensorOp_16832, of 16 b, and
// ..._16864_TN, of 8 b). None is smaller than 64 x 64 and none splits K.
inline constexpr std::array kSparseTiles16{
    SparseTile{64, 128, 128, 6, 2, 2},  SparseTile{256, 128, 128, 3, 4, 2},
    SparseTile{128, 256, 128, 3, 2, 4}, SparseTile{128, 128, 128, 3, 2, 2},
    SparseTile{256, 64, 128, 3, 4, 1},  SparseTile{64, 256, 128, 4, 1, 4},
    SparseTile{128, 64, 128, 3, 2, 2},  SparseTile{64, 64, 128, 4, 2, 2},
    SparseTile{128, 128, 256, 3, 2, 4}, SparseTile{256, 64, 256, 3, 4, 1},
    SparseTile{128, 64, 256, 4, 2, 2},  SparseTile{64, 128, 256, 3, 2, 2},
    SparseTile{64, 64, 256, 3, 2, 2}};
inline constexpr std::array kSparseTiles8{
    SparseTile{128, 64, 128, 3, 2, 2},  SparseTile{256, 128, 128, 3, 4, 2},
    SparseTile{128, 256, 128, 3, 2, 4}, SparseTile{128, 128, 128, 3, 2, 2},
    SparseTile{256, 64, 128, 3, 4, 1},  SparseTile{64, 256, 128, 4, 1, 4},
    SparseTile{64, 128, 128, 6, 2, 2},  SparseTile{64, 64, 128, 4, 2, 2},
    SparseTile{128, 128, 256, 3, 2, 2}, SparseTile{128, 64, 256, 4, 2, 2},
    SparseTile{64, 128, 256, 3, 2, 2},  SparseTile{64, 64, 256, 3, 2, 2}};

// Those of an operand of `size` [B].
inline std::span<const SparseTile> sparse_tiles(std::int64_t size) {
  return size == 1 ? std::span<const SparseTile>{kSparseTiles8}
                   : std::span<const SparseTile>{kSparseTiles16};
}

}  // namespace mapsim
