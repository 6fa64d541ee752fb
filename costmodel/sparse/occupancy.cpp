// SPDX-License-Identifier: Apache-2.0
#include "costmodel/sparse/occupancy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/arithmetic.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"

namespace mapsim {

namespace {

// Less counts as 0: by rounding, the least positive number times a ratio above a half is itself.
constexpr double kLeastNormal = std::numeric_limits<double>::min();

// C(all - drawn, marked) / C(all, marked): none of those drawn is marked. As the shorter of two
// products of ratios.
double none_marked(std::int64_t all, std::int64_t marked, std::int64_t drawn) {
  if (drawn > all - marked) {
    return 0;
  }
  const std::int64_t factors = std::min(marked, drawn);
  const std::int64_t other = std::max(marked, drawn);
  double product = 1;
  for (std::int64_t i = 0; i < factors; ++i) {
    product *= real(all - other - i) / real(all - i);
    if (product < kLeastNormal) {
      return 0;
    }
  }
  return product;
}

}  // namespace

std::int64_t points_of(const TileShape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

TileShape tile_shape(const Tensor& tensor, const PerDim<std::int64_t>& extents) {
  TileShape shape;
  for (const Rank& rank : tensor.ranks) {
    shape.push_back(rank_points(rank, extents));
  }
  return shape;
}

// From the mode outwards, until what is left does not count, and scaled to a sum of one.
Hypergeometric hypergeometric(std::int64_t all, std::int64_t marked, std::int64_t drawn) {
  constexpr double kLeast = 1e-18;  // of the mode's probability
  const std::int64_t least = std::max<std::int64_t>(0, drawn + marked - all);
  const std::int64_t most = std::min(drawn, marked);
  const auto mode = std::clamp(
      static_cast<std::int64_t>(real(drawn + 1) * real(marked + 1) / real(all + 2)), least, most);
  // P(x + 1) / P(x)
  const auto ratio = [&](std::int64_t x) {
    return real(marked - x) * real(drawn - x) / (real(x + 1) * real(all - marked - drawn + x + 1));
  };
  std::vector<double> below;
  double weight = 1;
  for (std::int64_t x = mode; x > least && weight > kLeast; --x) {
    below.push_back(weight /= ratio(x - 1));
  }
  Hypergeometric of{mode - static_cast<std::int64_t>(below.size()), {below.rbegin(), below.rend()}};
  of.probability.push_back(weight = 1);
  for (std::int64_t x = mode; x < most && weight > kLeast; ++x) {
    of.probability.push_back(weight *= ratio(x));
  }
  const double sum = std::accumulate(of.probability.begin(), of.probability.end(), 0.0);
  for (double& p : of.probability) {
    p /= sum;
  }
  return of;
}

std::int64_t quantile(const Hypergeometric& of, double share) {
  double below = 0;
  for (std::size_t i = 0; i < of.probability.size(); ++i) {
    below += of.probability[i];
    if (below >= share) {
      return of.first + static_cast<std::int64_t>(i);
    }
  }
  return of.first + static_cast<std::int64_t>(of.probability.size()) - 1;
}

double expected_maximum(const Hypergeometric& of, std::int64_t instances) {
  double expected = real(of.first);  // plus P(max > x), summed over x
  double below = 0;
  for (std::size_t i = 0; i + 1 < of.probability.size(); ++i) {
    below = std::min(1.0, below + of.probability[i]);
    expected += 1 - std::pow(below, real(instances));
  }
  return expected;
}

double expected_groups(const Hypergeometric& of, std::int64_t lanes) {
  double expected = 0;
  for (std::size_t i = 0; i < of.probability.size(); ++i) {
    const std::int64_t x = of.first + static_cast<std::int64_t>(i);
    expected += of.probability[i] * real((x + lanes - 1) / lanes);
  }
  return expected;
}

DensityModel::DensityModel(const Workload& workload, TensorId t)
    : pattern_{workload.tensors[t].pattern} {
  const Tensor& tensor = workload.tensors[t];
  box_ = tile_shape(tensor, bounds_of(workload));
  size_ = points_of(box_);
  nonzeros_ = std::clamp<std::int64_t>(std::llround(tensor.density * real(size_)), 1, size_);
  for (std::size_t r = 0; r < tensor.ranks.size() && pattern_; ++r) {
    if (tensor.ranks[r].terms.size() == 1 && tensor.ranks[r].terms.front().dim == pattern_->dim) {
      block_rank_ = r;
    }
  }
}

// Blocks are independent, lines along them too: a tile that covers s places of a block misses its
// `kept` nonzeros with probability C(block - s, kept) / C(block, kept).
double DensityModel::structured_empty(const TileShape& shape) const {
  const std::int64_t block = pattern_->block;
  const std::int64_t length = shape[block_rank_];
  const std::int64_t lines = points_of(shape) / length;
  const std::int64_t alignments = block / std::gcd(block, length);
  double sum = 0;
  for (std::int64_t a = 0; a < alignments; ++a) {
    double line = 1;
    for (std::int64_t at = a * length, end = at + length; at < end && line > 0;) {
      const std::int64_t here = std::min(end, (at / block + 1) * block) - at;
      line *= none_marked(block, pattern_->kept, here);
      at += here;
    }
    sum += std::pow(line, real(lines));
  }
  return sum / real(alignments);
}

double DensityModel::empty(const TileShape& shape) const {
  if (is_uniform()) {
    return none_marked(size_, nonzeros_, points_of(shape));
  }
  if (!is_data()) {
    return structured_empty(shape);
  }
  double tiles = 0;
  double empties = 0;
  for_each_tile(shape, [&](const std::vector<char>& tile) {
    tiles += 1;
    empties += std::find(tile.begin(), tile.end(), 1) == tile.end() ? 1 : 0;
  });
  return empties / tiles;
}

std::vector<char> DensityModel::hit_around(const TileShape& shape) const {
  std::vector<std::size_t> tile(pattern_->nonzero.size());
  std::vector<char> hit(tile.size(), 0);  // per tile, of which there are no more than elements
  std::vector<std::int64_t> at(box_.size(), 0);
  for (std::size_t i = 0; i < tile.size(); ++i) {
    std::int64_t number = 0;
    for (std::size_t r = 0; r < at.size(); ++r) {
      number = number * (box_[r] / shape[r]) + at[r] / shape[r];
    }
    tile[i] = static_cast<std::size_t>(number);
    hit[tile[i]] = static_cast<char>(hit[tile[i]] | pattern_->nonzero[i]);
    for (std::size_t r = at.size(); r-- > 0;) {
      if (++at[r] < box_[r]) {
        break;
      }
      at[r] = 0;
    }
  }
  std::vector<char> around(tile.size());
  std::transform(tile.begin(), tile.end(), around.begin(), [&](std::size_t n) { return hit[n]; });
  return around;
}

double EmptyByPoints::at(std::int64_t points) {
  if (points > all_ - marked_) {
    return 0;
  }
  if (marked_ < points - points_) {
    empty_ = none_marked(all_, marked_, points);
  } else {
    for (; points_ < points && empty_ >= kLeastNormal; ++points_) {
      empty_ *= real(all_ - marked_ - points_) / real(all_ - points_);
    }
    empty_ = empty_ < kLeastNormal ? 0 : empty_;
  }
  points_ = points;
  return empty_;
}

std::int64_t DensityModel::at_most(const TileShape& shape, double share) const {
  const std::int64_t points = points_of(shape);
  if (is_uniform()) {
    return share < 1 ? quantile(hypergeometric(size_, nonzeros_, points), share)
                     : std::min(points, nonzeros_);
  }
  const std::int64_t block = pattern_->block;
  const std::int64_t length = shape[block_rank_];
  std::int64_t most = 0;  // of a line
  for (std::int64_t a = 0; a < block / std::gcd(block, length); ++a) {
    std::int64_t line = 0;
    for (std::int64_t at = a * length, end = at + length; at < end;) {
      const std::int64_t here = std::min(end, (at / block + 1) * block) - at;
      line += std::min(here, pattern_->kept);
      at += here;
    }
    most = std::max(most, line);
  }
  return most * (points / length);
}

}  // namespace mapsim
