// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/quantity_text.hpp"
#include "costmodel/evaluate.hpp"
#include "costmodel/objective_function.hpp"

namespace mapsim {

// Which latency counts (docs/model.md). The energy always includes leakage for the steady one.
enum class LatencyMode : std::uint8_t { kSteady, kRamped };

// The figure to minimise over the mappings within the limits.
struct Objective {
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  // Energy or latency alone: among all minima the one with the least other figure, proven
  bool exact_ties = false;
  LatencyMode mode = LatencyMode::kSteady;
  std::optional<Picojoules> max_energy = std::nullopt;
  std::optional<Cycles> max_latency = std::nullopt;
  friend bool operator==(const Objective&, const Objective&) = default;

  // Ties are broken by the second figure, then by a fixed order of mappings.
  // Second figure: latency (least with exact_ties, or of each class's best)
  static const Objective kEnergy;
  static const Objective kLatency;  // second figure: energy
  static const Objective kEdp;      // second figure: energy
};
inline constexpr Objective Objective::kEnergy{};
inline constexpr Objective Objective::kLatency{ObjectiveFunction::product(0, 1)};
inline constexpr Objective Objective::kEdp{ObjectiveFunction::product(1, 1)};

// Relative difference up to which figures are equal, since they may be summed in different orders.
inline constexpr double kRounding = 1e-11;

Cycles latency_of(LatencyMode mode, const Latency& latency);
double objective_value(const Objective& objective, const Cost& cost);
// The figure that breaks ties: latency [cycles] where the objective uses energy alone, else energy
// [pJ].
double second_figure(const Objective& objective, double picojoules, double cycles);
// Are the limits respected? That on energy [pJ] up to kRounding.
inline bool is_within_limits(const Objective& objective, double picojoules, double cycles) {
  return (!objective.max_energy || picojoules <= objective.max_energy->count() * (1 + kRounding)) &&
         (!objective.max_latency || cycles <= static_cast<double>(objective.max_latency->count()));
}
bool is_within_limits(const Objective& objective, const Cost& cost);
// Is `a` better than `b`? A strict weak order without tolerances. Costs beyond a limit come last.
bool better(const Objective& objective, const Cost& a, const Cost& b);
// Does the objective depend on a latency, apart from leakage?
bool asks_for_latency(const Objective& objective);

// The text of parse_objective_function(), or "energy,latency" (minimise energy, break ties by
// latency) and "latency,energy". Mode and limits have options of their own.
Parsed<Objective> parse_objective(std::string_view text);
std::string to_string(const Objective& objective);  // as parse_objective reads it
const char* to_string(LatencyMode mode);            // steady, ramped

// 1.2e6 cycles, or 6 ms, which the clock turns into whole cycles that it does not exceed.
Parsed<Cycles> parse_duration(std::string_view text, Hertz clock);
// What is wrong with such a text on machines of any clock; nullopt: nothing.
std::optional<std::string> wrong_duration(std::string_view text);

}  // namespace mapsim
