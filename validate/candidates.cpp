// SPDX-License-Identifier: Apache-2.0
#include "validate/candidates.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "core/rng.hpp"

namespace mapsim {
namespace {

struct Tile {
  std::int64_t m, n, warp_m, warp_n, stages;
};
// NVIDIA/cutlass, default_gemm_configuration.h and the profiler's defaults for sm_80; K steps of 64
// B. Before sm_80 two stages are all there is.
constexpr std::array kTiles{Tile{128, 128, 64, 64, 3}, Tile{128, 128, 64, 32, 4},
                            Tile{128, 64, 64, 32, 4}, Tile{64, 64, 32, 32, 4}};

// In the order of a search (mapper/gpu/search.hpp).
struct Ranked {
  double time = 0;
  bool after_sibling = false;
  KernelChoice kernel;
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return std::tie(a.time, a.after_sibling, a.kernel) <
           std::tie(b.time, b.after_sibling, b.kernel);
  }
};

KernelSpec with(const KernelSpec& problem, const KernelChoice& kernel) {
  KernelSpec spec = problem;
  spec.kernel = kernel;
  return spec;
}

std::vector<Ranked> rank(const Gpu& gpu, const KernelSpec& problem,
                         std::span<const KernelChoice> all) {
  std::vector<Ranked> ranked;
  std::map<GpuPath, GpuCalibration> calibrations;
  for (const KernelChoice& kernel : all) {
    if (!calibrations.contains(kernel.path)) {
      calibrations.emplace(kernel.path, gpu.calibration(problem.problem.precision, kernel.path));
    }
    if (!illegal(gpu, problem.problem, kernel)) {
      const GpuCalibration& calibration = calibrations.at(kernel.path);
      const Seconds total = estimate(gpu, calibration, problem.problem, kernel).time.total;
      const std::optional<Seconds> sibling =
          deeper_sibling(gpu, calibration, problem.problem, kernel, total);
      ranked.push_back(
          {std::max(total, sibling.value_or(total)).count(), sibling.has_value(), kernel});
    }
  }
  std::sort(ranked.begin(), ranked.end());
  return ranked;
}

// What candidates are told apart by: tiles alone, with what decides about latency, with all.
using Key = std::array<std::int64_t, 14>;
Key tiles_of(const KernelChoice& k) {
  return {static_cast<std::int64_t>(k.path), k.block.m, k.block.n, k.block.k, k.warp.m, k.warp.n};
}
Key tiles_and_stages_of(const KernelChoice& k) {
  Key key = tiles_of(k);
  key[6] = k.stages, key[7] = k.split_k;
  return key;
}
Key all_of(const KernelChoice& k) {
  Key key = tiles_and_stages_of(k);
  key[8] = k.fragment.m, key[9] = k.fragment.n, key[10] = k.fragment.k;
  key[11] = k.raster, key[12] = k.padding, key[13] = k.cluster;
  return key;
}

// Kernels chosen so far.
struct Choice {
  const Gpu& gpu;
  const KernelSpec& problem;
  std::vector<Ranked> ranked;
  std::vector<Ranked> chosen{};
  std::set<Key> taken{};  // all_of()

  // False: it is taken, or there is no text of it.
  bool take(const Ranked& kernel) {
    if (taken.contains(all_of(kernel.kernel)) || not_generated(gpu, with(problem, kernel.kernel))) {
      return false;
    }
    taken.insert(all_of(kernel.kernel));
    chosen.push_back(kernel);
    return true;
  }
  // The fastest until there are so many, no two with the same key.
  void take_best(std::size_t most, Key (*key_of)(const KernelChoice&)) {
    std::set<Key> seen;
    for (const Ranked& kernel : chosen) {
      seen.insert(key_of(kernel.kernel));
    }
    for (const Ranked& kernel : ranked) {
      if (chosen.size() >= most) {
        return;
      }
      if (!seen.contains(key_of(kernel.kernel)) && take(kernel)) {
        seen.insert(key_of(kernel.kernel));
      }
    }
  }
  void sort() { std::sort(chosen.begin(), chosen.end()); }
  // The kernel that a search offers first where the model is good for times only.
  void put_fixed_first() {
    if (chosen.empty()) {
      return;
    }
    const auto fixed = best_on_average(gpu, problem.problem, chosen.front().kernel.path);
    if (!fixed || not_generated(gpu, with(problem, *fixed))) {
      return;
    }
    const auto known = std::find_if(chosen.begin(), chosen.end(), [&](const Ranked& kernel) {
      return all_of(kernel.kernel) == all_of(*fixed);
    });
    if (known == chosen.end()) {
      taken.erase(all_of(chosen.back().kernel));
      taken.insert(all_of(*fixed));
      chosen.back() = {0, false, *fixed};
      std::rotate(chosen.begin(), chosen.end() - 1, chosen.end());
    } else {
      std::rotate(chosen.begin(), known, known + 1);
    }
  }
  // Any, until there are so many, of those predicted within so many times the best.
  void draw(std::size_t most, double times, Rng& rng) {
    std::vector<const Ranked*> rest;
    for (const Ranked& kernel : ranked) {
      if (kernel.time <= times * ranked.front().time && !taken.contains(all_of(kernel.kernel))) {
        rest.push_back(&kernel);
      }
    }
    for (std::size_t i = 0; i < rest.size() && chosen.size() < most; ++i) {
      std::swap(rest[i], rest[i + rng.below(rest.size() - i)]);
      take(*rest[i]);
    }
  }
  std::vector<KernelSpec> specs() const {
    std::vector<KernelSpec> result;
    for (const Ranked& kernel : chosen) {
      result.push_back(with(problem, kernel.kernel));
    }
    return result;
  }
};

// What the compiler said, and what follows.
void take(const Gpu& gpu, std::variant<CompiledKernel, std::string> compiled, BuiltKernel& kernel) {
  if (auto* reason = std::get_if<std::string>(&compiled)) {
    kernel.refusal = "does not compile: " + *reason;
    return;
  }
  auto& result = std::get<CompiledKernel>(compiled);
  kernel.image = std::move(result.image);
  kernel.note = std::move(result.cache_problem);
  KernelSpec& spec = kernel.spec;
  if (result.registers > 0) {  // else its log did not say
    spec.kernel.registers = result.registers;
    spec.kernel.spilled_bytes = result.spilled_bytes;
  }
  if (spec.naive) {
    return;
  }
  if (const auto reason = illegal(gpu, spec.problem, spec.kernel)) {
    kernel.refusal = "cannot run as it was compiled: " + *reason;
    return;
  }
  const GpuCalibration calibration = gpu.calibration(spec.problem.precision, spec.kernel.path);
  kernel.predicted = estimate(gpu, calibration, spec.problem, spec.kernel).time.total;
}

}  // namespace

