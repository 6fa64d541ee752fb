// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "check/graph.hpp"
#include "costmodel/boundary_cost.hpp"

namespace mapsim::check {

// What zeros make of transfers, derived anew from the words of docs/sparsity.md: chances by sums of
// logarithms, formats by their tables, data by counting. Perfect factors.
class NonzeroFlows {
 public:
  explicit NonzeroFlows(const Problem& problem);

  // Of a transfer of `t` from `parent` into a tile of these extents; `shared`: instances per dim
  // that it serves at once.
  FlowOfNonzeros flow(TensorId t, LevelId parent, std::optional<LevelId> child,
                      const PerDim<std::int64_t>& extents, const PerDim<std::int64_t>& shared);
  // Bits that the tile takes of the level's capacity.
  double stored_bits(TensorId t, LevelId level, const PerDim<std::int64_t>& extents, Bits width);
  // Is a flow the same whatever the tile?
  bool is_plain(TensorId t, LevelId parent, std::optional<LevelId> child) const;

 private:
  using Shape = std::vector<std::int64_t>;
  struct Zeros {
    Shape box;
    double all = 1, nonzeros = 1;
    std::map<Shape, double> empty;  // known chances
  };

  double empty(TensorId t, const Shape& shape);
  double blocks_empty(TensorId t, const Shape& shape) const;
  double data_empty(TensorId t, const Shape& shape) const;
  MovedShare share(TensorId t, LevelId level, const Shape& shape);
  MovedShare data_share(TensorId t, const TensorFormat& format, const Shape& shape) const;
  Shape shape_of(TensorId t, const PerDim<std::int64_t>& extents) const;

  const Problem& problem_;
  PerTensor<Zeros> zeros_;
};

}  // namespace mapsim::check
