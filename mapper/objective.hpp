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

// Which latency counts: docs/model.md. Energy always has the leakage of the steady one.
enum class LatencyMode : std::uint8_t { kSteady, kRamped };

// What to minimise of the mappings within the limits.
struct Objective {
  ObjectiveFunction function = ObjectiveFunction::product(1, 0);
  bool exact_ties = false;  // energy or latency alone: of the least the least other one, proven
  LatencyMode mode = LatencyMode::kSteady;
  std::optional<Picojoules> max_energy = std::nullopt;
  std::optional<Cycles> max_latency = std::nullopt;
  friend bool operator==(const Objective&, const Objective&) = default;

  // Ties go to the second figure, then to the first mapping in a fixed order.
  static const Objective kEnergy;   // then latency (exact_ties, or of the best of each unrolling)
  static const Objective kLatency;  // then energy
  static const Objective kEdp;      // then energy
};
inline constexpr Objective Objective::kEnergy{};
inline constexpr Objective Objective::kLatency{ObjectiveFunction::product(0, 1)};
inline constexpr Objective Objective::kEdp{ObjectiveFunction::product(1, 1)};

// Figures of two orders of summation are equal if they differ by no more, relatively.
inline constexpr double kRounding = 1e-11;

Cycles latency_of(LatencyMode mode, const Latency& latency);
double objective_value(const Objective& objective, const Cost& cost);
// The figure that breaks ties: latency [cycles] where the objective uses energy alone, else energy
// [pJ].
double second_figure(const Objective& objective, double picojoules, double cycles);
// Do the limits hold? That on energy to kRounding.
bool is_within_limits(const Objective& objective, const Cost& cost);
// Is `a` better than `b`? A strict weak order without tolerances; what is beyond a limit comes
// last.
bool better(const Objective& objective, const Cost& a, const Cost& b);
// Does any latency but that of leakage play a part?
bool asks_for_latency(const Objective& objective);

// What parse_objective_function() reads, or "energy,latency" (minimise energy, break ties by
// latency) and "latency,energy". Mode and limits have options of their own.
Parsed<Objective> parse_objective(std::string_view text);
std::string to_string(const Objective& objective);  // as parse_objective reads it
const char* to_string(LatencyMode mode);            // steady, ramped

// 1.2e6 cycles, or 6 ms, which the clock turns into whole cycles that it does not exceed.
Parsed<Cycles> parse_duration(std::string_view text, Hertz clock);

}  // namespace mapsim
