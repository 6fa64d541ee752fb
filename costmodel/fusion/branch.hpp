// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/workload.hpp"

namespace mapsim {

// A size of a dim, and how many entries of a branch have it.
struct BoxLength {
  std::int64_t size = 1;
  std::int64_t times = 1;
  friend bool operator==(const BoxLength&, const BoxLength&) = default;
};

// How a nest is entered. An ordinary mapping is entered once, with every tensor at the outermost
// level. A branch of a fused mapping is entered many times, with boxes of iterations whose sizes
// may differ, and with some tensors further in. Costs are then those of the mean entry, and the
// workload's bounds are those of the largest box.
struct BranchEntry {
  PerTensor<LevelId> sources{};  // the level where each tensor lies; empty: the outermost
  // Per dim, if its size varies; empty: no dim's size does. Sizes along one dim do not depend on
  // those along others.
  PerDim<std::vector<BoxLength>> lengths{};
  // Distinct sums of the whole run per sum of an entry's output. Less than 1 if entries continue
  // sums that earlier ones began.
  double sums_begun = 1;
  // For an output with two widths: does its source level hold final sums? nullopt: either.
  std::optional<bool> final_sums{};
  // All entries together, for searches that count latency in whole cycles: how many entries there
  // are, and what the run has been charged already (components of costmodel/resource_vector.hpp).
  // With 0 entries costs are those of the mean entry, in fractions of cycles.
  struct Run {
    double entries = 0;
    std::vector<double> charged{};
    friend bool operator==(const Run&, const Run&) = default;
  };
  Run run{};

  LevelId source(TensorId t) const { return sources.empty() ? LevelId{0} : sources[t]; }
  bool is_of_branch() const { return !sources.empty(); }
  // Does the dim's size differ between entries? Does any dim's?
  bool varies(DimId d) const { return !lengths.empty() && !lengths[d].empty(); }
  bool varies() const;
  // The extents that divide all sizes of a dim, and its bound; ascending.
  std::vector<std::int64_t> extents(DimId d, std::int64_t bound) const;
  // The mean over all entries of a function of a dim's size.
  template <class Function>
  double mean(DimId d, std::int64_t bound, const Function& function) const {
    if (!varies(d)) {
      return static_cast<double>(function(bound));
    }
    double sum = 0;
    double times = 0;
    for (const BoxLength& length : lengths[d]) {
      sum += static_cast<double>(length.times) * static_cast<double>(function(length.size));
      times += static_cast<double>(length.times);
    }
    return sum / times;
  }
  double mean_size(DimId d, std::int64_t bound) const {
    return mean(d, bound, [](std::int64_t size) { return size; });
  }
  double operations(const PerDim<std::int64_t>& bounds) const;  // of the mean entry
  // Each combination of sizes, and its share of the entries.
  struct EqualEntries {
    PerDim<std::int64_t> sizes;
    double share = 1;
  };
  std::vector<EqualEntries> by_sizes(const PerDim<std::int64_t>& bounds) const;
  friend bool operator==(const BranchEntry&, const BranchEntry&) = default;
};

// A branch of a fused mapping: everything its best nest depends on, except the capacity that other
// tensors leave to it.
struct Branch {
  std::size_t einsum = 0;
  PerDim<std::int64_t> bounds{};  // of the largest box
  BranchEntry entry{};

  double operations() const { return entry.operations(bounds); }  // of the mean entry
};

// Two branches are equal if their keys are. Those of one family have the same einsum and get their
// tensors from the same levels; their boxes differ, and the share of sums that an entry begins.
using BranchKey = std::vector<std::int64_t>;
BranchKey key_of(const Branch& branch);
BranchKey family_of(const Branch& branch);

// Does a box of `large` consist of boxes of `small`?
bool divides(const PerDim<std::int64_t>& small, const PerDim<std::int64_t>& large);

}  // namespace mapsim
