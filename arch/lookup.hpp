// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "arch/accelergy.hpp"
#include "arch/arch.hpp"

namespace mapsim {

// Gives the numbers that an architecture file leaves out: from Accelergy's tables, else from the
// tables of the technology.
struct Lookup {
  std::optional<Technology> technology;
  std::optional<EnergyReferences> ert;
  std::optional<AreaReferences> art;

  // Fill in energies and their sources. False: they were not found.
  bool energy(Storage& storage) const;
  bool energy(Compute& compute) const;
  // Energy of an access or operation that is gated or skipped: the largest of these actions,
  // because the model has one energy for all of them; 0 if the table has none.
  Picojoules idle(const std::string& component, Actions actions) const;
  // Fill in leakage and area if they are absent and known. By the technology, those of a MAC depend
  // on its widths: bind_widths() fills them in.
  void physical(Storage& storage, Hertz clock) const;
  void physical(Compute& compute, Hertz clock) const;
};

}  // namespace mapsim
