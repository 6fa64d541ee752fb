// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/quantity_text.hpp"

namespace mapsim {

// What a search minimises, as a function of a mapping's energy [pJ] and latency [cycles]. Searches,
// checker and reports know an objective by this interface alone: another form is another branch in
// objective_function.cpp. Each form
// is monotone, no less where energy or latency is more: so bounds of both figures bound it.
class ObjectiveFunction {
 public:
  // energy^a * latency^b, 0 <= a, b <= 8, not both 0 [pJ^a cycles^b].
  static constexpr ObjectiveFunction product(double energy_power, double latency_power) {
    return {Form::kProduct, energy_power, latency_power};
  }
  // energy + w * latency, w > 0 in pJ per cycle [pJ]: a cycle is worth w.
  static constexpr ObjectiveFunction weighted_sum(double weight) {
    return {Form::kWeightedSum, 1, weight};
  }

  double value(double picojoules, double cycles) const;
  // Do these figures play a part? At least one does.
  bool uses_energy() const { return energy_ != 0; }
  bool uses_latency() const { return latency_ != 0; }
  bool is_energy() const { return form_ == Form::kProduct && energy_ == 1 && latency_ == 0; }
  bool is_latency() const { return form_ == Form::kProduct && energy_ == 0 && latency_ == 1; }
  // Energy^a or latency^b: the other figure breaks ties.
  bool has_one_figure() const { return !uses_energy() || !uses_latency(); }

  // A value's unit where energies are in `energy` and latencies in `latency`; `times` joins them:
  // "pJ", "J s", "pJ^2*cycles".
  std::string unit(std::string_view energy, std::string_view latency, std::string_view times) const;
  // A value [pJ, cycles] in other units, given their sizes in pJ and in cycles.
  double scaled(double value, double picojoules, double cycles) const;

  friend bool operator==(const ObjectiveFunction&, const ObjectiveFunction&) = default;

 private:
  enum class Form : std::uint8_t { kProduct, kWeightedSum };
  constexpr ObjectiveFunction(Form form, double energy, double latency)
      : form_{form}, energy_{energy}, latency_{latency} {}
  friend std::string to_string(const ObjectiveFunction& function);

  Form form_;
  double energy_;   // kProduct: the power; kWeightedSum: 1
  double latency_;  // kProduct: the power; kWeightedSum: pJ per cycle
};

// "energy", "latency", "edp", "energy^2*latency", "energy + 12.5*latency". The error says what
// would be right.
Parsed<ObjectiveFunction> parse_objective_function(std::string_view text);
std::string to_string(const ObjectiveFunction& function);  // as parse_objective_function reads it

}  // namespace mapsim
