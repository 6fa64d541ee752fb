// SPDX-License-Identifier: Apache-2.0
#include "arch/arch.hpp"

namespace mapsim {

Bits Capacity::total() const {
  Bits sum = shared.value_or(Bits{0});
  for (const auto& [role, size] : per_role) {
    sum += size;
  }
  return sum;
}

std::int64_t Arch::instances(LevelId level) const {
  std::int64_t product = 1;
  for (const FanoutId f : fanouts.ids()) {
    if (!is_above(level, f)) {
      product *= fanouts[f].x * fanouts[f].y;
    }
  }
  return product;
}

std::int64_t Arch::mac_units() const {
  std::int64_t product = 1;
  for (const Fanout& fanout : fanouts) {
    product *= fanout.x * fanout.y;
  }
  return product;
}

std::optional<LevelId> Arch::find_level(const std::string& level_name) const {
  for (const LevelId l : levels.ids()) {
    if (levels[l].name == level_name) {
      return l;
    }
  }
  return std::nullopt;
}

std::optional<FanoutId> Arch::find_fanout(const std::string& fanout_name) const {
  for (const FanoutId f : fanouts.ids()) {
    if (fanouts[f].name == fanout_name) {
      return f;
    }
  }
  return std::nullopt;
}

const char* to_string(Axis axis) { return axis == Axis::kX ? "X" : "Y"; }

}  // namespace mapsim
