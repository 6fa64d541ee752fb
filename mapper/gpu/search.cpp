// SPDX-License-Identifier: Apache-2.0
#include "mapper/gpu/search.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "mapper/gpu/sparse_tiles.hpp"

namespace mapsim {
namespace {

constexpr std::array<std::int64_t, 6> kBlockSides{8, 16, 32, 64, 128, 256};
constexpr std::array<std::int64_t, 5> kWarpSides{8, 16, 32, 64, 128};
constexpr std::array<std::int64_t, 2> kRowBytes{64, 128};
constexpr std::array<std::int64_t, 5> kStages{2, 3, 4, 5, 6};
constexpr std::array<std::int64_t, 6> kSplits{1, 2, 4, 8, 16, 32};
constexpr std::array<std::int64_t, 5> kRasters{0, 1, 4, 8, 16};
constexpr std::array<std::int64_t, 2> kClusters{1, 2};  // of warpgroup kernels
constexpr std::int64_t kMostWarps = 16;
// Padding of a row in shared memory for WMMA [B]. 0: least memory. 16: no bank conflicts for any
// row that is searched. 32: rows begin at multiples of 32 B, as load_matrix_sync asks of pointers.
constexpr std::array<std::int64_t, 3> kPaddings{0, 16, 32};

// The fragments of a warp's tile on a path. Only WMMA has a choice: ldmatrix feeds instructions of
// 16x8, whatever a kernel calls its fragment.
std::vector<GemmTile> fragments_for(const GemmProblem& problem, GpuPath path,
                                    const GemmTile& warp) {
  const std::int64_t size = operand_size(problem.precision).count();
  switch (path) {
    case GpuPath::kWgmma:
      return warp.m == 64 || warp.n == 64 ? std::vector<GemmTile>{{warp.m, warp.n, 32 / size}}
                                          : std::vector<GemmTile>{};
    case GpuPath::kSimt:
      return {{warp.m / 8, warp.n / 4, 1}};
    case GpuPath::kWmma:
    case GpuPath::kMma:
      break;
  }
  const auto all = wmma_fragments(problem.precision);
  const auto tried = path == GpuPath::kWmma ? all : all.first(std::min<std::size_t>(all.size(), 1));
  std::vector<GemmTile> fitting;
  for (const GemmTile& fragment : tried) {
    if (warp.m % fragment.m == 0 && warp.n % fragment.n == 0) {
      fitting.push_back(fragment);
    }
  }
  return fitting;
}

// Adds the tiles of a block and its warps; everything else is as in `kernel`.
void add_tiles(const GemmProblem& problem, KernelChoice kernel, std::int64_t depth,
               std::vector<KernelChoice>& tiles) {
  const bool wide = kernel.path == GpuPath::kWgmma;
  for (const std::int64_t block_m : kBlockSides) {
    for (const std::int64_t block_n : kBlockSides) {
      kernel.block = {block_m, block_n, depth};
      for (const std::int64_t warp_m : wide ? std::span<const std::int64_t>{kBlockSides}
                                            : std::span<const std::int64_t>{kWarpSides}) {
        for (const std::int64_t warp_n : wide ? std::span<const std::int64_t>{kBlockSides}
                                              : std::span<const std::int64_t>{kWarpSides}) {
          kernel.warp = {warp_m, warp_n, depth};
          if (warp_m > block_m || warp_n > block_n || kernel.warps() > kMostWarps) {
            continue;
          }
          for (const GemmTile& fragment : fragments_for(problem, kernel.path, kernel.warp)) {
            kernel.fragment = fragment;
            tiles.push_back(kernel);
          }
        }
      }
    }
  }
}

// Kernels of sparse tensor cores, with B pruned: those of CUTLASS on mma.sync, and those of
// `dense` on wgmma whose tiles are no smaller, K whole.
std::vector<KernelChoice> sparse_kernels(const GemmProblem& problem, GpuPath path,
                                         std::vector<KernelChoice> dense) {
  constexpr std::int64_t kLeast = 64;
  if (path == GpuPath::kWgmma) {
    std::erase_if(dense, [](const KernelChoice& kernel) {
      return kernel.split_k > 1 || kernel.block.m < kLeast || kernel.block.n < kLeast;
    });
    return dense;
  }
  std::vector<KernelChoice> kernels;
  const std::int64_t size = operand_size(problem.precision).count();
  if (path != GpuPath::kMma || size > 2) {
    return kernels;
  }
  for (const SparseTile& tile : sparse_tiles(size)) {
    KernelChoice kernel;
    kernel.path = path;
    kernel.block = {tile.other, tile.pruned, tile.step / size};
    kernel.warp = {tile.other / tile.warps_other, tile.pruned / tile.warps_pruned, kernel.block.k};
    kernel.stages = tile.stages;
    kernel.fragment = {0, 0, 0};
    kernels.push_back(completed(problem, kernel));
  }
  return kernels;
}

// Of the kernels of a tile the one that asks for least; if it is refused, so are the others.
bool asks_for_least(const KernelChoice& kernel) {
  return kernel.stages == kStages.front() && kernel.split_k == 1 && kernel.cluster == 1;
}

// The set, without its rasters; `few`: of each tile of four warps the kernel that asks for least.
std::vector<KernelChoice> kernels_of_one_raster(const Gpu& gpu, const GemmProblem& problem,
                                                GpuPath path, bool few = false) {
  const std::int64_t size = operand_size(problem.precision).count();
  KernelChoice kernel;
  kernel.path = path;
  std::vector<KernelChoice> tiles;
  for (const std::int64_t bytes : kRowBytes) {
    for (const std::int64_t padding : kPaddings) {
      kernel.padding = padding / size;
      if (padding == 0 || path == GpuPath::kWmma) {
        add_tiles(problem, kernel, bytes / size, tiles);
      }
    }
  }
  std::vector<KernelChoice> kernels;
  if (few) {
    constexpr std::int64_t kWarps = 4;
    std::erase_if(tiles, [](const KernelChoice& tile) { return tile.warps() != kWarps; });
    for (KernelChoice& tile : tiles) {
      tile.stages = kStages.front();
    }
    return tiles;
  }
  kernels.reserve(tiles.size() * kStages.size() * kSplits.size() *
                  (path == GpuPath::kWgmma ? kClusters.size() : 1));
  for (KernelChoice& tile : tiles) {
    for (const std::int64_t stages : kStages) {
      for (const std::int64_t split : kSplits) {
        if ((stages > 2 && gpu.compute_capability < 80) || (split > 1 && split * 64 > problem.k)) {
          continue;
        }
        tile.stages = stages;
        tile.split_k = split;
        for (const std::int64_t cluster : kClusters) {
          tile.cluster = cluster;
          if (cluster == 1 || path == GpuPath::kWgmma) {
            kernels.push_back(tile);
          }
        }
      }
    }
  }
  return problem.pruned_b ? sparse_kernels(problem, path, std::move(kernels)) : kernels;
}

struct KernelCandidate {
  Seconds key{0};  // total, or that of a kernel that is ranked before it; with its handicap
  std::size_t form = 0;
  bool waived = false;
  KernelChoice kernel;
  Seconds total{0};
  friend bool operator<(const KernelCandidate& a, const KernelCandidate& b) {
    return std::tie(a.key, a.form, a.waived, a.kernel) <
           std::tie(b.key, b.form, b.waived, b.kernel);
  }
};

bool is_stopped(const GpuSearchOptions& options) {
  return options.stop != nullptr && options.stop->load(std::memory_order_relaxed);
}

bool is_late(const GpuSearchOptions& options) {
  return options.end != SearchEnd::max() && std::chrono::steady_clock::now() >= options.end;
}

// What multiplies a form's times in the order of kernels: where dense forms compete, sparse ones
// have to be faster by more than their prediction is wrong.
double handicap(const Gpu& gpu, const std::vector<GemmForm>& forms, std::size_t index) {
  const bool competes = std::any_of(forms.begin(), forms.end(),
                                    [](const GemmForm& form) { return !form.problem.pruned_b; });
  const GemmProblem& problem = forms[index].problem;
  return competes && problem.pruned_b ? least_gain_of_pruning(gpu, problem) : 1;
}

// A kernel with its rasters: they are legal together, and share a bound of their times.
struct Rasters {
  Seconds bound{0};  // passes included
  std::size_t form = 0;
  KernelChoice kernel;
};

bool has_tiles_of(const KernelChoice& a, const KernelChoice& b) {
  return std::tie(a.block, a.warp, a.fragment, a.padding) ==
         std::tie(b.block, b.warp, b.fragment, b.padding);
}

// Bounds of all legal kernels of a form on a path, or of few; once time is over, of those that ask
// for least.
void add_rasters(const Gpu& gpu, const std::vector<GemmForm>& forms, std::size_t index,
                 GpuPath path, bool few, const GpuSearchOptions& options, GpuSearchResult& result,
                 std::vector<Rasters>& open) {
  const GemmForm& form = forms[index];
  const double longer = handicap(gpu, forms, index);
  const GpuCalibration calibration = gpu.calibration(form.problem.precision, path);
  const Seconds passes = pass_time(gpu, calibration, form);
  const std::int64_t rasters = std::ssize(kRasters);
  std::optional<KernelChoice> refused;
  bool late = false;
  for (const KernelChoice& kernel :
       kernels_of_one_raster(gpu, form.problem, path, few && !form.problem.pruned_b)) {
    if (is_stopped(options)) {
      return;
    }
    const bool is_least = asks_for_least(kernel);
    late = late || is_late(options);
    if (late && !is_least && !form.problem.pruned_b) {
      continue;
    }
    result.considered += rasters;
    if (refused && has_tiles_of(*refused, kernel)) {
      continue;
    }
    if (!illegal(gpu, form.problem, kernel)) {
      result.legal += rasters;
      const Seconds least = least_time(gpu, calibration, form.problem, kernel) + passes;
      open.push_back({Seconds{least.count() * longer}, index, kernel});
    } else if (is_least) {
      refused = kernel;
    }
  }
}

// Which times can still matter: those that are not above the `top`-th different time, nor too far
// above the first to be told apart from it.
class Cutoff {
 public:
  Cutoff(std::size_t top, double resolution) : top_{top}, resolution_{resolution} {}

