// SPDX-License-Identifier: Apache-2.0
#include "arch/physical.hpp"

#include <cstdint>

#include "arch/arch.hpp"

namespace mapsim {

namespace {

template <class Quantity>
void add(const std::string& name, const std::optional<Quantity>& of_one, std::int64_t instances,
         Total<Quantity>& total) {
  if (of_one) {
    total.sum = total.sum.value_or(Quantity{}) + *of_one * static_cast<double>(instances);
  } else {
    total.missing.push_back(name);
  }
}

template <class Quantity>
Total<Quantity> total(const Arch& arch, std::optional<Quantity> Physical::* number) {
  Total<Quantity> total;
  for (const LevelId l : arch.levels.ids()) {
    add(arch.levels[l].name, arch.levels[l].physical.*number, arch.instances(l), total);
  }
  add(arch.compute.name, arch.compute.physical.*number, arch.mac_units(), total);
  return total;
}

}  // namespace

Total<Milliwatts> total_leakage(const Arch& arch) { return total(arch, &Physical::leakage); }
Total<SquareMillimetres> total_area(const Arch& arch) { return total(arch, &Physical::area); }

Picojoules leakage_per_cycle(const Arch& arch) {
  constexpr double kPicojoulesPerMillijoule = 1e9;
  const auto leakage = total_leakage(arch).sum;
  return arch.leaks && leakage
             ? Picojoules{leakage->count() * kPicojoulesPerMillijoule / arch.clock.count()}
             : Picojoules{0};
}

}  // namespace mapsim
