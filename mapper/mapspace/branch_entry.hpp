// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/index.hpp"
#include "workloads/workload.hpp"

namespace mapsim {

// How a nest is entered. A mapping of its own is entered once, with every tensor at the outermost
// level. A branch of a fused mapping (mapper/fusion/) is entered again and again, with boxes of
// iterations that may differ, and with some tensors further in; costs are then those of the mean
// entry. A workload's bounds are those of the largest box.
struct BranchEntry {
  // So often is a dim entered with this size. Sizes along one dim do not depend on those of others.
  struct Length {
    std::int64_t size = 1;
    std::int64_t times = 1;
    friend bool operator==(const Length&, const Length&) = default;
  };

  PerTensor<LevelId> sources;           // the level where each tensor lies; none: the outermost
  PerDim<std::vector<Length>> lengths;  // per dim; none, or none of a dim: always its bound
  // Distinct sums of the run per sum of an entry's output: less than 1 where entries go on with
  // sums that earlier ones began.
  double sums_begun = 1;
  // Of an output with two widths: has its source sums that are final? None: either.
  std::optional<bool> final_sums;
  // All entries together, in whole cycles, as far as a search counts time: so many of them, beside
  // what the run has been charged for already (components of resource_vector.hpp). No entries:
  // costs are those of the mean entry, in fractions of cycles.
  struct Run {
    double entries = 0;
    std::vector<double> charged;
    friend bool operator==(const Run&, const Run&) = default;
  };
  Run run;

  LevelId source(TensorId t) const { return sources.empty() ? LevelId{0} : sources[t]; }
  bool is_of_branch() const { return !sources.empty(); }
  // Does the dim's size differ between entries?
  bool varies(DimId d) const { return !lengths.empty() && lengths[d].size() > 1; }
  bool varies() const {
    return std::any_of(lengths.begin(), lengths.end(),
                       [](const std::vector<Length>& of_dim) { return of_dim.size() > 1; });
  }
  // Extents that divide all sizes of a dim, ascending, and its bound.
  std::vector<std::int64_t> extents(DimId d, std::int64_t bound) const;
  // Of a function of a dim's size, over all entries.
  template <class Function>
  double mean(DimId d, std::int64_t bound, const Function& function) const {
    if (!varies(d)) {
      return static_cast<double>(function(bound));
    }
    double sum = 0;
    double times = 0;
    for (const Length& length : lengths[d]) {
      sum += static_cast<double>(length.times) * static_cast<double>(function(length.size));
      times += static_cast<double>(length.times);
    }
    return sum / times;
  }
  double mean_size(DimId d, std::int64_t bound) const {
    return mean(d, bound, [](std::int64_t size) { return size; });
  }
  friend bool operator==(const BranchEntry&, const BranchEntry&) = default;
};

}  // namespace mapsim
