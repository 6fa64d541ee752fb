// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "core/units.hpp"
#include "design/value.hpp"

namespace mapsim {

// What a design may come to, all layers together. Those on figures choose the mappings: of each
// layer one of its Pareto-optimal mappings of energy and latency.
struct DesignLimits {
  std::optional<SquareMillimetres> area{};
  std::optional<Picojoules> energy{};
  std::optional<Seconds> latency{};
  std::optional<Milliwatts> power{};  // energy / latency
  bool on_figures() const { return energy || latency || power; }
  bool any() const { return area || on_figures(); }
};

// Does a design break them with these mappings?
bool is_beyond(const DesignLimits& limits, const Assessment& design);
// A design whose total energy [pJ] is at least this, whatever its mappings, cannot keep the limits
// with a value below `worth`; infinite: nothing of the kind is known.
double most_energy(const DesignLimits& limits, const DesignObjective& objective, double worth);

// Those on figures, of a machine of a clock, and what is minimised within them.
struct WithinLimits {
  WithinLimits(const DesignLimits& limits, const DesignObjective& minimised, double clock);
  DesignObjective objective;
  double unit;  // a value in pJ and s over the same value in pJ and cycles
  double energy = kNoMapping, cycles = kNoMapping;
  double power = kNoMapping;  // pJ per cycle
  bool allows(double total_energy, double total_cycles) const;
  // Is the objective one of the totals, whatever layer they come from?
  bool is_of_totals() const;
  double of_totals(double total_energy, double total_cycles) const;  // [pJ, cycles]
};

// No choice of mappings has a lower value [pJ, cycles] within the limits if its totals are bounded
// by these lines: energy + weight * cycles is at least the value; an infinite weight: cycles are.
// 0 if the objective is not one of totals. Infinite: no choice is within the limits.
struct LeastWithin {
  double value = kNoMapping;
  double cycles = 0;  // where it may be
};
LeastWithin least_within(const WithinLimits& within, std::vector<SupportLine> lines);

struct CountedFront {
  double count = 0;
  LayerFront front;
};
// One point a layer.
struct LimitedChoice {
  std::vector<std::size_t> points{};  // empty: none is known
  double value = kNoMapping;          // of the objective [pJ, s]
  double lower = kNoMapping;          // no choice of points is better; infinite: none is allowed
};
// The best choice of points within the limits, if it is better than `worth`. At most `most`
// partial choices are kept at a time; the bound `lower` also holds for those that are dropped.
LimitedChoice choose_within(const WithinLimits& within, const std::vector<CountedFront>& layers,
                            double worth, std::size_t most);

}  // namespace mapsim
