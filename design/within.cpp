// SPDX-License-Identifier: Apache-2.0
// Limits on energy, latency and power choose among the mappings of all layers: bounds of boxes from
// lines of their totals, and the best choice of a design from the fronts of its layers.
#include <algorithm>
#include <cmath>
#include <utility>

#include "design/branch.hpp"

namespace mapsim {

namespace {

// Weights at which a box is bounded beside energy and latency alone: powers of the square root of
// two, so that machines that are alike share answers.
constexpr int kMostWeights = 6;
// Partial choices of the mappings of a design's layers, and of such a choice of known mappings.
constexpr std::size_t kMostChoices = 200'000;
constexpr std::size_t kMostKnown = 2'000;

// Totals that some choice of mappings comes to.
struct Totals {
  double energy = 0, cycles = 0;
};

std::optional<double> weight_between(const Totals& fast, const Totals& slow) {
  if (!(fast.cycles < slow.cycles && fast.energy > slow.energy)) {
    return std::nullopt;
  }
  const double weight = (fast.energy - slow.energy) / (slow.cycles - fast.cycles);
  return std::pow(2.0, std::round(2 * std::log2(weight)) / 2);
}

// Otherwise mappings that the search for the least energy leaves out may have less.
bool is_bounded_by_energy(const DesignMachine& machine) {
  return !leaves_out_remainders(machine.arch, ObjectiveFunction::product(1, 0));
}

}  // namespace

// No design of a box has a lower value within the limits; infinite: none keeps them. nullopt:
// interrupted. `found`: what is known of the objective without limits.
std::optional<double> DesignSearch::bound_within(const OpenBox& box, const DesignMachine& composite,
                                                 const Assessment& found) {
  const DesignLimits& limits = options_.limits;
  const double clock = composite.arch.clock.count();
  const WithinLimits within{limits, options_.objective, clock};
  std::vector<SupportLine> lines;
  const auto least = [&] { return least_within(within, lines); };
  const auto is_closed = [&](double value) { return closes(value * within.unit, box.area); };
  const auto find = [&](WorkValue& value, double limit) -> std::optional<Assessment> {
    return std::isinf(limit) ? std::optional{Assessment{}}
                             : value.find(composite, {[limit](const Assessment& known) {
                                            return known.lower > limit || known.value <= limit;
                                          }},
                                          [this] { return seconds_left(); });
  };
  if (!limits.on_figures()) {
    return 0;
  }
  const double slowest = limits.latency ? limits.latency->count() : kNoMapping;
  const std::optional<Assessment> fast = find(latency_, slowest);
  if (!fast || fast->lower > slowest * (1 + kRounding)) {
    return fast ? std::optional{kNoMapping} : std::nullopt;
  }
  const double most =
      most_energy(limits, options_.objective, archive_.worth(box.area) / (1 + options_.gap));
  const std::optional<Assessment> thrifty =
      find(energy_, is_bounded_by_energy(composite) ? most : kNoMapping);
  if (!thrifty) {
    return std::nullopt;
  }
  lines = {{kNoMapping, fast->lower * clock}, {0, thrifty->lower}};
  const bool is_simple = thrifty->lower > most * (1 + kRounding);
  if (std::isinf(found.value) || is_beyond(limits, found)) {
    if (!is_closed(least().value) && !add_lines(composite, box, within, lines)) {
      return std::nullopt;
    }
  }
  const double value = least().value;
  result_.evidence.is_by_choice = result_.evidence.is_by_choice || (is_closed(value) && !is_simple);
  return value * within.unit;
}

// Lines of totals at the weights that can raise the bound of a box most. False: interrupted.
bool DesignSearch::add_lines(const DesignMachine& composite, const OpenBox& box,
                             const WithinLimits& within, std::vector<SupportLine>& lines) {
  const double clock = composite.arch.clock.count();
  const auto totals = [clock](const Assessment& known) {
    return Totals{known.energy, known.seconds * clock};
  };
  const auto of_end = [&](WorkValue& value) {
    return value.find(composite, {[](const Assessment& known) { return known.is_exact(); }},
                      [this] { return seconds_left(); });
  };
  const auto fastest = of_end(latency_);
  const auto cheapest = fastest ? of_end(energy_) : std::nullopt;
  if (!cheapest) {
    return false;
  }
  lines.push_back({kNoMapping, fastest->lower * clock});
  if (is_bounded_by_energy(composite)) {
    lines.push_back({0, cheapest->lower});
  }
  Totals fast = totals(*fastest);
  Totals slow = totals(*cheapest);
  for (int i = 0; i < kMostWeights; ++i) {
    const LeastWithin least = least_within(within, lines);
    const auto weight = weight_between(fast, slow);
    const bool is_asked = std::any_of(lines.begin(), lines.end(), [&](const SupportLine& line) {
      return weight && line.weight == *weight;
    });
    if (closes(least.value * within.unit, box.area) || !weight || is_asked) {
      return true;
    }
    WorkValue weighted{optima_, {ObjectiveFunction::weighted_sum(*weight)}};
    const auto enough = [&](const Assessment& known) {
      const auto closes_with = [&](double value) {
        std::vector<SupportLine> more = lines;
        more.push_back({*weight, value});
        return closes(least_within(within, std::move(more)).value * within.unit, box.area);
      };
      return known.is_exact() || closes_with(known.lower) ||
             (!std::isinf(known.value) && !closes_with(known.value));
    };
    const auto found = weighted.find(composite, {enough}, [this] { return seconds_left(); });
    if (!found) {
      return false;
    }
    lines.push_back({*weight, found->lower});
    if (std::isinf(found->value)) {
      return true;
    }
    const Totals at = totals(*found);
    (at.cycles < least.cycles ? fast : slow) = at;
  }
  return true;
}

// The totals of a choice of points, one a layer; with none what is known of its bound.
Assessment DesignSearch::assess(const DesignMachine& design, const WithinLimits& within,
                                const std::vector<CountedFront>& layers,
                                const LimitedChoice& choice) const {
  Assessment all;
  all.lower = choice.lower;
  all.value = choice.value;
  double cycles = 0;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    LayerFigures figures;
    if (!choice.points.empty()) {
      const LayerPoint& point = layers[l].front.points[choice.points[l]];
      figures = {0, 0, point.energy, point.cycles, point.mapping, point.is_own};
      figures.value = within.objective.function.value(point.energy, point.cycles);
      figures.lower = figures.value;
      all.energy += layers[l].count * point.energy;
      cycles += layers[l].count * point.cycles;
    }
    all.layers.push_back(std::move(figures));
  }
  all.seconds = cycles / design.arch.clock.count();
  return all;
}