  void add(const KernelCandidate& candidate) {
    const auto [known, is_new] = keys_.try_emplace(candidate.total, candidate.key);
    if (!is_new && known->second <= candidate.key) {
      return;
    }
    if (!is_new) {
      ordered_.erase({known->second, candidate.total});
      known->second = candidate.key;
    }
    ordered_.insert({candidate.key, candidate.total});
    if (ordered_.size() > top_) {
      keys_.erase(ordered_.rbegin()->second);
      ordered_.erase(std::prev(ordered_.end()));
    }
  }
  bool excludes(Seconds bound) const {
    if (ordered_.size() < top_) {
      return false;
    }
    const Seconds first = ordered_.begin()->first;
    const double near = first.count() * (1 + std::max(resolution_, 2 * timing_noise(first)));
    return bound.count() > std::max(near, ordered_.rbegin()->first.count());
  }

 private:
  std::size_t top_;
  double resolution_;                              // the coarsest of all paths'
  std::map<Seconds, Seconds> keys_;                // by time
  std::set<std::pair<Seconds, Seconds>> ordered_;  // key and time of the `top` best different times
};

KernelCandidate candidate_of(const Gpu& gpu, const GpuCalibration& calibration,
                             const std::vector<GemmForm>& forms, std::size_t index,
                             const KernelChoice& kernel) {
  const GemmForm& form = forms[index];
  const Seconds passes = pass_time(gpu, calibration, form);
  const Seconds total = estimate(gpu, calibration, form.problem, kernel).time.total;
  const std::optional<Seconds> deeper =
      deeper_sibling(gpu, calibration, form.problem, kernel, total);
  const Seconds key = std::max(total, deeper.value_or(total)) + passes;
  return {Seconds{key.count() * handicap(gpu, forms, index)}, index, deeper.has_value(), kernel,
          total + passes};
}

// The candidates that can be ranked or counted, best bound first. Ends early if `stop` is set.
std::vector<KernelCandidate> candidates_of(const Gpu& gpu, const std::vector<GemmForm>& forms,
                                           const GpuSearchOptions& options,
                                           GpuSearchResult& result) {
  std::vector<Rasters> open;
  double resolution = 0;
  const auto add = [&](bool few) {
    for (std::size_t i = 0; i < forms.size(); ++i) {
      for (const GpuPath path : searched_paths(gpu, forms[i], options.path)) {
        add_rasters(gpu, forms, i, path, few, options, result, open);
        resolution =
            std::max(resolution, gpu.calibration(forms[i].problem.precision, path).resolution);
      }
    }
  };
  const bool few = is_late(options);
  add(few);
  if (few && open.empty()) {
    add(false);
  }
  std::vector<std::pair<Seconds, std::size_t>> order;  // a heap: bounds, least first
  order.reserve(open.size());
  for (std::size_t i = 0; i < open.size(); ++i) {
    order.emplace_back(open[i].bound, i);
  }
  std::make_heap(order.begin(), order.end(), std::greater<>{});
  std::vector<KernelCandidate> candidates;
  Cutoff cutoff{std::max<std::size_t>(options.top, 1), resolution};
  while (!order.empty() && !cutoff.excludes(order.front().first) && !is_stopped(options) &&
         (candidates.empty() || !is_late(options))) {
    std::pop_heap(order.begin(), order.end(), std::greater<>{});
    Rasters& next = open[order.back().second];
    order.pop_back();
    const GemmForm& form = forms[next.form];
    const GpuCalibration calibration = gpu.calibration(form.problem.precision, next.kernel.path);
    for (const std::int64_t raster : kRasters) {
      next.kernel.raster = raster;
      candidates.push_back(candidate_of(gpu, calibration, forms, next.form, next.kernel));
      cutoff.add(candidates.back());
    }
  }
  result.interrupted = is_stopped(options);
  return candidates;
}

}  // namespace

std::vector<GpuPath> searched_paths(const Gpu& gpu, const GemmForm& form,
                                    const std::optional<GpuPath>& asked) {
  if (asked) {
    return (*asked == GpuPath::kSimt) != form.tensor_cores ? std::vector<GpuPath>{*asked}
                                                           : std::vector<GpuPath>{};
  }
  if (!form.tensor_cores) {
    return {GpuPath::kSimt};
  }
  if (!reads_as_it_lies(form.problem, GpuPath::kMma, true) ||
      !reads_as_it_lies(form.problem, GpuPath::kMma, false)) {
    return {GpuPath::kWmma};
  }
  return gpu.rate(form.problem.precision, GpuPath::kWgmma) > 0 && is_for_wgmma(form.problem)
             ? std::vector<GpuPath>{GpuPath::kWgmma, GpuPath::kMma}
             : std::vector<GpuPath>{GpuPath::kMma};
}

RankedKernel rank_kernel(const Gpu& gpu, const std::vector<GemmForm>& forms, std::size_t index,
                         const KernelChoice& kernel) {
  const GemmForm& form = forms[index];
  const GpuCalibration calibration = gpu.calibration(form.problem.precision, kernel.path);
  RankedKernel result;
  result.kernel = kernel;
  result.form = index;
  result.work = work(gpu, form.problem, kernel);
  result.estimate = price(gpu, calibration, form.problem, kernel, result.work);
  result.passes = pass_time(gpu, calibration, form);
  result.total = result.estimate.time.total + result.passes;
  return result;
}

KernelChoice completed(const GemmProblem& problem, KernelChoice kernel) {
  kernel.warp.k = kernel.block.k;
  const std::vector<GemmTile> fragments = fragments_for(problem, kernel.path, kernel.warp);
  if (!fragments.empty()) {
    kernel.fragment = fragments.front();
  }
  kernel.padding = kernel.path == GpuPath::kWmma ? 16 / operand_size(problem.precision).count() : 0;
  return kernel;
}

std::vector<KernelChoice> kernel_set(const Gpu& gpu, const GemmProblem& problem, GpuPath path) {
  std::vector<KernelChoice> kernels;
  for (KernelChoice kernel : kernels_of_one_raster(gpu, problem, path)) {
    for (const std::int64_t raster : kRasters) {
      kernel.raster = raster;
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

namespace {

// It counts as good as the first if it takes at most `near` seconds.
void put_fixed_first(const Gpu& gpu, double near, std::size_t top, GpuSearchResult& result) {
  if (result.ranked.empty()) {
    return;
  }
  const std::size_t form = result.ranked.front().form;
  const GemmProblem& problem = result.forms[form].problem;
  const auto fixed = best_on_average(gpu, problem, result.ranked.front().kernel.path);
  if (!fixed || problem.pruned_b) {  // it was measured on dense problems
    return;
  }
  RankedKernel chosen = rank_kernel(gpu, result.forms, form, *fixed);
  chosen.is_fixed = true;
  chosen.as_good_as_first = chosen.total.count() <= near;
  std::erase_if(result.ranked, [&](const RankedKernel& ranked) {
    return ranked.form == form && ranked.kernel == chosen.kernel;
  });
  result.ranked.insert(result.ranked.begin(), std::move(chosen));
  result.ranked.resize(std::min(result.ranked.size(), top));
}

}  // namespace

GpuSearchResult search_kernels(const Gpu& gpu, const std::vector<GemmForm>& forms,
                               const GpuSearchOptions& options) {
  GpuSearchResult result;
  result.forms = forms;
  std::vector<KernelCandidate> candidates = candidates_of(gpu, forms, options, result);
  if (candidates.empty() || result.interrupted) {
    return result;
  }
  // A heap, since few are taken from it.
  const auto is_later = [](const KernelCandidate& a, const KernelCandidate& b) { return b < a; };
  std::make_heap(candidates.begin(), candidates.end(), is_later);
  const KernelCandidate first = candidates.front();
  result.calibration = gpu.calibration(forms[first.form].problem.precision, first.kernel.path);
  const double apart = std::max(result.calibration.resolution, 2 * timing_noise(first.total));
  const auto near = [&](const KernelCandidate& c) {
    return c.total.count() <= first.total.count() * (1 + apart);
  };
  while (!candidates.empty()) {
    std::pop_heap(candidates.begin(), candidates.end(), is_later);
    const KernelCandidate candidate = candidates.back();
    candidates.pop_back();
    result.as_good_as_first += near(candidate) ? 1 : 0;
    const bool repeats = !result.ranked.empty() && result.ranked.back().total == candidate.total;
    if (repeats) {
      ++result.ranked.back().same;
    } else if (result.ranked.size() < options.top) {
      result.ranked.push_back(rank_kernel(gpu, forms, candidate.form, candidate.kernel));
      result.ranked.back().as_good_as_first = near(candidate);
    } else if (candidate.key.count() > std::max(first.key, first.total).count() * (1 + apart)) {
      break;
    }
  }
  put_fixed_first(gpu, first.total.count() * (1 + apart), options.top, result);
  return result;
}

}  // namespace mapsim
