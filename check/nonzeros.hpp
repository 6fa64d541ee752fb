// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "check/graph.hpp"
#include "costmodel/boundary_cost.hpp"

namespace mapsim::check {

// How zeros change transfers, implemented anew from docs/sparsity.md: probabilities by sums of
// logarithms, formats from their tables, data by counting. Perfect factors.
class NonzeroFlows {
 public:
  explicit NonzeroFlows(const Problem& problem);

  // The flow of `t` from `parent` into a tile of these extents. `shared`: instances per dim that
  // one transfer serves.
  FlowOfNonzeros flow(TensorId t, LevelId parent, std::optional<LevelId> child,
                      const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& shared);
  // Bits of the level's capacity that the tile takes.
  double stored_bits(TensorId t, LevelId level, const PerDim<std::int64_t>& extents, Bits width);
  // Is the flow the same for all tiles?
  bool is_plain(TensorId t, LevelId parent, std::optional<LevelId> child) const;

 private:
  using Shape = std::vector<std::int64_t>;
  struct Zeros {
    Shape box;
    double all = 1, nonzeros = 1;
    std::map<Shape, double> empty;  // probabilities computed so far
    // Padding by the bits of a run, children and their places; the most nonzeros by 0, points and
    // share of data sets
    std::map<std::array<double, 3>, double> sums;
  };

  double empty(TensorId t, const Shape& shape);
  double blocks_empty(TensorId t, const Shape& shape) const;
  std::size_t block_rank(TensorId t) const;
  double places_in_block(TensorId t, const TensorFormat& format, std::size_t code) const;
  double most_nonzeros(TensorId t, const Shape& shape, double share);
  double most_in_blocks(TensorId t, const Shape& shape) const;
  double data_empty(TensorId t, const Shape& shape) const;
  MovedShare share(TensorId t, LevelId level, const Shape& shape, bool to_units);
  double padding_of_runs(TensorId t, const RankCode& code, double children, double child);
  Shape shape_of(TensorId t, const PerDim<std::int64_t>& extents) const;

  const Problem& problem_;
  PerTensor<Zeros> zeros_;
};

}  // namespace mapsim::check
