// SPDX-License-Identifier: Apache-2.0
#include "interop/scalesim_ifmap.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "interop/scalesim_import.hpp"
#include "interop/scalesim_stream.hpp"

namespace mapsim {

namespace {

struct Span {
  std::int64_t first = 0;
  std::int64_t size = 0;
};

// Distinct pixels (all channels apart) of blocks of the unfolded ifmap: of all of it, or of windows
// that do not overlap, in closed form; others are walked.
class Pixels {
 public:
  Pixels(const ScaleSimLayer& layer, const ScaleSimGemm& gemm, std::int64_t steps)
      : layer_{layer}, gemm_{gemm}, steps_{steps} {
    const std::int64_t whole_width = (layer.ifmap_width - layer.filter_width) / layer.stride + 1;
    const std::int64_t whole_lines = (layer.ifmap_height - layer.filter_height) / layer.stride + 1;
    whole_ = gemm.m == whole_width * whole_lines;
    width_ = whole_ ? whole_width
                    : scalesim_outputs(layer.ifmap_width, layer.filter_width, layer.stride);
    const std::int64_t lines = gemm.m / width_;
    all_ = scalesim_touched(layer.ifmap_height, layer.filter_height, layer.stride, lines) *
           scalesim_touched(layer.ifmap_width, layer.filter_width, layer.stride, width_) *
           layer.channels;
    apart_ = (lines == 1 || layer.stride >= layer.filter_height) &&
             (width_ == 1 || layer.stride >= layer.filter_width);
  }

  // No word comes twice, and none lies beyond the ifmap.
  bool apart() const { return apart_ && whole_; }
  std::int64_t distinct(Span m, Span k) {
    if (m.size == gemm_.m && k.size == gemm_.k) {
      return all_;
    }
    ++block_;
    return visit(m, k, [this](std::uint32_t& seen) {
      const bool fresh = seen != block_;
      seen = block_;
      return fresh;
    });
  }
  std::int64_t uses(Span m, Span k) {
    return visit(m, k, [](std::uint32_t&) { return true; });
  }
  bool too_many() const { return steps_ < 0; }
  std::int64_t steps() const { return std::max<std::int64_t>(steps_, 0); }  // left

 private:
  // The words of a block for which count() holds.
  template <class Count>
  std::int64_t visit(Span m, Span k, const Count& count) {
    if (apart()) {
      return m.size * k.size;
    }
    constexpr std::int64_t kMostAddresses = std::int64_t{1} << 28;
    const std::int64_t addresses = layer_.ifmap_height * layer_.ifmap_width * layer_.channels;
    steps_ -= m.size * k.size;
    if (addresses > kMostAddresses || steps_ < 0) {
      steps_ = -1;
      return 0;
    }
    seen_.resize(static_cast<std::size_t>(addresses), 0);
    return walk(m, k, count);
  }
  template <class Count>
  std::int64_t walk(Span m, Span k, const Count& count) {
    std::int64_t found = 0;
    for (std::int64_t i = m.first; i < m.first + m.size; ++i) {
      const std::int64_t row = i / width_ * layer_.stride;
      const std::int64_t column = i % width_ * layer_.stride;
      for (std::int64_t j = k.first; j < k.first + k.size; ++j) {
        const std::int64_t tap = j / layer_.channels;
        const std::int64_t y = row + tap / layer_.filter_width;
        const std::int64_t x = column + tap % layer_.filter_width;
        if (y < layer_.ifmap_height && x < layer_.ifmap_width) {
          const std::int64_t word = (y * layer_.ifmap_width + x) * layer_.channels;
          found += count(seen_[static_cast<std::size_t>(word + j % layer_.channels)]) ? 1 : 0;
        }
      }
    }
    return found;
  }

