// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/fusion/box_length.hpp"
#include "workloads/workload.hpp"

namespace mapsim::check {

// How a nest is entered. An ordinary mapping is entered once, with every tensor at the outermost
// level. A branch of a mapping tree is entered many times, with boxes whose sizes may differ, and
// with some tensors further in. The workload's bounds are those of the largest box, and costs those
// of the mean entry.
struct NestEntry {
  PerTensor<LevelId> sources{};      // none: the outermost
  std::optional<bool> final_sums{};  // of an output of two widths, where it lies; none: either
  PerDim<std::vector<BoxLength>> sizes{};  // of dims that vary
  double begun = 1;                        // share of an entry's sums that it begins itself

  LevelId source(TensorId t) const { return sources.empty() ? LevelId{0} : sources[t]; }
  bool varies(DimId d) const { return !sizes.empty() && !sizes[d].empty(); }
  bool varies() const;
  // The mean over all entries of a function of the dim's size.
  template <class Function>
  double mean(DimId d, std::int64_t bound, const Function& function) const {
    if (!varies(d)) {
      return static_cast<double>(function(bound));
    }
    double sum = 0;
    double times = 0;
    for (const BoxLength& length : sizes[d]) {
      const auto count = static_cast<double>(length.times);
      sum += count * static_cast<double>(function(length.size));
      times += count;
    }
    return sum / times;
  }
  double mean_size(DimId d, std::int64_t bound) const {
    return mean(d, bound, [](std::int64_t size) { return size; });
  }
  // Operations of the mean entry.
  double operations(const Workload& workload) const;
  friend bool operator==(const NestEntry&, const NestEntry&) = default;
};

// The extents that divide all sizes of a dim, and its bound.
std::vector<std::int64_t> extents_of(const NestEntry& entry, DimId d, std::int64_t bound);

}  // namespace mapsim::check
