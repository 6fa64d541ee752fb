// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "core/bytes.hpp"
#include "costmodel/gpu/kernel.hpp"

namespace mapsim {

// Shared memory serves one wavefront a cycle: up to 128 B, each of 32 banks giving 4 B.
inline constexpr std::int64_t kWavefront = 128;

// From one row of a tile to the next, padding included. A in rows of K, or of M if it lies
// column-major; B in rows of K, or of N if it lies row-major.
std::int64_t shared_row_bytes(const GemmProblem& problem, const KernelChoice& kernel, bool of_a);

// The tiles of A and B for one K step, padding included.
Bytes shared_tile_bytes(const GemmProblem& problem, const KernelChoice& kernel);

// What a block takes: the tiles of all stages and, if the TMA loads them, two barriers per stage.
Bytes shared_bytes(const GemmProblem& problem, const KernelChoice& kernel);

// Wavefronts of a load of 8 rows of 16 B, `row_bytes` (a multiple of 16) apart, over the one that
// they could be: ldmatrix reads such, and so do the fragment loads of 4 B per lane, where 4 lanes
// share a row. The rows start in 8 / gcd(row_bytes / 16, 8) of the 8 groups of banks. Equals a walk
// over the banks: tests/costmodel/gpu.
std::int64_t bank_conflict(std::int64_t row_bytes);

// The loads of a warp per fragment.k along K.
struct FragmentLoads {
  double wavefronts = 0;    // with bank conflicts
  double instructions = 0;  // ldmatrix, or plain loads if the compiler makes those
};
FragmentLoads fragment_loads(const Gpu& gpu, const GemmProblem& problem,
                             const KernelChoice& kernel);

// Wavefronts that write A and B of a K step. cp.async writes what comes from one line of memory
// (128 B) at once, so a row that is shorter takes a wavefront of its own; plain stores and the TMA
// fill them. A published count says so: 3.4226e9 of a kernel with rows of 64 B and 256 B, which
// this gives to 0.002 % (bytes / 128 alone: 2 % less).
double copy_wavefronts(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel);

// MMA instructions that the compiler makes of one fragment.
double mma_instructions(const Gpu& gpu, const GemmProblem& problem, const KernelChoice& kernel);

}  // namespace mapsim
