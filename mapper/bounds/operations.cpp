// SPDX-License-Identifier: Apache-2.0
// UnrollingBound: how many operations an element takes part in while a tile of another tensor
// stays.
#include <algorithm>
#include <cmath>

#include "core/arithmetic.hpp"
#include "mapper/bounds/unrolling_bound.hpp"

namespace mapsim::exact {

struct UnrollingBound::Stay {
  TensorId moves{};
  TensorId stays{};
  Extents bounds;  // of the dims, in one instance of the node of the tile that stays
  Extents scale;   // extents in one instance of the other node, over those
};

// The most operations that an element of one tensor at node `to` takes part in while a tile of
// another tensor stays at node `at`: its serving node, or one further out.
double UnrollingBound::operations(TensorId moves, std::size_t to, TensorId stays,
                                  std::size_t at) const {
  // Elements; beyond that the exact bound is not worth its time
  constexpr double kHoldsAnything = 4096;
  const double space =
      at == chosen_[stays].node ? held(stays, at) : std::floor(capacity(stays, at));
  const PerDim<Dim>& dims = problem_.workload().dims;
  Stay stay{moves, stays, Extents(dims.size(), 1.0), Extents(dims.size(), 1.0)};
  double instances = 1;  // of the node of the tile that stays, per instance of the other node
  for (const DimId d : dims.ids()) {
    stay.bounds[d] = real(dims[d].bound);
    for (const FanoutId f : factors_.ids()) {
      const std::size_t levels_above = problem_.arch().levels_above[f];
      const double factor = factors_[f][d];
      stay.bounds[d] /= levels_above <= at ? factor : 1;
      stay.scale[d] *= at < levels_above && levels_above <= to ? 1 / factor : 1;
      stay.scale[d] *= to < levels_above && levels_above <= at ? factor : 1;
    }
    instances *= std::max(1.0, stay.scale[d]);
  }
  if (imperfect_ || paths_[stays].use.slides || !(space <= kHoldsAnything)) {
    return std::max(1.0, space) * instances;
  }
  Extents extents = stay.scale;
  return operations(stay, 0, std::max(1.0, space), extents);
}

// The maximum over the extents of the tile that stays, along its dims from `dim` on whose index
// does not follow from the moving element.
double UnrollingBound::operations(const Stay& stay, std::size_t dim, double capacity,
                                  Extents& extents) const {
  const auto matters = [&](std::size_t i) {
    return paths_[stay.stays].use.dims.contains(static_cast<DimId>(i)) &&
           !paths_[stay.moves].use.determined.contains(static_cast<DimId>(i));
  };
  for (; dim < extents.size() && !matters(dim); ++dim) {
    extents[static_cast<DimId>(dim)] = 1;
  }
  if (dim == extents.size()) {
    return most_operations(paths_[stay.moves].use, extents);
  }
  const auto d = static_cast<DimId>(dim);
  const auto bound = static_cast<std::int64_t>(stay.bounds[d]);
  double most = 0;
  for (const std::int64_t extent : domains_[d]) {
    if (extent > bound || real(extent) > capacity) {
      break;
    }
    if (bound % extent == 0) {
      extents[d] = real(extent) * stay.scale[d];
      most = std::max(most, operations(stay, dim + 1, capacity / real(extent), extents));
    }
  }
  return most;
}

}  // namespace mapsim::exact
