// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "design/space.hpp"

namespace mapsim {

using Values = std::vector<std::size_t>;  // of a design, one an axis

// A search for a good design from the middle of a box downhill, one axis at a time, or two, of
// which one pays the area of the other.
struct Descent {
  const DesignBox& box;
  bool trades;  // area is limited
  std::function<double(const Values&)> area{};
  std::function<bool(const Values&)> is_allowed{};  // inside the box, and not too large
  std::function<bool(const Values&)> take{};        // values a design; false: interrupted
  std::function<bool(const Values&)> is_best{};     // of all that were taken
};
// The first design: the middle of the box, made smaller step by step, each where it saves most
// area, until it is allowed. nullopt: no design is allowed.
std::optional<Values> descent_start(const Descent& descent);
// False if it was interrupted.
bool descend(const Descent& descent);

}  // namespace mapsim
