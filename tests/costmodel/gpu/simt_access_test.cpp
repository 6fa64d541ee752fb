// SPDX-License-Identifier: Apache-2.0
#include "costmodel/gpu/simt_access.hpp"

#include <gtest/gtest.h>

#include "costmodel/gpu/estimate.hpp"
#include "tests/costmodel/gpu/chips.hpp"

namespace mapsim::simt_access_test {
namespace {

// 16 x 8 threads on a tile of 128 x 128 x 32, as CLBlast lays them.
KernelChoice clblast(std::int64_t vector_m, std::int64_t vector_n) {
  KernelChoice kernel;
  kernel.path = GpuPath::kSimt;
  kernel.block = {128, 128, 32};
  kernel.fragment = {8, 16, 1};
  kernel.warp = {128, 32, 32};
  kernel.stages = 1;
  kernel.raster = 0;
  kernel.padding = 0;
  kernel.simt = {vector_m, vector_n, 16, 16};
  return kernel;
}

TEST(SimtAccess, WavefrontsAreThoseOfAWalkOverTheBanks) {
  EXPECT_EQ(piece_wavefronts(32, 4, 0, 4), 1);    // a word each, side by side
  EXPECT_EQ(piece_wavefronts(32, 16, 0, 16), 4);  // 512 B
  EXPECT_EQ(piece_wavefronts(1, 0, 0, 16), 1);    // all the same
  EXPECT_EQ(piece_wavefronts(32, 8, 0, 4), 2);    // every other bank
  EXPECT_EQ(piece_wavefronts(32, 128, 0, 4), 32);
  EXPECT_EQ(piece_wavefronts(16, 32, 0, 4), 4);  // 16 columns of 8 words, twice: 4 banks
  EXPECT_EQ(piece_wavefronts(8, 4, 128, 4), 4);  // rows of 8 words, 4 of them in the same banks
  EXPECT_EQ(piece_wavefronts(8, 4, 160, 4), 1);  // rows that begin 8 banks further
}

// Parts of 8 elements: one at a time its neighbours meet in 4 banks; four at a time in fewer loads.
TEST(SimtAccess, WiderLoadsTakeFewerInstructionsAndWavefronts) {
  const GemmProblem problem = square(4096, GpuPrecision::kF32);
  const FragmentLoads narrow = explicit_loads(problem, clblast(1, 1));
  const FragmentLoads wide = explicit_loads(problem, clblast(4, 4));
  EXPECT_EQ(narrow.instructions, 8 + 16);
  EXPECT_EQ(wide.instructions, 2 + 4);
  EXPECT_EQ(narrow.wavefronts, 8 * 4 + 16 * 1);
  EXPECT_EQ(wide.wavefronts, 2 * 4 + 4 * 1);
  // No instruction moves more than 16 B.
  EXPECT_EQ(explicit_loads(problem, clblast(8, 8)).instructions, wide.instructions);
}

// 32 x 128 elements of each operand, loaded and stored once.
TEST(SimtAccess, CopiesMoveTheTileOnce) {
  const GemmProblem problem = square(4096, GpuPrecision::kF32);
  EXPECT_EQ(explicit_copies(problem, clblast(1, 1)).instructions, 2 * 2 * 32 * 128 / 32);
  EXPECT_EQ(explicit_copies(problem, clblast(4, 2)).instructions, 2 * 32 * 128 / 32 * (0.25 + 0.5));
  EXPECT_LT(explicit_copies(problem, clblast(4, 4)).wavefronts,
            explicit_copies(problem, clblast(1, 1)).wavefronts);
}

TEST(SimtAccess, CountsInTheTimeOfAKernel) {
  const Gpu gpu = chip("rtx3090");
  const GemmProblem problem = square(4096, GpuPrecision::kF32);
  const auto total = [&](std::int64_t m, std::int64_t n) {
    return estimate(gpu, {}, problem, clblast(m, n)).time.total.count();
  };
  EXPECT_LT(total(4, 4), total(2, 2));
  EXPECT_LT(total(2, 2), 0.9 * total(1, 1));
  EXPECT_EQ(to_string(clblast(4, 2)).find(" vectors 4x2 loaders 16x16"),
            to_string(clblast(4, 2)).size() - 26);
}

}  // namespace
}  // namespace mapsim::simt_access_test
