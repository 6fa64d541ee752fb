// SPDX-License-Identifier: Apache-2.0
#include "mapper/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <tuple>

#include "core/diagnostic.hpp"

namespace mapsim {

namespace {

constexpr double kMostPower = 8;  // keeps values finite

// What can stand in a formula.
struct Factor {
  std::string_view name;
  double energy = 0;
  double latency = 0;
};
constexpr std::array kFactors{Factor{"energy", 1, 0}, Factor{"latency", 0, 1}, Factor{"edp", 1, 1}};

double power(double base, double exponent) {
  return exponent == 0 ? 1 : (exponent == 1 ? base : std::pow(base, exponent));
}

// What breaks ties of the objective.
double second_figure(const Objective& objective, const Cost& cost) {
  return objective.latency_power == 0
             ? static_cast<double>(latency_of(objective.mode, cost.latency).count())
             : cost.energy.total.count();
}

std::string bad_objective(std::string_view text, std::string_view why) {
  return fmt::format(
      "'{}' is no objective: {}; write energy, latency, edp, a product like 'energy^2*latency', "
      "or 'energy,latency' for the fastest of the least energy",
      text, why);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

// NAME or NAME^NUMBER; adds it to the powers.
std::optional<std::string> add_factor(std::string_view text, Objective& objective) {
  const std::size_t caret = text.find('^');
  const std::string_view name = trimmed(text.substr(0, caret));
  double exponent = 1;
  if (caret != std::string_view::npos) {
    const std::string_view digits = trimmed(text.substr(caret + 1));
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc{} || end != digits.data() + digits.size() || !(exponent >= 0)) {
      return fmt::format("'{}' is not a number from 0 to {}", digits, kMostPower);
    }
  }
  for (const Factor& factor : kFactors) {
    if (factor.name == name) {
      objective.energy_power += factor.energy * exponent;
      objective.latency_power += factor.latency * exponent;
      return std::nullopt;
    }
  }
  return fmt::format("there is no figure '{}'", name);
}

std::string factor_text(std::string_view name, double exponent) {
  return exponent == 1 ? std::string{name} : fmt::format("{}^{}", name, exponent);
}

}  // namespace

Cycles latency_of(LatencyMode mode, const Latency& latency) {
  return mode == LatencyMode::kSteady ? latency.steady : latency.ramped;
}

double objective_value(const Objective& objective, double energy_pj, double cycles) {
  return power(energy_pj, objective.energy_power) * power(cycles, objective.latency_power);
}

double objective_value(const Objective& objective, const Cost& cost) {
  return objective_value(objective, cost.energy.total.count(),
                         static_cast<double>(latency_of(objective.mode, cost.latency).count()));
}

bool is_within_limits(const Objective& objective, const Cost& cost) {
  return (!objective.max_energy ||
          cost.energy.total.count() <= objective.max_energy->count() * (1 + kRounding)) &&
         (!objective.max_latency ||
          latency_of(objective.mode, cost.latency) <= *objective.max_latency);
}

bool better(const Objective& objective, const Cost& a, const Cost& b) {
  const auto key = [&](const Cost& cost) {
    return std::tuple{!is_within_limits(objective, cost), objective_value(objective, cost),
                      second_figure(objective, cost)};
  };
  return key(a) < key(b);
}

bool asks_for_latency(const Objective& objective) {
  return objective.latency_power > 0 || objective.exact_ties || objective.max_latency;
}

Parsed<Objective> parse_objective(std::string_view text) {
  Objective objective{0, 0};
  std::string_view formula = text.substr(0, text.find(','));
  if (formula.size() < text.size()) {
    const std::string_view then = text.substr(formula.size() + 1);
    const bool both = (trimmed(formula) == "energy" && trimmed(then) == "latency") ||
                      (trimmed(formula) == "latency" && trimmed(then) == "energy");
    if (!both) {
      return bad_objective(text, "a comma stands between energy and latency");
    }
    objective.exact_ties = true;
  }
  for (std::size_t begin = 0; begin <= formula.size();) {
    const std::size_t end = std::min(formula.find('*', begin), formula.size());
    if (const auto problem = add_factor(formula.substr(begin, end - begin), objective)) {
      return bad_objective(text, *problem);
    }
    begin = end + 1;
  }
  if (objective.energy_power + objective.latency_power == 0) {
    return bad_objective(text, "it is the same for every mapping");
  }
  if (objective.energy_power > kMostPower || objective.latency_power > kMostPower) {
    return bad_objective(text, fmt::format("powers are at most {}", kMostPower));
  }
  return objective;
}

std::string to_string(const Objective& objective) {
  const double a = objective.energy_power;
  const double b = objective.latency_power;
  if (a == 1 && b == 1) {
    return "edp";
  }
  if (b == 0) {
    return factor_text("energy", a) + (objective.exact_ties ? ",latency" : "");
  }
  return a == 0 ? factor_text("latency", b) + (objective.exact_ties ? ",energy" : "")
                : factor_text("energy", a) + "*" + factor_text("latency", b);
}

const char* to_string(LatencyMode mode) {
  return mode == LatencyMode::kSteady ? "steady" : "ramped";
}

Parsed<Cycles> parse_duration(std::string_view text, Hertz clock) {
  double cycles = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), cycles);
  std::string_view unit{stop, static_cast<std::size_t>(text.data() + text.size() - stop)};
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  if (error == std::errc{} && cycles < 0) {
    return fmt::format("'{}' is negative", text);
  }
  if (error != std::errc{} || (unit != "cycles" && unit != "cycle")) {
    const Parsed<Seconds> time = parse_seconds(text);
    if (const auto* problem = std::get_if<std::string>(&time)) {
      return *problem + "; or cycles";
    }
    cycles = std::get<Seconds>(time).count() * clock.count();
  }
  // What is a whole number but for rounding is one: 6 ms at 200 MHz are 1,200,000 cycles.
  cycles = std::floor(cycles * (1 + kRounding));
  if (!(cycles >= 1) || cycles > 0x1p53) {
    return fmt::format("'{}' is not at least 1 cycle and at most 2^53", text);
  }
  return Cycles{static_cast<std::int64_t>(cycles)};
}

}  // namespace mapsim
