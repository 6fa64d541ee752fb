// SPDX-License-Identifier: Apache-2.0
#include "costmodel/network.hpp"

#include <algorithm>

#include "costmodel/counts.hpp"

namespace mapsim {

bool asks_for_hops(const Arch& arch, FanoutId fanout, LevelId parent,
                   std::optional<LevelId> child) {
  return arch.fanouts[fanout].energy_per_hop && arch.is_above(parent, fanout) &&
         !(child && arch.is_above(*child, fanout));
}

double word_hops(double words, double routed, double hops, double returns) {
  const double one_way = routed == words ? hops : hops * (words / routed) + (routed - words);
  return returns == 0 ? one_way : one_way * ((words + returns) / words);
}

double NetworkCounts::word_hops() const {
  if (words == 0) {
    return 0;
  }
  return mapsim::word_hops(static_cast<double>(words), static_cast<double>(routed),
                           static_cast<double>(half_hops) / 2, static_cast<double>(returns));
}

Routes::Routes(std::span<const NestLoop> loops, FanoutId fanout, std::int64_t rows, DimSet shared)
    : loops_{loops}, fanout_{fanout}, rows_{rows}, shared_{shared} {
  std::int64_t column_groups = 1;
  std::int64_t first_columns = 0;  // of the groups of one row, added up
  for (const NestLoop& loop : loops_) {
    if (loop.fanout != fanout_) {
      continue;
    }
    const bool along_x = loop.axis == Axis::kX;
    const std::int64_t span = loop.stride * (loop.bound - 1);
    if (!separates(loop)) {
      group_size_ *= loop.bound;
      (along_x ? column_span_ : row_span_) += span;
      columns_ *= along_x ? loop.bound : 1;
    } else if (along_x) {
      first_columns = first_columns * loop.bound + column_groups * span * loop.bound / 2;
      column_groups *= loop.bound;
    } else {
      row_groups_ *= loop.bound;
    }
  }
  groups_ = column_groups * row_groups_;
  last_columns_ = first_columns + column_groups * column_span_;
}

std::int64_t Routes::reach(std::int64_t row) const {
  const std::int64_t middle = rows_ - 1;  // in half rows
  return std::max<std::int64_t>(0, middle - 2 * row) +
         std::max<std::int64_t>(0, 2 * (row + row_span_) - middle);
}

std::int64_t Routes::half_hops(std::int64_t column, std::int64_t row) const {
  return 2 * (column + column_span_) + columns_ * reach(row);
}

std::int64_t Routes::half_hops() const {
  const std::int64_t column_groups = groups_ / row_groups_;
  return 2 * row_groups_ * last_columns_ + columns_ * column_groups * total_reach(0, 0);
}

// Over the groups one above the other.
std::int64_t Routes::total_reach(std::size_t from, std::int64_t row) const {
  for (std::size_t i = from; i < loops_.size(); ++i) {
    const NestLoop& loop = loops_[i];
    if (separates(loop) && loop.axis == Axis::kY) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < loop.bound; ++k) {
        sum += total_reach(i + 1, row + k * loop.stride);
      }
      return sum;
    }
  }
  return reach(row);
}

}  // namespace mapsim
