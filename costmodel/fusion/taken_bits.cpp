// SPDX-License-Identifier: Apache-2.0
#include "costmodel/fusion/taken_bits.hpp"

#include <algorithm>
#include <functional>

#include "arch/buffering.hpp"

namespace mapsim {

Arch with_less(const Arch& arch, const TakenBits& taken) {
  Arch smaller = arch;
  const std::vector<FiniteCapacity> capacities = capacities_of(arch);
  for (std::size_t c = 0; c < capacities.size(); ++c) {
    Storage& level = smaller.levels[capacities[c].level];
    Bits& size = size_of(level, capacities[c].role);
    const auto taken_bits = static_cast<std::int64_t>(taken[c]);
    size = Bits{std::max<std::int64_t>(0, size.count() - taken_bits * copies_of(level))};
  }
  return smaller;
}

void take(const std::vector<FiniteCapacity>& capacities, LevelId level, Role role, double bits,
          TakenBits& taken) {
  for (std::size_t c = 0; c < capacities.size(); ++c) {
    const bool is_here = capacities[c].level == level;
    taken[c] += is_here && capacities[c].role.value_or(role) == role ? bits : 0;
  }
}

bool fits(const std::vector<FiniteCapacity>& capacities, const TakenBits& taken) {
  return std::equal(taken.begin(), taken.end(), capacities.begin(),
                    [](double bits, const FiniteCapacity& capacity) {
                      return bits <= static_cast<double>(capacity.bits.count());
                    });
}

TakenBits sum_of(TakenBits a, const TakenBits& b) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), std::plus<>{});
  return a;
}

bool takes_no_less(const TakenBits& a, const TakenBits& b) {
  return std::equal(a.begin(), a.end(), b.begin(), std::greater_equal<>{});
}

}  // namespace mapsim
