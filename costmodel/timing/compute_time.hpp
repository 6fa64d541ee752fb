// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "core/index.hpp"
#include "core/units.hpp"

namespace mapsim {

// The time of the compute units without regard to memories: the first instance's.
struct ComputeTime {
  Cycles busy{0};         // steps at the issue interval
  Cycles load{0};         // shifting in the stationary tensor, if not hidden
  Cycles skew{0};         // waves that enter and leave, if not hidden
  Cycles hidden_load{0};  // the rest of the shifting
  std::int64_t folds = 1;
  std::optional<TensorId> stationary;
  Cycles total() const { return busy + load + skew; }
  friend bool operator==(const ComputeTime&, const ComputeTime&) = default;
};

}  // namespace mapsim
