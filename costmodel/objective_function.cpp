// SPDX-License-Identifier: Apache-2.0
#include "costmodel/objective_function.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "costmodel/objective_formula.hpp"

namespace mapsim {

namespace {

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
  auto read = read_formula(text);
  if (auto* fault = std::get_if<FormulaFault>(&read)) {
    return std::move(fault->what);
  }
  return std::get<ObjectiveFunction>(read);
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
