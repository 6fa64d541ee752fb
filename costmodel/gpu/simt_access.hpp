// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "costmodel/gpu/kernel.hpp"
#include "costmodel/gpu/shared_memory.hpp"

namespace mapsim {

// FMA kernels that state the width of their loads and the places of threads in a tile (SimtAccess),
// such as CLBlast's: a thread's part of a row is contiguous, so adjacent threads are a part apart.
// Wavefronts are counted by a walk over the 32 banks.

// Wavefronts in which one warp moves pieces of `piece` bytes. Lane i is in column i % lanes_across
// and row i / lanes_across; columns lie `across`, rows `down` bytes apart. Equal addresses are one.
std::int64_t piece_wavefronts(std::int64_t lanes_across, std::int64_t across, std::int64_t down,
                              std::int64_t piece);

// Loads of a warp from shared memory per step along K, with `kernel.simt.vector_*` set.
FragmentLoads explicit_loads(const GemmProblem& problem, const KernelChoice& kernel);

// Copies of A and B by all warps of a block per K step, from L2 through registers to shared memory:
// loads, and stores in pieces of the same width.
FragmentLoads explicit_copies(const GemmProblem& problem, const KernelChoice& kernel);

}  // namespace mapsim
