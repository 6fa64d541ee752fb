// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "check/boxes.hpp"
#include "check/reuse.hpp"
#include "check/rules.hpp"

namespace mapsim::check {

// The effect on traffic of the instances in a box of unrollings (boxes.hpp). `at` is a level, or
// the compute units.
class InstanceBounds {
 public:
  using Node = std::optional<LevelId>;
  InstanceBounds(const Problem& problem, const Rules& rules, const ChoiceRanges& ranges);

  bool is_before(FanoutId f, const Node& at) const { return !at || !arch_.is_above(*at, f); }
  // Between the levels, or a level and the compute units.
  bool is_between(FanoutId f, LevelId from, const Node& to) const {
    return arch_.is_above(from, f) && is_before(f, to);
  }

  // Bounds of the instances that differ in dims that the tensor does not have, and that work on one
  // element of it at some time.
  double fewest_copies(TensorId t, const Node& at) const;
  double most_copies(TensorId t, const Node& at) const;

  // Per dim, the instances of a level at most.
  PerDim<std::int64_t> most_along(const Node& at) const;

  // Upper bounds of the instances that one transfer across a boundary serves.
  struct Merged {
    PerDim<std::int64_t> along;  // per dim
    double lacking = 1;          // along dims that the tensor does not have
    double sharing = 1;          // along these and the dims of its windows
    bool along_lacking_only = true;
  };
  Merged merged(TensorId t, LevelId from, const Node& to) const;

  // The extents that an instance's tile may have, without capacities.
  SharedCapacities capacities_at(const Node& at) const;

 private:
  std::int64_t fewest_at_work(DimId d, const Node& at, bool outside) const;
  void add_divisors(DimId d, const Node& at, SharedCapacities& capacities) const;
  void add_imperfect(DimId d, const Node& at, SharedCapacities& capacities) const;

  const Problem& problem_;
  const Arch& arch_;
  const Rules& rules_;
  const ChoiceRanges& ranges_;
  PerDim<std::int64_t> bounds_;
};

}  // namespace mapsim::check
