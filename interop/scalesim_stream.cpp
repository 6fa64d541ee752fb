// SPDX-License-Identifier: Apache-2.0
#include "interop/scalesim_stream.hpp"

namespace mapsim {

namespace {

ScaleSimStream stay(const ScaleSimConfig& config, const ScaleSimFolding& folding) {
  const std::int64_t unused = config.rows - std::min(config.rows, folding.rows);
  return {false,           true,           folding.column_folds, folding.rows,
          folding.columns, config.columns, config.rows,          0,
          unused};
}

// Along the rows, or along the columns.
ScaleSimStream move(const ScaleSimConfig& config, const ScaleSimFolding& folding, bool rows) {
  const bool loads = config.dataflow != ScaleSimDataflow::kOutput;
  const std::int64_t wait = loads ? config.rows : 0;
  return {true,
          !rows,
          rows ? folding.row_folds : folding.column_folds,
          folding.time,
          rows ? folding.rows : folding.columns,
          rows ? config.rows : config.columns,
          config.rows,
          wait,
          wait};
}

}  // namespace

std::int64_t scalesim_touched(std::int64_t ifmap, std::int64_t filter, std::int64_t stride,
                              std::int64_t outputs) {
  const std::int64_t last = (outputs - 1) * stride;
  return (outputs - 1) * std::min(filter, stride) +
         std::clamp<std::int64_t>(ifmap - last, 0, filter);
}

ScaleSimStream ifmap_stream(const ScaleSimConfig& config, const ScaleSimFolding& folding) {
  return config.dataflow == ScaleSimDataflow::kInput ? stay(config, folding)
                                                     : move(config, folding, true);
}

ScaleSimStream filter_stream(const ScaleSimConfig& config, const ScaleSimFolding& folding) {
  const bool rows = config.dataflow == ScaleSimDataflow::kInput;
  return config.dataflow == ScaleSimDataflow::kWeight ? stay(config, folding)
                                                      : move(config, folding, rows);
}

ScaleSimIfmap::ScaleSimIfmap(const ScaleSimConfig& config, const ScaleSimLayer& layer)
    : layer_{layer},
      height_{scalesim_outputs(layer.ifmap_height, layer.filter_height, layer.stride)},
      width_{scalesim_outputs(layer.ifmap_width, layer.filter_width, layer.stride)},
      pixels_along_{config.dataflow == ScaleSimDataflow::kWeight} {}

bool ScaleSimIfmap::overlaps() const {
  return (height_ > 1 && layer_.stride < layer_.filter_height) ||
         (width_ > 1 && layer_.stride < layer_.filter_width);
}

bool ScaleSimIfmap::has_nulls() const {
  return (height_ - 1) * layer_.stride + layer_.filter_height > layer_.ifmap_height ||
         (width_ - 1) * layer_.stride + layer_.filter_width > layer_.ifmap_width;
}

std::int64_t ScaleSimIfmap::distinct() const {
  return scalesim_touched(layer_.ifmap_height, layer_.filter_height, layer_.stride, height_) *
         scalesim_touched(layer_.ifmap_width, layer_.filter_width, layer_.stride, width_) *
         layer_.channels;
}

bool ScaleSimIfmap::make_tables() {
  constexpr std::int64_t kMostCorners = std::int64_t{1} << 25;
  const std::int64_t pixels = height_ * width_;
  const std::int64_t taps = layer_.filter_height * layer_.filter_width * layer_.channels;
  if (pixels + taps > kMostCorners) {
    return false;
  }
  for (std::int64_t m = 0; m < pixels; ++m) {
    pixels_.push_back(corner(m / width_ * layer_.stride, m % width_ * layer_.stride, 0));
  }
  for (std::int64_t k = 0; k < taps; ++k) {
    const std::int64_t tap = k / layer_.channels;
    taps_.push_back(
        corner(tap / layer_.filter_width, tap % layer_.filter_width, k % layer_.channels));
  }
  return true;
}

void ScaleSimIfmap::duplicates_of(const ScaleSimStream::Place& place,
                                  std::vector<ScaleSimStream::Place>& duplicates) const {
  const std::int64_t stride = layer_.stride;
  const Corner& pixel =
      pixels_[static_cast<std::size_t>(pixels_along_ ? place.along : place.across)];
  const std::int64_t tap = pixels_along_ ? place.across : place.along;
  const Corner& at = taps_[static_cast<std::size_t>(tap)];
  const std::int64_t channel = tap % layer_.channels;
  const std::int64_t row = pixel.row + at.row;
  const std::int64_t column = pixel.column + at.column;
  for (std::int64_t r = row % stride; r < layer_.filter_height && r <= row; r += stride) {
    const std::int64_t y = (row - r) / stride;
    for (std::int64_t s = column % stride; s < layer_.filter_width && s <= column; s += stride) {
      const std::int64_t x = (column - s) / stride;
      if (y < height_ && x < width_) {
        const std::int64_t m = y * width_ + x;
        const std::int64_t k = (r * layer_.filter_width + s) * layer_.channels + channel;
        duplicates.push_back(pixels_along_ ? ScaleSimStream::Place{m, k}
                                           : ScaleSimStream::Place{k, m});
      }
    }
  }
}

}  // namespace mapsim
