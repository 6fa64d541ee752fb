// SPDX-License-Identifier: Apache-2.0
#include "costmodel/fusion/points.hpp"

#include <algorithm>
#include <optional>

#include "workloads/chain.hpp"

namespace mapsim {

WindowStride window_of(const Workload& reader, const Rank& rank) {
  WindowStride at{0, 1};
  const std::optional<DimId> primary = primary_dim(reader, rank);
  for (const Term& term : rank.terms) {
    if (term.dim == primary) {
      at.stride = term.coefficient;
    } else {
      at.window += term.coefficient * (reader.dims[term.dim].bound - 1);
    }
  }
  return primary ? at : WindowStride{};
}

IterationBox whole_box(const Workload& workload) {
  IterationBox box(workload.dims.size());
  for (const DimId d : workload.dims.ids()) {
    box[d] = {0, workload.dims[d].bound};
  }
  return box;
}

IndexRange needed_points(const Workload& reader, const Rank& rank, const IterationBox& box,
                         std::int64_t made) {
  const std::optional<DimId> primary = primary_dim(reader, rank);
  const auto [stride, window] = window_of(reader, rank);
  IndexRange need{0, 1};
  bool whole_windows = true;
  bool at_end = true;
  for (const Term& term : rank.terms) {
    const IndexRange& at = box[term.dim];
    if (at.empty()) {
      return {};
    }
    need.lo += term.coefficient * at.lo;
    need.hi += term.coefficient * (at.hi - 1);
    at_end = at_end && at.hi == reader.dims[term.dim].bound;
    whole_windows =
        whole_windows && (term.dim == primary || at.size() == reader.dims[term.dim].bound);
  }
  if (primary && stride > window && whole_windows) {
    need.hi += stride - window;
  }
  return {need.lo, at_end ? made : std::min(need.hi, made)};
}

}  // namespace mapsim
