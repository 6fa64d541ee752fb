// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "costmodel/gpu/estimate.hpp"
#include "validate/kernels/nvrtc.hpp"
#include "validate/kernels/source.hpp"

namespace mapsim {

struct CandidateOptions {
  // Of the model's best: three quarters are tiles that all differ (block or warp), each with its
  // best stages, slices, raster and fragment; a quarter the next best of other stages or slices.
  std::size_t top = 16;
  // Drawn from the other legal kernels: half from those predicted within twice the best's time.
  std::size_t sample = 16;
  std::uint64_t seed = 1;
  bool fixed = true;  // and tiles that are the same for every problem: fixed_tiles()
};

// Tiles that somebody without a model would fix for good, in the order of their fame: CUTLASS'
// defaults for tensor cores. What the baseline "static best" is chosen from.
std::vector<KernelChoice> fixed_tiles(const Gpu& gpu, const GemmProblem& problem,
                                      GpuPath path = GpuPath::kWmma);

// Of `all` those that a text can be generated of, as the options say: the best, in the order of a
// search (fastest first, but the best on average before them where a calibration is good for times
// only), then the drawn, then the fixed ones, of the first one's path, that are not among them.
// Deterministic.
std::vector<KernelSpec> choose_candidates(const Gpu& gpu, const KernelSpec& problem,
                                          std::span<const KernelChoice> all,
                                          const CandidateOptions& options);

// How many tiles, of block or warp, these are of.
std::int64_t distinct_tiles(std::span<const KernelChoice> kernels);

// The naive kernel of the problem. The text: why there is none.
std::variant<KernelSpec, std::string> naive_candidate(const Gpu& gpu, const KernelSpec& problem);

// A candidate, compiled.
struct BuiltKernel {
  KernelSpec spec;  // with the registers and spills that the compiler says
  KernelSource source;
  std::string label{};  // of its NVTX ranges
  std::string image;
  Seconds predicted{0};  // with those; 0 of the naive kernel
  std::string refusal;   // why it cannot run; empty: it can
  std::string note{};    // why its cubin is not kept; empty: it is, or nobody asked
};

// The cubin of a text, or what is wrong with it. Called by several threads.
using Compile =
    std::function<std::variant<CompiledKernel, std::string>(const KernelSource& source)>;

// Compiled by `threads` threads and predicted again; those that can run first, fastest first, the
// naive ones after them.
std::vector<BuiltKernel> build_kernels(const Gpu& gpu, std::span<const KernelSpec> candidates,
                                       const Compile& compile, int threads);

}  // namespace mapsim
