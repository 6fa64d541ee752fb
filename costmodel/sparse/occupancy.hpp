// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "workloads/workload.hpp"

namespace mapsim {

// Elements of a tile along each rank of its tensor.
using TileShape = std::vector<std::int64_t>;
std::int64_t points_of(const TileShape& shape);
TileShape tile_shape(const Tensor& tensor, const PerDim<std::int64_t>& extents);

// Number X of marked elements among n drawn from N of which z are marked.
struct Hypergeometric {
  std::int64_t first = 0;           // the least x of any weight
  std::vector<double> probability;  // of first, first + 1, ...
};
Hypergeometric hypergeometric(std::int64_t all, std::int64_t marked, std::int64_t drawn);
// The least x with P(X <= x) >= share.
std::int64_t quantile(const Hypergeometric& of, double share);
// E max of `instances` independent X: no more than that of tiles of one tensor, which are
// negatively associated.
double expected_maximum(const Hypergeometric& of, std::int64_t instances);
// E ceil(X / lanes).
double expected_groups(const Hypergeometric& of, std::int64_t lanes);

// How many elements of the tiles of one tensor are not zero: docs/sparsity.md#densities. Tiles are
// aligned: their first coordinate is a multiple of their extent, along every rank.
class DensityModel {
 public:
  DensityModel(const Workload& workload, TensorId tensor);

  double density() const { return static_cast<double>(nonzeros_) / static_cast<double>(size_); }
  const TileShape& box() const { return box_; }
  std::int64_t size() const { return size_; }
  std::int64_t nonzeros() const { return nonzeros_; }
  bool is_dense() const { return nonzeros_ == size_; }
  // Does only the size of a tile matter?
  bool is_uniform() const { return !pattern_; }
  bool is_data() const { return pattern_ && pattern_->kind == PatternKind::kData; }
  const Pattern& pattern() const { return *pattern_; }
  std::size_t block_rank() const { return block_rank_; }  // structured
  // Probability that a tile has zeros only; for data, the share of such tiles.
  double empty(const TileShape& shape) const;
  // The most nonzeros of a tile in this share of all data sets (1: in all). Not for data.
  std::int64_t at_most(const TileShape& shape, double share) const;
  // Data: per element, whether the aligned tile around it has a nonzero.
  std::vector<char> hit_around(const TileShape& shape) const;
  // Data: calls visit(elements of a tile, row-major) for every tile.
  template <class Visit>
  void for_each_tile(const TileShape& shape, const Visit& visit) const;

 private:
  double structured_empty(const TileShape& shape) const;

  Shared<Pattern> pattern_;
  TileShape box_;               // of the whole tensor
  std::size_t block_rank_ = 0;  // structured: the rank of blocks
  std::int64_t size_ = 1, nonzeros_ = 1;
};

// DensityModel::empty() of uniform zeros, for tiles of ever more points.
class EmptyByPoints {
 public:
  explicit EmptyByPoints(const DensityModel& of) : all_{of.size()}, marked_{of.nonzeros()} {}
  // `points`: at least those of the call before.
  double at(std::int64_t points);

 private:
  std::int64_t all_, marked_;
  std::int64_t points_ = 0;
  double empty_ = 1;
};

template <class Visit>
void DensityModel::for_each_tile(const TileShape& shape, const Visit& visit) const {
  const std::size_t ranks = box_.size();
  std::vector<std::int64_t> corner(ranks, 0);
  std::vector<char> tile(static_cast<std::size_t>(points_of(shape)));
  const auto next = [&](std::vector<std::int64_t>& at, const std::vector<std::int64_t>& end,
                        const auto& step) {
    for (std::size_t r = ranks; r-- > 0;) {
      if ((at[r] += step(r)) < end[r]) {
        return true;
      }
      at[r] = 0;
    }
    return false;
  };
  do {
    std::vector<std::int64_t> at(ranks, 0);
    std::size_t i = 0;
    do {
      std::int64_t element = 0;
      bool is_there = true;  // the last tile of a rank may be smaller
      for (std::size_t r = 0; r < ranks; ++r) {
        element = element * box_[r] + corner[r] + at[r];
        is_there = is_there && corner[r] + at[r] < box_[r];
      }
      tile[i++] = is_there ? pattern_->nonzero[static_cast<std::size_t>(element)] : char{0};
    } while (next(at, shape, [](std::size_t) { return 1; }));
    visit(tile);
  } while (next(corner, box_, [&](std::size_t r) { return shape[r]; }));
}

}  // namespace mapsim
