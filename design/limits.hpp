// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "core/units.hpp"
#include "design/value.hpp"

namespace mapsim {

// What a design may come to, all layers together, with the mappings that are best for the
// objective.
struct DesignLimits {
  std::optional<SquareMillimetres> area{};
  std::optional<Picojoules> energy{};
  std::optional<Seconds> latency{};
  std::optional<Milliwatts> power{};  // energy / latency
  bool on_figures() const { return energy || latency || power; }
  bool any() const { return area || on_figures(); }
};

// Does a design break them with its mappings?
bool is_beyond(const DesignLimits& limits, const Assessment& design);
// A design whose total energy [pJ] is at least this, whatever its mappings, cannot keep the limits
// with a value below `worth`; infinite: nothing of the kind is known.
double most_energy(const DesignLimits& limits, const DesignObjective& objective, double worth);

}  // namespace mapsim
