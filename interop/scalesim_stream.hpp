// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "interop/scalesim_compat.hpp"

namespace mapsim {

// The requests of SCALE-Sim's array for the words of one operand, and the lines in which the tool
// arranges these words to prefetch them.
//
// An operand has `groups` of `length` x `ports` words, which are the words of one row fold (or
// column fold). A moving operand passes port i i cycles after port 0, so the words of one cycle,
// and of one line, are a diagonal. A stationary one is shifted in row by row, from the last row of
// a fold to its first.
struct ScaleSimStream {
  bool moves = true;            // false: it is stationary
  bool by_column_fold = false;  // false: a group is of a row fold
  std::int64_t groups = 1;
  std::int64_t length = 1;  // in time, or rows of a stationary operand
  std::int64_t extent = 1;  // words along the ports, of all groups
  std::int64_t ports = 1;
  std::int64_t rows = 1;   // of the array
  std::int64_t wait = 0;   // cycles of a fold before the first request of a moving operand
  std::int64_t first = 0;  // cycle of the first request

  struct Run {  // words of one line
    std::int64_t line = 0;
    std::int64_t first = 0;  // port
    std::int64_t last = 0;   // port
  };
  std::int64_t used(std::int64_t group) const { return std::min(ports, extent - group * ports); }
  // The words requested in cycle `x` of a fold.
  std::optional<Run> run(std::int64_t row_fold, std::int64_t column_fold, std::int64_t x) const {
    const std::int64_t group = by_column_fold ? column_fold : row_fold;
    if (moves) {
      const std::int64_t diagonal = x - wait;
      if (diagonal < 0 || diagonal >= length + used(group) - 1) {
        return std::nullopt;
      }
      return Run{group * length + diagonal, std::max<std::int64_t>(0, diagonal - length + 1),
                 std::min(used(group) - 1, diagonal)};
    }
    const std::int64_t row = (row_fold + 1) * rows - 1 - x;
    if (x >= rows || row >= length) {
      return std::nullopt;
    }
    return Run{group * length + row, 0, used(group) - 1};
  }
  std::int64_t lines() const { return groups * length + (moves ? ports - 1 : 0); }
  // Position of a word along its group's length, and along the ports of all groups.
  struct Place {
    std::int64_t along = 0, across = 0;
  };
  Place place(std::int64_t line, std::int64_t port) const {
    const std::int64_t row = moves ? line - port : line;
    return {row % length, row / length * ports + port};
  }
  std::int64_t line(const Place& place) const {
    const std::int64_t group = place.across / ports;
    return group * length + place.along + (moves ? place.across % ports : 0);
  }
};

// The streams of the two operands.
ScaleSimStream ifmap_stream(const ScaleSimConfig& config, const ScaleSimFolding& folding);
ScaleSimStream filter_stream(const ScaleSimConfig& config, const ScaleSimFolding& folding);

// Number of pixels along an axis that its windows touch; only the last window may reach beyond the
// ifmap.
std::int64_t scalesim_touched(std::int64_t ifmap, std::int64_t filter, std::int64_t stride,
                              std::int64_t outputs);

// Words of the ifmap by their places in its stream. If windows overlap, a word has several places;
// if the tool rounds the output up, some places lie beyond the ifmap (nulls).
class ScaleSimIfmap {
 public:
  ScaleSimIfmap(const ScaleSimConfig& config, const ScaleSimLayer& layer);
  bool overlaps() const;
  bool has_nulls() const;
  // Number of words that are requested.
  std::int64_t distinct() const;

  // Makes tables of all pixels and taps, which the functions below need. False: they would be too
  // large.
  bool make_tables();
  // The number of the word at a place; -1: it lies beyond the ifmap.
  std::int64_t word(const ScaleSimStream::Place& place) const {
    const Corner& pixel =
        pixels_[static_cast<std::size_t>(pixels_along_ ? place.along : place.across)];
    const Corner& tap = taps_[static_cast<std::size_t>(pixels_along_ ? place.across : place.along)];
    const bool inside =
        pixel.row + tap.row < layer_.ifmap_height && pixel.column + tap.column < layer_.ifmap_width;
    return inside ? pixel.word + tap.word : -1;
  }
  // Appends all places that hold the same word as `place` to `duplicates`.
  void duplicates_of(const ScaleSimStream::Place& place,
                     std::vector<ScaleSimStream::Place>& duplicates) const;

 private:
  struct Corner {
    std::int64_t row = 0, column = 0, word = 0;
  };
  Corner corner(std::int64_t row, std::int64_t column, std::int64_t channel) const {
    return {row, column, (row * layer_.ifmap_width + column) * layer_.channels + channel};
  }

  ScaleSimLayer layer_;
  std::int64_t height_, width_;  // of the output
  bool pixels_along_;            // the length of a group is pixels, its ports are taps
  std::vector<Corner> pixels_, taps_;
};

}  // namespace mapsim
