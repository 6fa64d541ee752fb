// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "arch/arch.hpp"
#include "costmodel/gpu/estimate.hpp"
#include "costmodel/mapping.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// A kernel as a mapping of the common kind (docs/decisions/0016): DRAM, L2, clusters of SMs, an
// SM per resident block, shared memory, warps, registers, and an MMA operation as an array of MACs
// that share operands and add up sums.
struct GpuNest {
  Arch arch;
  Workload workload;  // Z[H][M][N] += A[H][M][K] * B[H][K][N]; H: batches and slices of K
  Mapping mapping;
};

// The counted extents: the problem itself (for L2 and DRAM, since copies stop at the edge), or the
// executed tiles with zeros (for shared memory and registers).
enum class GpuExtent : std::uint8_t { kProblem, kTiles };

// `kernel` need not be legal. The last slice of K counts as the others where they do not divide K.
// An implicit GEMM is counted by its matrix A, not by the input in memory.
GpuNest lower(const GemmProblem& problem, const KernelChoice& kernel, const GpuWaves& waves,
              CacheHolds holds, GpuExtent extent);

}  // namespace mapsim
