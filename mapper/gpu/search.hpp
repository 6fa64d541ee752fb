// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/gpu/convolution.hpp"
#include "costmodel/gpu/estimate.hpp"

namespace mapsim {

// When a search should end.
using SearchEnd = std::chrono::steady_clock::time_point;

struct GpuSearchOptions {
  std::optional<GpuPath> path{};  // nullopt: mma, on Hopper also wgmma where the TMA can feed it;
                                  // simt where a form says so
  std::size_t top = 10;
  const std::atomic<bool>* stop = nullptr;  // set by the caller: return without kernels
  // After this a tile is tried only with the fewest stages and K whole, and the best of what has
  // been tried is the answer: other kernels may be faster. A search that begins after it tries
  // tiles of four warps.
  SearchEnd end = SearchEnd::max();
};

struct RankedKernel {
  KernelChoice kernel;
  std::size_t form = 0;  // index into the result's forms
  GpuEstimate estimate;
  GpuWork work;
  Seconds passes{0};  // extra passes besides the kernel
  Seconds total{0};   // kernel and passes
  std::int64_t same =
      0;  // other kernels with exactly this prediction, of which this one is the first
  // Its distance to the fastest is below what the model, or a measurement, can distinguish.
  bool as_good_as_first = false;
  // The kernel that is best on average, which comes first if the model predicts times well, but
  // choices badly.
  bool is_fixed = false;
};

struct GpuSearchResult {
  std::vector<GemmForm> forms;
  GpuCalibration calibration;        // of the fastest kernel
  std::vector<RankedKernel> ranked;  // fastest first, `top` at most
  std::int64_t considered = 0;
  std::int64_t legal = 0;
  std::int64_t as_good_as_first = 0;  // of all legal kernels, including the first
  bool interrupted = false;           // by options.stop: `ranked` is empty
};

// Ranks the legal kernels of the declared set by predicted time, and costs those that can be ranked
// or count as good as the first, best bound first. Equal times are ordered by the kernels
// themselves, so the result depends on nothing else. The set: blocks and warps of powers of two
// from 16 to 256, K steps of 64 B and 128 B, 2 to 6 stages, K whole or split up to 32 times,
// rasters 0, 1, 4, 8, 16, clusters of 1 and 2 (docs/gpu.md); of a pruned problem the kernels of
// sparse tensor cores (mapper/gpu/sparse_tiles.hpp). Empty `ranked`: no kernel is legal.
GpuSearchResult search_kernels(const Gpu& gpu, const std::vector<GemmForm>& forms,
                               const GpuSearchOptions& options);

// The paths of a form that such a search looks at: `asked`, or those that can be fastest. WMMA is
// mma.sync with slower loads, so only a search that asks for it looks at it; but it also loads
// operands of 8 bits that lie across K.
std::vector<GpuPath> searched_paths(const Gpu& gpu, const GemmForm& form,
                                    const std::optional<GpuPath>& asked);

// A single kernel, legal for the form `index` of `forms`, with the figures that a search would give
// it.
RankedKernel rank_kernel(const Gpu& gpu, const std::vector<GemmForm>& forms, std::size_t index,
                         const KernelChoice& kernel);

// Fills in fragments and padding that were not chosen: WMMA's first fragment, padded by 16 B; a
// thread's tile of a 32nd of its warp's tile; a warpgroup's whole tile.
KernelChoice completed(const GemmProblem& problem, KernelChoice kernel);

// All kernels of the set on one path, legal or not, in a fixed order.
std::vector<KernelChoice> kernel_set(const Gpu& gpu, const GemmProblem& problem, GpuPath path);

}  // namespace mapsim
