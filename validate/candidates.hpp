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

// Which kernels of a problem are measured.
struct CandidateOptions {
  // Number of kernels that the model predicts to be fastest. Three quarters of them differ in their
  // tiles (block or warp), each with its best stages, slices, raster and fragment; the others are
  // the next best with other stages or slices.
  std::size_t top = 16;
  // Number drawn from the other legal kernels, half of it from those predicted to take at most
  // twice the best's time.
  std::size_t sample = 16;
  std::uint64_t seed = 1;
  bool fixed = true;  // also those of fixed_tiles()
};

// Kernels with the tiles that one would use for every problem without a model: CUTLASS's defaults
// for tensor cores, best known first. The baseline "static best" chooses from them.
std::vector<KernelChoice> fixed_tiles(const Gpu& gpu, const GemmProblem& problem,
                                      GpuPath path = GpuPath::kWmma);

// The kernels of `all` to measure, among those that mapsim can write (not_generated()): first the
// best in the order of a search, then the drawn ones, then the fixed tiles of the first one's path
// that are not among them. If a calibration is good for times only, the kernel that is best on
// average comes first. Deterministic.
std::vector<KernelSpec> choose_candidates(const Gpu& gpu, const KernelSpec& problem,
                                          std::span<const KernelChoice> all,
                                          const CandidateOptions& options);

// Number of distinct tiles (block and warp) among kernels.
std::int64_t distinct_tiles(std::span<const KernelChoice> kernels);

// The naive kernel of the problem (KernelSpec::naive). The text: why there is none.
std::variant<KernelSpec, std::string> naive_candidate(const Gpu& gpu, const KernelSpec& problem);

// A compiled candidate.
struct BuiltKernel {
  KernelSpec spec;  // with the compiler's registers and spills
  KernelSource source;
  std::string label{};   // of its NVTX ranges
  std::string image;     // the cubin
  Seconds predicted{0};  // with these registers; 0 of the naive kernel
  std::string refusal;   // why it cannot run; empty: it can
  std::string note{};    // why its cubin is not in the cache; empty: it is, or there is no cache
};

// Compiles a kernel; the text: why it cannot be compiled. Called by several threads.
using Compile =
    std::function<std::variant<CompiledKernel, std::string>(const KernelSource& source)>;

// Compiles the candidates with `threads` threads and predicts their times again. The order is:
// those that can run, fastest first; naive ones; those that cannot run.
std::vector<BuiltKernel> build_kernels(const Gpu& gpu, std::span<const KernelSpec> candidates,
                                       const Compile& compile, int threads);

}  // namespace mapsim
