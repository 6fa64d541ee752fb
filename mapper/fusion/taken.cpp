// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/taken.hpp"

#include <algorithm>
#include <functional>

#include "arch/buffering.hpp"

namespace mapsim::fusion {

std::vector<CapacityOf> capacities_of(const Arch& arch) {
  std::vector<CapacityOf> capacities;
  for (const LevelId l : arch.levels.ids()) {
    const Storage& storage = arch.levels[l];
    const auto usable = [&](Bits bits) {
      return static_cast<double>(bits.count() / copies_of(storage));
    };
    if (storage.capacity.shared) {
      capacities.push_back({l, std::nullopt, usable(*storage.capacity.shared)});
    }
    for (const auto& [role, bits] : storage.capacity.per_role) {
      capacities.push_back({l, role, usable(bits)});
    }
  }
  return capacities;
}

Arch with_less(const Arch& arch, const std::vector<CapacityOf>& capacities, const Taken& taken) {
  Arch smaller = arch;
  for (std::size_t c = 0; c < capacities.size(); ++c) {
    Storage& storage = smaller.levels[capacities[c].level];
    Bits& bits = capacities[c].role ? storage.capacity.per_role[*capacities[c].role]
                                    : *storage.capacity.shared;
    const auto taken_bits = static_cast<std::int64_t>(taken[c]);
    bits = Bits{std::max<std::int64_t>(0, bits.count() - taken_bits * copies_of(storage))};
  }
  return smaller;
}

void take(const std::vector<CapacityOf>& capacities, LevelId level, Role role, double bits,
          Taken& taken) {
  for (std::size_t c = 0; c < capacities.size(); ++c) {
    const bool is_here = capacities[c].level == level;
    taken[c] += is_here && (!capacities[c].role || *capacities[c].role == role) ? bits : 0;
  }
}

bool fits(const std::vector<CapacityOf>& capacities, const Taken& taken) {
  for (std::size_t c = 0; c < capacities.size(); ++c) {
    if (taken[c] > capacities[c].bits) {
      return false;
    }
  }
  return true;
}

Taken operator+(const Taken& a, const Taken& b) {
  Taken sum = a;
  std::transform(sum.begin(), sum.end(), b.begin(), sum.begin(), std::plus<>{});
  return sum;
}

}  // namespace mapsim::fusion