std::vector<KernelChoice> fixed_tiles(const Gpu& gpu, const GemmProblem& problem, GpuPath path) {
  std::vector<KernelChoice> kernels;
  const auto fragments = wmma_fragments(problem.precision);
  const std::int64_t size = operand_size(problem.precision).count();
  for (const Tile& tile : kTiles) {
    if (fragments.empty()) {
      break;
    }
    KernelChoice kernel;
    kernel.path = path;
    kernel.block = {tile.m, tile.n, 64 / size};
    kernel.warp = {tile.warp_m, tile.warp_n, kernel.block.k};
    kernel.fragment = fragments.front();
    kernel.stages = gpu.compute_capability >= 80 ? tile.stages : 2;
    kernel.raster = 8;
    kernel.padding = path == GpuPath::kWmma ? 16 / size : 0;
    kernels.push_back(kernel);
  }
  return kernels;
}

std::int64_t distinct_tiles(std::span<const KernelChoice> kernels) {
  std::set<Key> tiles;
  for (const KernelChoice& kernel : kernels) {
    tiles.insert(tiles_of(kernel));
  }
  return std::ssize(tiles);
}

std::vector<KernelSpec> choose_candidates(const Gpu& gpu, const KernelSpec& problem,
                                          std::span<const KernelChoice> all,
                                          const CandidateOptions& options) {
  Choice choice{gpu, problem, rank(gpu, problem, all)};
  choice.take_best(options.top - options.top / 4, tiles_of);
  choice.take_best(options.top, tiles_and_stages_of);
  choice.take_best(options.top, all_of);
  choice.sort();
  choice.put_fixed_first();
  Rng rng{options.seed};
  const std::size_t best = choice.chosen.size();
  choice.draw(best + (options.sample + 1) / 2, 2, rng);
  choice.draw(best + options.sample, std::numeric_limits<double>::infinity(), rng);
  if (options.fixed && !all.empty()) {
    for (const KernelChoice& kernel : fixed_tiles(gpu, problem.problem, all.front().path)) {
      if (!illegal(gpu, problem.problem, kernel)) {
        choice.take({0, false, kernel});
      }
    }
  }
  return choice.specs();
}

std::variant<KernelSpec, std::string> naive_candidate(const Gpu& gpu, const KernelSpec& problem) {
  const auto fragments = wmma_fragments(problem.problem.precision);
  if (fragments.empty()) {
    return "no fragments";
  }
  KernelSpec spec = problem;
  spec.naive = true;
  spec.kernel = {};
  // Block and warp are the fragment's, that the measurement says what a block computes.
  spec.kernel.fragment = spec.kernel.warp = spec.kernel.block = fragments.front();
  spec.kernel.stages = 1;
  spec.kernel.padding = 0;
  spec.kernel.raster = 0;
  if (auto reason = not_generated(gpu, spec)) {
    return *reason;
  }
  return spec;
}

std::vector<BuiltKernel> build_kernels(const Gpu& gpu, std::span<const KernelSpec> candidates,
                                       const Compile& compile, int threads) {
  std::vector<BuiltKernel> built;
  for (const KernelSpec& spec : candidates) {
    BuiltKernel kernel;
    kernel.spec = spec;
    kernel.source = kernel_source(gpu, spec);
    built.push_back(std::move(kernel));
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < built.size(); i = next++) {
      take(gpu, compile(built[i].source), built[i]);
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < threads; ++i) {
      helpers.emplace_back(work);
    }
    work();
  }
  std::stable_sort(built.begin(), built.end(), [](const BuiltKernel& a, const BuiltKernel& b) {
    return std::tuple{!a.refusal.empty(), a.spec.naive, a.predicted, a.spec.kernel} <
           std::tuple{!b.refusal.empty(), b.spec.naive, b.predicted, b.spec.kernel};
  });
  return built;
}

}  // namespace mapsim
