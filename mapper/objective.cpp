// SPDX-License-Identifier: Apache-2.0
#include "mapper/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>
#include <variant>

#include "costmodel/objective_formula.hpp"

namespace mapsim {

namespace {

std::string bad_objective(std::string_view text, const FormulaFault& fault) {
  return with_caret(
      fmt::format("'{}' is no objective: {}; write energy, latency, edp, a product like "
                  "'energy^2*latency', a sum like 'energy + 12.5*latency' (pJ per cycle), or "
                  "'energy,latency' for the fastest of the least energy",
                  text, fault.what),
      text, fault.at);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

}  // namespace

Cycles latency_of(LatencyMode mode, const Latency& latency) {
  return mode == LatencyMode::kSteady ? latency.steady : latency.ramped;
}

double objective_value(const Objective& objective, const Cost& cost) {
  return objective.function.value(
      cost.energy.total.count(),
      static_cast<double>(latency_of(objective.mode, cost.latency).count()));
}

double second_figure(const Objective& objective, double picojoules, double cycles) {
  return objective.function.uses_latency() ? picojoules : cycles;
}

bool is_within_limits(const Objective& objective, const Cost& cost) {
  return is_within_limits(objective, cost.energy.total.count(),
                          static_cast<double>(latency_of(objective.mode, cost.latency).count()));
}

bool better(const Objective& objective, const Cost& a, const Cost& b) {
  const auto key = [&](const Cost& cost) {
    const auto cycles = static_cast<double>(latency_of(objective.mode, cost.latency).count());
    return std::tuple{!is_within_limits(objective, cost), objective_value(objective, cost),
                      second_figure(objective, cost.energy.total.count(), cycles)};
  };
  return key(a) < key(b);
}

bool asks_for_latency(const Objective& objective) {
  return objective.function.uses_latency() || objective.exact_ties || objective.max_latency;
}

Parsed<Objective> parse_objective(std::string_view text) {
  Objective objective;
  const std::string_view formula = text.substr(0, text.find(','));
  if (formula.size() < text.size()) {
    const std::string_view then = trimmed(text.substr(formula.size() + 1));
    const bool both = (trimmed(formula) == "energy" && then == "latency") ||
                      (trimmed(formula) == "latency" && then == "energy");
    if (!both) {
      return bad_objective(text,
                           {"only energy and latency may be separated by a comma", formula.size()});
    }
    objective.exact_ties = true;
  }
  const auto parsed = read_formula(formula);
  if (const auto* wrong = std::get_if<FormulaFault>(&parsed)) {
    return bad_objective(text, *wrong);
  }
  objective.function = std::get<ObjectiveFunction>(parsed);
  return objective;
}

std::string to_string(const Objective& objective) {
  return to_string(objective.function) + (!objective.exact_ties               ? ""
                                          : objective.function.uses_latency() ? ",energy"
                                                                              : ",latency");
}

const char* to_string(LatencyMode mode) {
  return mode == LatencyMode::kSteady ? "steady" : "ramped";
}

namespace {

// Cycles, or the time that the text has.
Parsed<std::variant<double, Seconds>> read_duration(std::string_view text) {
  using Read = std::variant<double, Seconds>;
  double cycles = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), cycles);
  std::string_view unit{stop, static_cast<std::size_t>(text.data() + text.size() - stop)};
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (error == std::errc{} && cycles < 0) {
    return fmt::format("'{}' is negative", text);
  }
  if (error == std::errc{} && (unit == "cycles" || unit == "cycle")) {
    return std::isnan(cycles) ? Parsed<Read>{fmt::format("'{}' is no number of cycles", text)}
                              : Parsed<Read>{Read{cycles}};
  }
  const Parsed<Seconds> time = parse_seconds(text);
  if (const auto* problem = std::get_if<std::string>(&time)) {
    return *problem + "; or cycles";
  }
  return Read{std::get<Seconds>(time)};
}

// `cycle`: what is said of the length of a cycle; may be empty.
Parsed<Cycles> whole_cycles(std::string_view text, double cycles, const std::string& cycle) {
  // A number that is whole but for rounding counts as whole: 6 ms at 200 MHz are 1,200,000 cycles.
  cycles = std::floor(cycles * (1 + kRounding));
  if (cycles < 1) {
    return fmt::format("'{}' is less than 1 cycle{}", text, cycle);
  }
  if (cycles > 0x1p53) {
    return fmt::format("'{}' is more than 2^53 cycles{}", text, cycle);
  }
  return Cycles{static_cast<std::int64_t>(cycles)};
}

}  // namespace

Parsed<Cycles> parse_duration(std::string_view text, Hertz clock) {
  const auto read = read_duration(text);
  if (const auto* problem = std::get_if<std::string>(&read)) {
    return *problem;
  }
  const auto& given = std::get<std::variant<double, Seconds>>(read);
  if (const auto* cycles = std::get_if<double>(&given)) {
    return whole_cycles(text, *cycles, "");
  }
  return whole_cycles(text, std::get<Seconds>(given).count() * clock.count(),
                      fmt::format("; a cycle is {:.4g} ns", 1e9 / clock.count()));
}

std::optional<std::string> wrong_duration(std::string_view text) {
  const auto read = read_duration(text);
  if (const auto* problem = std::get_if<std::string>(&read)) {
    return *problem;
  }
  const auto* cycles = std::get_if<double>(&std::get<std::variant<double, Seconds>>(read));
  const Parsed<Cycles> whole = cycles == nullptr ? Cycles{1} : whole_cycles(text, *cycles, "");
  const auto* problem = std::get_if<std::string>(&whole);
  return problem == nullptr ? std::nullopt : std::optional{*problem};
}

}  // namespace mapsim
