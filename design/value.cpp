// SPDX-License-Identifier: Apache-2.0
#include "design/value.hpp"

#include <algorithm>
#include <cmath>

namespace mapsim {

namespace {

// How much an answer about a layer may change the sum. Without a mapping nobody knows; what binds
// most first.
double stake(const DistinctLayer& layer, const LayerFigures& figures) {
  return std::isinf(figures.value) ? 1e30 * (1 + layer.count * figures.lower)
                                   : layer.count * (figures.value - figures.lower);
}

}  // namespace

Parsed<DesignObjective> parse_design_objective(std::string_view text) {
  if (text == "edp") {
    return "the EDP of a network whose mappings are chosen jointly is not known to design; sum-edp "
           "adds up the EDPs of its layers";
  }
  const Parsed<ObjectiveFunction> parsed =
      parse_objective_function(text == "sum-edp" ? "edp" : text);
  if (const auto* const problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  return DesignObjective{std::get<ObjectiveFunction>(parsed)};
}

std::string to_string(const DesignObjective& objective) {
  const std::string text = to_string(objective.function);
  return text == "edp" ? "sum-edp" : text;
}

bool Assessment::is_exact() const { return value <= lower * (1 + kRounding); }

void WorkValue::add_up(const DesignMachine& machine, Assessment& all) const {
  all.lower = 0;
  all.value = 0;
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    all.lower += optima_.layers()[i].count * all.layers[i].lower;
    all.value += optima_.layers()[i].count * all.layers[i].value;
  }
  const double clock = machine.arch.clock.count();
  all.lower = std::isinf(all.lower) ? kNoMapping : objective_.function.scaled(all.lower, 1, clock);
  all.value = std::isinf(all.value) ? kNoMapping : objective_.function.scaled(all.value, 1, clock);
}

Assessment WorkValue::known(const DesignMachine& machine) {
  Assessment all;
  for (std::size_t i = 0; i < optima_.layers().size(); ++i) {
    all.layers.push_back(optima_.known(machine, i, objective_.function));
  }
  add_up(machine, all);
  return all;
}

std::optional<Assessment> WorkValue::find(const DesignMachine& machine, const Enough& enough,
                                          const std::function<double()>& seconds) {
  Assessment all = known(machine);
  std::vector<bool> searched(all.layers.size());
  while (!enough(all.lower)) {
    std::optional<std::size_t> next;
    for (std::size_t i = 0; i < all.layers.size(); ++i) {
      const auto at_stake = [&](std::size_t l) {
        return stake(optima_.layers()[l], all.layers[l]);
      };
      if (!searched[i] && !all.layers[i].is_exact() && (!next || at_stake(i) > at_stake(*next))) {
        next = i;
      }
    }
    if (!next) {
      break;
    }
    const auto found = optima_.search(machine, *next, objective_.function, seconds());
    if (!found) {
      return std::nullopt;
    }
    searched[*next] = true;
    all.layers[*next] = *found;
    add_up(machine, all);
  }
  return all;
}

}  // namespace mapsim
