// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "arch/accelergy.hpp"
#include "arch/arch.hpp"

namespace mapsim {

// What stands in for the numbers that an architecture file leaves out: Accelergy's tables before
// the table of the technology.
struct Lookup {
  std::optional<Technology> technology;
  std::optional<EnergyReferences> ert;
  std::optional<AreaReferences> art;

  // True: found, and filled in with its source.
  bool energy(Storage& storage) const;
  bool energy(Compute& compute) const;
  // Of accesses or operations that are not made: the largest of these actions, as there is one
  // energy for all of them; 0 if the table has none.
  Picojoules idle(const std::string& component, Actions actions) const;
  // Those of leakage and area that are absent, as far as they are known here. What a MAC leaks and
  // covers by the technology depends on its widths: bind_widths().
  void physical(Storage& storage, Hertz clock) const;
  void physical(Compute& compute, Hertz clock) const;
};

}  // namespace mapsim
