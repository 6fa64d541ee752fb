// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/simt_access.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/arithmetic.hpp"

namespace mapsim {
namespace {

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kBank = 4;     // bytes
constexpr std::int64_t kWidest = 16;  // bytes of a lane in one instruction

// One operand: how a warp lies along it, and how wide it is moved.
struct Side {
  std::int64_t lanes = 1;    // of a warp beside each other along it
  std::int64_t loaders = 1;  // threads that copy a row of the tile
  std::int64_t part = 1;     // elements of a thread
  std::int64_t extent = 1;   // of the block's tile
  std::int64_t vector = 1;   // elements
};

std::array<Side, 2> sides_of(const KernelChoice& kernel) {
  const std::int64_t along_m = kernel.warp.m / kernel.fragment.m;
  const auto row = [](std::int64_t loaders, std::int64_t threads) {
    return loaders > 0 ? loaders : threads;
  };
  return {Side{along_m, row(kernel.simt.loaders_m, kernel.block.m / kernel.fragment.m),
               kernel.fragment.m, kernel.block.m, std::max<std::int64_t>(kernel.simt.vector_m, 1)},
          Side{kLanes / along_m, row(kernel.simt.loaders_n, kernel.block.n / kernel.fragment.n),
               kernel.fragment.n, kernel.block.n, std::max<std::int64_t>(kernel.simt.vector_n, 1)}};
}

// Lines of 128 B that one load of a warp from memory touches, in which rows lie apart.
double lines(std::int64_t lanes_across, std::int64_t across, std::int64_t piece) {
  std::set<std::int64_t> touched;
  for (std::int64_t lane = 0; lane < lanes_across; ++lane) {
    touched.insert(lane * across / kWavefront);
  }
  const std::int64_t rows = ceil_div(kLanes, lanes_across);
  return std::max(real(rows) * real(std::ssize(touched)), real(kLanes * piece) / real(kWavefront));
}

}  // namespace

std::int64_t piece_wavefronts(std::int64_t lanes_across, std::int64_t across, std::int64_t down,
                              std::int64_t piece) {
  std::array<std::set<std::int64_t>, 32> rows_of_bank;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    const std::int64_t at = lane % lanes_across * across + lane / lanes_across * down;
    for (std::int64_t word = at / kBank; word * kBank < at + piece; ++word) {
      rows_of_bank[static_cast<std::size_t>(word % 32)].insert(word / 32);
    }
  }
  std::size_t most = 1;
  for (const auto& rows : rows_of_bank) {
    most = std::max(most, rows.size());
  }
  return static_cast<std::int64_t>(most);
}

FragmentLoads explicit_loads(const GemmProblem& problem, const KernelChoice& kernel) {
  const std::int64_t size = operand_size(problem.precision).count();
  FragmentLoads loads;
  bool is_along_m = true;
  for (const Side& side : sides_of(kernel)) {
    const std::int64_t piece = std::min({side.vector, side.part, kWidest / size}) * size;
    const std::int64_t count = ceil_div(side.part * size, piece);
    // Lanes of one column of threads share B, those of one row A.
    const std::int64_t across = is_along_m ? side.part * size : 0;
    const std::int64_t down = is_along_m ? 0 : side.part * size;
    const std::int64_t columns = is_along_m ? side.lanes : kLanes / side.lanes;
    loads.instructions += real(count);
    loads.wavefronts += real(count * piece_wavefronts(columns, across, down, piece));
    is_along_m = false;
  }
  return loads;
}

FragmentLoads explicit_copies(const GemmProblem& problem, const KernelChoice& kernel) {
  const std::int64_t size = operand_size(problem.precision).count();
  FragmentLoads copies;
  for (const Side& side : sides_of(kernel)) {
    const std::int64_t part = std::max<std::int64_t>(side.extent / side.loaders, 1);
    const std::int64_t piece = std::min({side.vector, part, kWidest / size}) * size;
    const double count =
        real(side.extent * kernel.block.k * size) / real(piece * kLanes);  // of warps
    const std::int64_t across = std::min(side.loaders, kLanes);
    const std::int64_t rows = std::max<std::int64_t>(kernel.threads() / side.loaders, 1);
    const std::int64_t down = side.extent * std::max<std::int64_t>(kernel.block.k / rows, 1);
    copies.instructions += 2 * count;
    copies.wavefronts += count * (real(piece_wavefronts(across, part * size, down * size, piece)) +
                                  lines(across, part * size, piece));
  }
  return copies;
}

}  // namespace mapsim
