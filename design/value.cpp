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

constexpr ObjectiveFunction kEdp = ObjectiveFunction::product(1, 1);

}  // namespace

DesignObjective network_objective(const ObjectiveFunction& function) {
  return {function, function == kEdp};
}

std::optional<DesignObjective> space_objective(const Campaign& space) {
  const ObjectiveFunction& first = space.questions.front().objective.function;
  const bool is_only = std::ranges::all_of(space.questions, [&first](const Question& question) {
    return question.objective.function == first;
  });
  return is_only ? std::optional{network_objective(first)} : std::nullopt;
}

Parsed<DesignObjective> parse_design_objective(std::string_view text) {
  if (text == "sum-edp") {
    return DesignObjective{kEdp};
  }
  const Parsed<ObjectiveFunction> parsed = parse_objective_function(text);
  if (const auto* const problem = std::get_if<std::string>(&parsed)) {
    return *problem;
  }
  return network_objective(std::get<ObjectiveFunction>(parsed));
}

std::string to_string(const DesignObjective& objective) {
  return objective.function == kEdp && !objective.is_joint ? "sum-edp"
                                                           : to_string(objective.function);
}

bool Assessment::is_exact() const { return value <= lower * (1 + kRounding); }

void WorkValue::add_up(const DesignMachine& machine, Assessment& all) const {
  all.lower = 0;
  all.value = 0;
  all.energy = 0;
  double cycles = 0;
  for (std::size_t i = 0; i < all.layers.size(); ++i) {
    all.lower += optima_.layers()[i].count * all.layers[i].lower;
    all.value += optima_.layers()[i].count * all.layers[i].value;
    all.energy += optima_.layers()[i].count * all.layers[i].energy;
    cycles += optima_.layers()[i].count * all.layers[i].cycles;
  }
  const double clock = machine.arch.clock.count();
  all.seconds = cycles / clock;
  all.lower = std::isinf(all.lower) ? kNoMapping : objective_.function.scaled(all.lower, 1, clock);
  all.value = std::isinf(all.value) ? kNoMapping : objective_.function.scaled(all.value, 1, clock);
}

JointEdp WorkValue::joint(const DesignMachine& machine) {
  std::vector<JointLayer> layers;
  for (std::size_t i = 0; i < optima_.layers().size(); ++i) {
    layers.push_back({optima_.layers()[i].count, optima_.support(machine, i)});
  }
  return JointEdp{std::move(layers)};
}

Assessment WorkValue::assess(const DesignMachine& machine, const JointEdp& joint) const {
  const double clock = machine.arch.clock.count();
  Assessment all;
  all.lower = joint.lower() / clock;
  all.value = joint.value() / clock;
  double cycles = 0;
  for (std::size_t i = 0; i < joint.layers().size(); ++i) {
    const JointLayer& layer = joint.layers()[i];
    LayerFigures figures;
    if (!std::isinf(all.value)) {
      const LayerPoint& point = layer.support.points[joint.choice()[i]];
      figures = {0, 0, point.energy, point.cycles, point.mapping, point.is_own};
      figures.value = point.energy * point.cycles;
      all.energy += layer.count * point.energy;
      cycles += layer.count * point.cycles;
    }
    all.layers.push_back(std::move(figures));
  }
  all.seconds = cycles / clock;
  return all;
}

std::optional<Assessment> WorkValue::find_joint(const DesignMachine& machine, const Enough& enough,
                                                const std::function<double()>& seconds) {
  JointEdp joint = this->joint(machine);
  Assessment all = assess(machine, joint);
  while (!enough(all)) {
    const std::optional<JointQuestion> next = joint.ask(0);
    if (!next) {
      break;
    }
    const auto found = optima_.search(machine, next->layer, next->function(), seconds());
    if (!found) {
      return std::nullopt;
    }
    joint.learn(*next, *found);
    all = assess(machine, joint);
  }
  return all;
}

Assessment WorkValue::known(const DesignMachine& machine) {
  if (objective_.is_joint) {
    return assess(machine, joint(machine));
  }
  Assessment all;
  for (std::size_t i = 0; i < optima_.layers().size(); ++i) {
    all.layers.push_back(optima_.known(machine, i, objective_.function));
  }
  add_up(machine, all);
  return all;
}

std::optional<Assessment> WorkValue::find(const DesignMachine& machine, const Enough& enough,
                                          const std::function<double()>& seconds) {
  if (objective_.is_joint) {
    return find_joint(machine, enough, seconds);
  }
  Assessment all = known(machine);
  std::vector<bool> searched(all.layers.size());
  while (!enough(all)) {
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
