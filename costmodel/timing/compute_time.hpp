// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "core/index.hpp"
#include "core/units.hpp"

namespace mapsim {

// What the compute units take by themselves, whatever the memories: the first instance's time.
struct ComputeTime {
  Cycles busy{0};         // steps at the issue interval
  Cycles load{0};         // shifting in what stays, as far as it shows
  Cycles skew{0};         // waves that enter and leave, as far as they show
  Cycles hidden_load{0};  // the rest of the shifting
  std::int64_t folds = 1;
  std::optional<TensorId> stationary;
  Cycles total() const { return busy + load + skew; }
  friend bool operator==(const ComputeTime&, const ComputeTime&) = default;
};

}  // namespace mapsim
