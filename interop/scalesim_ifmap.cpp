// SPDX-License-Identifier: Apache-2.0
#include "interop/scalesim_ifmap.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace mapsim {

namespace {

struct Span {
  std::int64_t first = 0;
  std::int64_t size = 0;
};

// Consecutive parts of `size` each, the last one what is left.
std::vector<Span> cut(std::int64_t whole, std::int64_t size) {
  std::vector<Span> parts;
  for (std::int64_t first = 0; first < whole; first += size) {
    parts.push_back({first, std::min(size, whole - first)});
  }
  return parts;
}

// Distinct pixels (all channels apart) of blocks of the unfolded ifmap.
class Pixels {
 public:
  Pixels(const ScaleSimLayer& layer, const ScaleSimGemm& gemm)
      : layer_{layer},
        width_{std::max<std::int64_t>(
            (layer.ifmap_width - layer.filter_width + layer.stride - 1) / layer.stride + 1, 1)},
        seen_(static_cast<std::size_t>(layer.ifmap_height * layer.ifmap_width * layer.channels),
              0) {
    const std::int64_t whole = (layer.ifmap_width - layer.filter_width) / layer.stride + 1;
    const std::int64_t lines = (layer.ifmap_height - layer.filter_height) / layer.stride + 1;
    width_ = gemm.m == whole * lines ? whole : width_;
  }

  std::int64_t distinct(Span m, Span k) {
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

 private:
  // The words of a block for which count() holds.
  template <class Count>
  std::int64_t visit(Span m, Span k, const Count& count) {
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
  std::int64_t width_;               // of a line of outputs
  std::vector<std::uint32_t> seen_;  // the block in which a word was seen last
  std::uint32_t block_ = 0;
};

// The blocks of the unfolded ifmap that an SRAM holds one after the other, and how often all of
// them come.
struct Tiles {
  std::vector<Span> m, k;
  std::int64_t rounds = 1;
};

// Distinct pixels of all tiles; nothing if the first, which is the largest, does not fit.
std::optional<std::int64_t> pixels_of(Pixels& pixels, const Tiles& tiles, std::int64_t room) {
  std::int64_t sum = 0;
  for (const Span m : tiles.m) {
    for (const Span k : tiles.k) {
      const std::int64_t points = pixels.distinct(m, k);
      if (points > room) {
        return std::nullopt;
      }
      sum += points;
    }
  }
  return tiles.rounds * sum;
}

// From the outside in. Columns of outputs, or of weights, want the whole ifmap again.
std::vector<Tiles> tilings(const ScaleSimConfig& config, const ScaleSimGemm& gemm,
                           std::int64_t room) {
  const std::vector<Span> whole_m{{0, gemm.m}};
  const std::vector<Span> whole_k{{0, gemm.k}};
  const std::int64_t column_folds = scalesim_folding(config, gemm).column_folds;
  std::vector<Tiles> found{{whole_m, whole_k}};
  const std::int64_t moments = room / config.rows;  // of a row fold
  switch (config.dataflow) {
    case ScaleSimDataflow::kOutput:
      found.push_back({cut(gemm.m, config.rows), whole_k, column_folds});
      if (moments > 0) {
        found.push_back({cut(gemm.m, config.rows), cut(gemm.k, moments), column_folds});
      }
      break;
    case ScaleSimDataflow::kWeight:
      found.push_back({whole_m, cut(gemm.k, config.rows), column_folds});
      if (moments > 0) {
        found.push_back({cut(gemm.m, moments), cut(gemm.k, config.rows), column_folds});
      }
      break;
    case ScaleSimDataflow::kInput:
      found.push_back({cut(gemm.m, config.columns), whole_k});
      found.push_back({cut(gemm.m, config.columns), cut(gemm.k, config.rows)});
      break;
  }
  return found;
}

}  // namespace

std::int64_t ifmap_pixel_reads(const ScaleSimConfig& config, const ScaleSimLayer& layer,
                               const ScaleSimGemm& gemm) {
  constexpr std::int64_t kHalf = 512;  // words of a KiB that hold the tile in use
  const std::int64_t room = kHalf * config.ifmap_kb;
  Pixels pixels(layer, gemm);
  for (const Tiles& tiles : tilings(config, gemm, room)) {
    if (const auto words = pixels_of(pixels, tiles, room)) {
      return *words;
    }
  }
  const bool stays = config.dataflow == ScaleSimDataflow::kInput;
  const std::int64_t rounds = stays ? 1 : scalesim_folding(config, gemm).column_folds;
  return rounds * pixels.uses({0, gemm.m}, {0, gemm.k});
}

}  // namespace mapsim
