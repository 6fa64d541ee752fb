// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/gpu.hpp"
#include "campaign/gpu_layer.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// Other ways than an implicit GEMM to run things on a GPU, each priced from the GEMM kernels that
// it consists of.

// What a kernel does, apart from each other.
struct KernelParts {
  double compute = 0;    // [s] SMs at work, memory aside
  double launch = 0;     // [s]
  double bandwidth = 0;  // [B/s] that it reaches
};
KernelParts parts_of(const Gpu& gpu, const GpuEstimate& estimate);

struct AlgorithmCost {
  double seconds = 0;
  double energy = 0;  // [pJ]
  double bytes = 0;   // through DRAM
  std::string how;
};

// A convolution by F(m x m, 3 x 3) (Lavin and Gray, arXiv 1509.09308): (m + 2)^2 products for m^2
// outputs, as many GEMMs at once, and additions for both transforms; those of weights are made
// beforehand.
struct Winograd {
  std::int64_t m = 2;
  // FMA instructions do all in one kernel, m = 2; else three kernels, between which the transformed
  // tensors go through memory.
  bool one_kernel = false;
};
// "winograd F(2x2, 3x3) by 3 kernels"
std::string to_string(const Winograd& how);
// All that are priced.
inline constexpr Winograd kWinograds[] = {{2, true}, {2, false}, {4, false}};
// The text: why there is none.
struct WinogradAnswer {
  std::optional<AlgorithmCost> cost{};
  std::string problem;
};
WinogradAnswer winograd_on_gpu(const Gpu& gpu, const Workload& workload, const Winograd& how,
                               SearchEnd end = SearchEnd::max());

// A layer whose weights are pruned 2:4, by the fastest kernel of sparse tensor cores, which skip
// those zeros and read 9/16 of weights of 16 b, 5/8 of 8 b. Their tiles are large and K is not
// split, so that small layers lose. The text: why there is none.
struct PrunedAnswer {
  std::optional<AlgorithmCost> cost{};
  std::string problem;
  double least_gain = 1;  // over another kernel, below which it is not taken
};
PrunedAnswer pruned_on_gpu(const Gpu& gpu, const Workload& workload, bool adds,
                           SearchEnd end = SearchEnd::max());

// Time steps in one kernel that stays on the chip: `step` is what one of them takes as a kernel of
// its own, `weights` its bytes of weights. They are read once where registers and shared memory
// hold them, else in every step, from L2 if they fit there.
double persistent_seconds(const Gpu& gpu, const KernelParts& step, double weights,
                          std::int64_t steps);

}  // namespace mapsim
