// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/rng.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/mapping.hpp"

namespace mapsim {

// One unrolled dim of a fanout axis: `factor` instances side by side along it.
struct Unroll {
  DimId dim{};
  FanoutId fanout{};
  Axis axis = Axis::kX;
  std::int64_t factor = 1;  // > 1
  friend bool operator==(const Unroll&, const Unroll&) = default;
};

enum class KeepRule : std::uint8_t { kFree, kKeep, kBypass };

// What the user fixes, beyond what the architecture demands.
struct Constraints {
  bool even = false;  // the keeps of one level stand together
  // Given spatial unrolling of a fanout (complete for every fanout it names an axis of), or free.
  std::optional<std::vector<Unroll>> spatial;
  // Per level and tensor; empty = all free. The architecture's own rules are added to it.
  PerLevel<PerTensor<KeepRule>> keeps;
  friend bool operator==(const Constraints&, const Constraints&) = default;
};

// The declared mapspace: every canonical mapping (costmodel/mapping.hpp) with
//  - perfect factors: every extent divides the extent above it;
//  - per fanout axis a product of factors <= its size, dims as the architecture allows; the parallel
//    nodes of one fanout stand together, X before Y, dims in order;
//  - keeps as the architecture and the constraints allow, each at any point of the nest that the
//    structure rules allow (even: the keeps of one level at one point);
//  - any loop order, at most one loop per dim between two keeps or fanouts or loops over other dims.
// Capacities are not part of the structure.
class Mapspace {
 public:
  Mapspace(const Problem& problem, Constraints constraints);

  const Problem& problem() const { return *problem_; }
  const Constraints& constraints() const { return constraints_; }

  // Every admissible spatial unrolling, in a fixed order (one, if it is given).
  const std::vector<std::vector<Unroll>>& unrollings() const { return unrollings_; }
  KeepRule keep_rule(LevelId level, TensorId tensor) const;

  // Exact number of mappings, as a decimal string. By a closed form: docs/mapper.md.
  std::string size() const;
  // Calls `visit` with each mapping once, in a fixed order, until it returns false.
  void enumerate(const std::function<bool(const Mapping&)>& visit) const;
  // Uniform over the mapspace, feasible or not.
  Mapping sample(Rng& rng) const;

 private:
  const Problem* problem_;  // outlives the mapspace
  Constraints constraints_;
  std::vector<std::vector<Unroll>> unrollings_;
};

}  // namespace mapsim