  const ScaleSimLayer& layer_;
  ScaleSimGemm gemm_;
  bool whole_ = true;       // no window reaches beyond the ifmap
  bool apart_ = true;       // no two windows share a pixel
  std::int64_t width_ = 1;  // of a line of outputs
  std::int64_t all_ = 0;    // words of all windows
  std::int64_t steps_;
  std::vector<std::uint32_t> seen_;  // the block in which a word was seen last
  std::uint32_t block_ = 0;
};

// The blocks of the unfolded ifmap that an SRAM holds one after the other, `m` x `k` but for the
// last ones, and how often all of them come.
struct Tiles {
  std::int64_t m = 1, k = 1;
  std::int64_t rounds = 1;
};

// Distinct pixels of all tiles; nothing if the first, which is the largest, does not fit.
std::optional<std::int64_t> pixels_of(Pixels& pixels, const ScaleSimGemm& gemm, const Tiles& tiles,
                                      std::int64_t capacity) {
  if (pixels.apart()) {
    const bool fits = std::min(tiles.m, gemm.m) * std::min(tiles.k, gemm.k) <= capacity;
    return fits ? std::optional{tiles.rounds * gemm.m * gemm.k} : std::nullopt;
  }
  std::int64_t sum = 0;
  for (std::int64_t m = 0; m < gemm.m; m += tiles.m) {
    for (std::int64_t k = 0; k < gemm.k; k += tiles.k) {
      const std::int64_t points =
          pixels.distinct({m, std::min(tiles.m, gemm.m - m)}, {k, std::min(tiles.k, gemm.k - k)});
      if (points > capacity || pixels.too_many()) {
        return std::nullopt;
      }
      sum += points;
    }
  }
  return tiles.rounds * sum;
}

// From the outside in. Columns of outputs, or of weights, want the whole ifmap again.
std::vector<Tiles> tilings(const ScaleSimConfig& config, const ScaleSimGemm& gemm,
                           std::int64_t capacity) {
  const std::int64_t column_folds = scalesim_folding(config, gemm).column_folds;
  std::vector<Tiles> found{{gemm.m, gemm.k, 1}};
  const std::int64_t moments = capacity / config.rows;  // of a row fold
  switch (config.dataflow) {
    case ScaleSimDataflow::kOutput:
      found.push_back({config.rows, gemm.k, column_folds});
      if (moments > 0) {
        found.push_back({config.rows, moments, column_folds});
      }
      break;
    case ScaleSimDataflow::kWeight:
      found.push_back({gemm.m, config.rows, column_folds});
      if (moments > 0) {
        found.push_back({moments, config.rows, column_folds});
      }
      break;
    case ScaleSimDataflow::kInput:
      found.push_back({config.columns, gemm.k, 1});
      found.push_back({config.columns, config.rows, 1});
      break;
  }
  return found;
}

std::optional<std::int64_t> pixel_reads(const ScaleSimConfig& config, const ScaleSimGemm& gemm,
                                        Pixels& pixels) {
  constexpr std::int64_t kHalf = 512;  // words of a KiB that hold the tile in use
  const std::int64_t capacity = kHalf * config.ifmap_kb;
  for (const Tiles& tiles : tilings(config, gemm, capacity)) {
    const auto words = pixels_of(pixels, gemm, tiles, capacity);
    if (words || pixels.too_many()) {
      return words;
    }
  }
  const bool stays = config.dataflow == ScaleSimDataflow::kInput;
  const std::int64_t rounds = stays ? 1 : scalesim_folding(config, gemm).column_folds;
  const std::int64_t uses = pixels.uses({0, gemm.m}, {0, gemm.k});
  return pixels.too_many() ? std::nullopt : std::optional{rounds * uses};
}

}  // namespace

std::optional<std::int64_t> ifmap_pixel_reads(const ScaleSimConfig& config,
                                              const ScaleSimLayer& layer,
                                              const ScaleSimGemm& gemm) {
  std::int64_t steps = kMostWalkSteps;
  return ifmap_pixel_reads(config, layer, gemm, steps);
}

std::optional<std::int64_t> ifmap_pixel_reads(const ScaleSimConfig& config,
                                              const ScaleSimLayer& layer, const ScaleSimGemm& gemm,
                                              std::int64_t& steps) {
  Pixels pixels(layer, gemm, steps);
  const auto found = pixel_reads(config, gemm, pixels);
  steps = pixels.steps();
  return found;
}

std::vector<ScaleSimWalk> scalesim_walks(const ScaleSimConfig& config,
                                         const std::vector<ScaleSimLayer>& layers,
                                         std::int64_t steps) {
  const auto cycles = [&](std::size_t i) {
    const ScaleSimFolding folding = scalesim_folding(config, scalesim_gemm(layers[i]));
    return folding.folds() * folding.time;
  };
  std::vector<std::size_t> order(layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cycles(a) < cycles(b); });
  const auto shape = [&](std::size_t i) {
    ScaleSimLayer layer = layers[i];
    layer.name.clear();
    layer.ratio.clear();
    layer.line = 0;
    layer.copies = 1;
    return layer;
  };
  std::vector<ScaleSimWalk> walks(layers.size());
  for (std::size_t at = 0; at < order.size(); ++at) {
    const ScaleSimLayer layer = shape(order[at]);
    if (at > 0 && shape(order[at - 1]) == layer) {
      walks[order[at]] = walks[order[at - 1]];
      continue;
    }
    const auto spend = [&steps](const auto& walk) {
      const std::int64_t most = std::min(steps, kMostWalkSteps);
      std::int64_t left = most;
      walk(left);
      steps -= most - left;
    };
    ScaleSimWalk& walk = walks[order[at]];
    spend([&](std::int64_t& left) { walk.figures = scalesim_figures(config, layer, left); });
    spend([&](std::int64_t& left) {
      walk.pixels = ifmap_pixel_reads(config, layer, whole_gemm(layer), left);
    });
  }
  return walks;
}

}  // namespace mapsim
