// SPDX-License-Identifier: Apache-2.0
#include "design/value.hpp"

#include <algorithm>
#include <cmath>

#include "costmodel/objective_formula.hpp"

namespace mapsim {

namespace {

// How much an answer about a layer may change the sum, if it is bounded by `share` of its value.
// Without a mapping nobody knows; what binds most first.
double stake(const DistinctLayer& layer, const LayerFigures& figures, double share) {
  return std::isinf(figures.value) ? 1e30 * (1 + layer.count * figures.lower)
                                   : layer.count * (share * figures.value - figures.lower);
}

// The share of its value to which each layer that is open must be bounded, so that the sum reaches
// `worth` of all values; 1: all of it.
double needed_share(const std::vector<DistinctLayer>& layers, const Assessment& all, double worth) {
  double exact = 0;
  double open = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const LayerFigures& figures = all.layers[l];
    (figures.is_exact() ? exact : open) += layers[l].count * figures.value;
  }
  const double share = (worth * (exact + open) - exact) / open;
  return share > 0 && share < 1 ? share * (1 + kRounding) : 1;
}

// Searches with smaller gaps take as long as those without.
constexpr double kLeastGap = 0.05;

double worth_leaving(double gap) { return gap < kLeastGap ? 0 : gap; }

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
  const auto parsed = read_formula(text);
  if (const auto* const fault = std::get_if<FormulaFault>(&parsed)) {
    return with_caret(fault->what, text, fault->at);
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

// First roughly, where a rough answer may do: what is searched with a gap is not asked again.
std::optional<Assessment> WorkValue::find_joint(const DesignMachine& machine, const Aim& aim,
                                                const std::function<double()>& seconds) {
  Assessment all = known(machine);
  bool has_gaps = true;
  for (const bool is_close : {false, true}) {
    if (!has_gaps) {
      break;
    }
    has_gaps = false;
    JointEdp joint = this->joint(machine);
    while (!aim.enough(all)) {
      const std::optional<JointQuestion> next = joint.ask(0);
      if (!next || (aim.is_rough && next->weight)) {
        break;
      }
      // Half of what is left is for the bound of the product by the layers' own EDPs.
      const double slack = all.value / aim.worth - 1;
      const double gap = is_close || !(slack < 1) ? 0 : worth_leaving(slack / 2);
      has_gaps = has_gaps || gap > 0;
      const auto found = optima_.search(machine, next->layer, next->function(), {seconds(), gap});
      if (!found) {
        return std::nullopt;
      }
      joint.learn(*next, *found);
      all = assess(machine, joint);
    }
    has_gaps = has_gaps && !aim.is_rough;
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

// The layer to search next, and to which gap. `gaps`: of earlier searches on this machine;
// infinite: none. What is searched again is searched more closely than needed, since there were
// better mappings than those that were known.
std::optional<std::pair<std::size_t, double>> WorkValue::next_of_sum(
    const Assessment& all, const Aim& aim, const std::vector<double>& gaps) const {
  const double share = needed_share(optima_.layers(), all, aim.worth / all.value);
  const double needed = worth_leaving(1 / share - 1);
  std::optional<std::pair<std::size_t, double>> next;
  double most = 0;
  for (const double of : {share, 1.0}) {  // the second where each is bounded to that share
    for (std::size_t l = 0; l < gaps.size(); ++l) {
      const double at_stake = stake(optima_.layers()[l], all.layers[l], of);
      if (gaps[l] > 0 && !all.layers[l].is_exact() && at_stake > most) {
        next = {l, std::isinf(gaps[l]) ? needed : worth_leaving(needed / 4)};
        most = at_stake;
      }
    }
    if (next) {
      break;
    }
  }
  return next;
}

std::optional<Assessment> WorkValue::find(const DesignMachine& machine, const Aim& aim,
                                          const std::function<double()>& seconds) {
  if (objective_.is_joint) {
    return find_joint(machine, aim, seconds);
  }
  Assessment all = known(machine);
  std::vector<double> gaps(all.layers.size(), kNoMapping);
  while (!aim.enough(all)) {
    const auto next = next_of_sum(all, aim, gaps);
    if (!next) {
      break;
    }
    const auto [layer, gap] = *next;
    auto found = optima_.search(machine, layer, objective_.function, {seconds(), gap});
    if (!found) {
      return std::nullopt;
    }
    found->lower = std::max(found->lower, all.layers[layer].lower);
    gaps[layer] = gap;
    all.layers[layer] = std::move(*found);
    add_up(machine, all);
  }
  return all;
}

}  // namespace mapsim
