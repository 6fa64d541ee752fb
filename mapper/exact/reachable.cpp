// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "mapper/exact/skeleton.hpp"

namespace mapsim::exact {

std::vector<char> Skeleton::reachable_without(const std::vector<bool>& left_out) const {
  std::vector<char> found(phases() * pointers_, 0);
  const auto reach = [&](std::size_t phase, std::optional<std::size_t> pointers) {
    if (pointers) {
      found[phase * pointers_ + *pointers] = 1;
    }
  };
  const auto is_whole = [&](const Jump& jump) {
    return std::none_of(jump.placings.begin(), jump.placings.end(),
                        [&](std::size_t placing) { return left_out[placing]; });
  };
  for (const std::size_t start : starts_) {
    reach(0, start);
  }
  for (std::size_t row = 0; row < found.size(); ++row) {
    const std::size_t phase = row / pointers_;
    const std::size_t pointers = row % pointers_;
    if (found[row] == 0) {
      continue;
    }
    if (phase + 1 < phases()) {
      reach(phase + 1, after_event(phase, pointers));
    }
    for (const Place& place : places_[row]) {
      if (!left_out[place.placing]) {
        reach(phase, place.target);
      }
    }
    const DimSet fixed = frozen(phase, pointers);
    for (const DimId d : sliding_.ids()) {
      if (fixed.contains(d) || !after_loop(phase, pointers, d, 1)) {
        continue;
      }
      const std::size_t kinds = is_neutral(phase, pointers, d) ? 1 : factors_[d].size();
      for (std::size_t i = 0; i < kinds; ++i) {
        reach(phase, after_loop(phase, pointers, d, factors_[d][i]));
        for (const Jump& jump : jumps_[row]) {
          if (jump.dim == d && is_whole(jump)) {
            reach(phase, after_loop(phase, jump.target, d, factors_[d][i]));
          }
        }
      }
    }
  }
  return found;
}

}  // namespace mapsim::exact
