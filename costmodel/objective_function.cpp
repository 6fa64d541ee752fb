// SPDX-License-Identifier: Apache-2.0
#include "costmodel/objective_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/edit_distance.hpp"

namespace mapsim {

namespace {

constexpr double kMostPower = 8;         // keeps values finite
constexpr double kMostWeight = 0x1p100;  // likewise

// What can stand in a product.
struct Factor {
  std::string_view name;
  double energy = 0;
  double latency = 0;
};
constexpr std::array kFactors{Factor{"energy", 1, 0}, Factor{"latency", 0, 1}, Factor{"edp", 1, 1}};

double power(double base, double exponent) {
  return exponent == 0 ? 1 : (exponent == 1 ? base : std::pow(base, exponent));
}

std::string power_text(std::string_view name, double exponent) {
  return exponent == 0   ? std::string{}
         : exponent == 1 ? std::string{name}
                         : fmt::format("{}^{}", name, exponent);
}

std::string product_text(const std::string& a, std::string_view times, const std::string& b) {
  return a + (a.empty() || b.empty() ? "" : std::string{times}) + b;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value)
             ? std::optional{value}
             : std::nullopt;
}

// NAME or NAME^NUMBER; adds it to the powers. What is wrong, or nothing.
std::string add_factor(std::string_view text, double& energy, double& latency) {
  const std::size_t caret = text.find('^');
  const std::string_view name = trimmed(text.substr(0, caret));
  double exponent = 1;
  if (caret != std::string_view::npos) {
    const std::string_view digits = trimmed(text.substr(caret + 1));
    const auto read = number(digits);
    if (!read || *read < 0) {
      return fmt::format("'{}' is not a number from 0 to {}", digits, kMostPower);
    }
    exponent = *read;
  }
  const auto* factor = std::find_if(kFactors.begin(), kFactors.end(),
                                    [&](const Factor& f) { return f.name == name; });
  if (factor == kFactors.end()) {
    const auto near = nearest_word(name, names_of(kFactors));
    return fmt::format("there is no figure '{}'{}", name,
                       near ? fmt::format(" (did you mean '{}'?)", *near) : "");
  }
  energy += factor->energy * exponent;
  latency += factor->latency * exponent;
  return {};
}

Parsed<ObjectiveFunction> parse_product(std::string_view text) {
  double energy = 0;
  double latency = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('*', begin), text.size());
    const std::string wrong = add_factor(text.substr(begin, end - begin), energy, latency);
    if (!wrong.empty()) {
      return wrong;
    }
    begin = end + 1;
  }
  if (energy + latency == 0) {
    return std::string{"it is the same for every mapping"};
  }
  if (energy > kMostPower || latency > kMostPower) {
    return fmt::format("powers are at most {}", kMostPower);
  }
  return ObjectiveFunction::product(energy, latency);
}

// W*latency or latency: pJ per cycle, of what stands behind "energy +".
Parsed<ObjectiveFunction> parse_weight(std::string_view text) {
  const std::size_t star = text.find('*');
  const std::string_view figure =
      trimmed(star == std::string_view::npos ? text : text.substr(star + 1));
  const std::optional<double> weight =
      star == std::string_view::npos ? 1 : number(trimmed(text.substr(0, star)));
  if (figure != "latency" || !weight || !(*weight > 0) || *weight > kMostWeight) {
    return fmt::format(
        "behind 'energy +' stands 'W*latency' with a number W above 0, pJ per cycle, not '{}'",
        trimmed(text));
  }
  return ObjectiveFunction::weighted_sum(*weight);
}

}  // namespace

double ObjectiveFunction::value(double picojoules, double cycles) const {
  return form_ == Form::kProduct ? power(picojoules, energy_) * power(cycles, latency_)
                                 : picojoules + latency_ * cycles;
}

std::string ObjectiveFunction::unit(std::string_view energy, std::string_view latency,
                                    std::string_view times) const {
  return form_ == Form::kProduct
             ? product_text(power_text(energy, energy_), times, power_text(latency, latency_))
             : std::string{energy};
}

double ObjectiveFunction::scaled(double value, double picojoules, double cycles) const {
  return form_ == Form::kProduct
             ? value / std::pow(picojoules, energy_) / std::pow(cycles, latency_)
             : value / picojoules;
}

Parsed<ObjectiveFunction> parse_objective_function(std::string_view text) {
  const std::size_t plus = text.find('+');
  return plus != std::string_view::npos && trimmed(text.substr(0, plus)) == "energy"
             ? parse_weight(text.substr(plus + 1))
             : parse_product(text);
}

std::string to_string(const ObjectiveFunction& function) {
  if (function.form_ == ObjectiveFunction::Form::kWeightedSum) {
    return fmt::format("energy + {}*latency", function.latency_);
  }
  return function.energy_ == 1 && function.latency_ == 1
             ? "edp"
             : product_text(power_text("energy", function.energy_), "*",
                            power_text("latency", function.latency_));
}

}  // namespace mapsim