// The best choice of mappings of a design within the limits, if it is better than `worth`, from the
// fronts of its layers. `found`: without limits. nullopt: interrupted.
std::optional<Assessment> DesignSearch::best_within(const DesignMachine& design,
                                                    const Assessment& found, double worth) {
  const WithinLimits within{options_.limits, options_.objective, design.arch.clock.count()};
  std::vector<CountedFront> layers;
  bool is_all = true;
  for (std::size_t l = 0; l < optima_.layers().size(); ++l) {
    auto front =
        optima_.front(design, l, options_.objective.function, [this] { return seconds_left(); });
    if (!front) {
      return std::nullopt;
    }
    is_all = is_all && front->is_all;
    layers.push_back({optima_.layers()[l].count, std::move(*front)});
  }
  LimitedChoice choice = choose_within(within, layers, worth, kMostChoices);
  if (!is_all) {
    choice.lower = found.lower;
  }
  choice.lower = std::max(choice.lower, found.lower);
  return assess(design, within, layers, choice);
}

// The same from the mappings that are known: no bound.
Assessment DesignSearch::known_within(const DesignMachine& design, const Assessment& found) {
  const WithinLimits within{options_.limits, options_.objective, design.arch.clock.count()};
  std::vector<CountedFront> layers;
  for (std::size_t l = 0; l < optima_.layers().size(); ++l) {
    layers.push_back({optima_.layers()[l].count, {optima_.support(design, l).points, false}});
  }
  LimitedChoice choice = choose_within(within, layers, kNoMapping, kMostKnown);
  choice.lower = found.lower;
  return assess(design, within, layers, choice);
}

// Where no choice of known mappings keeps the limits, those of least latency and energy may help.
std::optional<Assessment> DesignSearch::roughly_within(const DesignMachine& design,
                                                       const Assessment& found) {
  Assessment known = known_within(design, found);
  for (WorkValue* value : {&latency_, &energy_}) {
    if (!std::isinf(known.value)) {
      break;
    }
    const auto end = value->find(design, {[](const Assessment& all) { return all.is_exact(); }},
                                 [this] { return seconds_left(); });
    if (!end) {
      return std::nullopt;
    }
    known = known_within(design, found);
  }
  return known;
}

}  // namespace mapsim
