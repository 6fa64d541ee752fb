// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "campaign/point.hpp"
#include "core/diagnostic.hpp"
#include "core/substitute.hpp"
#include "design/branch.hpp"

namespace mapsim {

namespace {

// Areas below which a front is started.
constexpr int kFrontSeeds = 8;
// Boxes that are bounded after the end of a search.
constexpr std::size_t kMostInHaste = 8;

}  // namespace

// Where energies do not differ within a box, its largest design may be what its bound is of.
void DesignSearch::take_largest(const OpenBox& box) {
  const Values values = high_end(box.box);
  const auto enclosure = spaces_[box.space].enclosure(single(values));
  if (!enclosure || is_too_large(*enclosure) || tried_[box.space].contains(values)) {
    return;
  }
  const Assessment known = value_.known(machine(box.space, single(values), *enclosure));
  if (known.is_exact()) {
    value_design(box.space, values);
  }
}

bool DesignSearch::take_single(OpenBox& box) {
  const Values values = low_end(box.box);
  const auto done = value_design(box.space, values);
  if (!done) {
    return false;
  }
  const auto settled = settled_[box.space].find(values);
  if (settled == settled_[box.space].end()) {
    close(box, *done);
  } else {
    leave(box, settled->second);
  }
  return true;
}

// What is read node by node is what is read as a whole.
void DesignSearch::check_reading(std::size_t s, const Values& values, const DesignMachine& design) {
  const auto enclosure = spaces_[s].enclosure(single(values));
  const auto same = [&](const DesignMachine& other) {
    return other.structure == design.structure &&
           other.numbers.resources == design.numbers.resources &&
           other.numbers.energies == design.numbers.energies;
  };
  if (!enclosure || !same(machine(s, single(values), *enclosure))) {
    throw std::logic_error("design: the nodes of an architecture depend on each other");
  }
}

// The lower bound of a design; it is settled unless that is no better than the best. nullopt:
// interrupted.
std::optional<double> DesignSearch::value_design(std::size_t s, const Values& values) {
  if (settled_[s].contains(values)) {
    return kNoMapping;
  }
  tried_[s].insert(values);
  std::optional<Arch> arch;
  try {
    arch = spaces_[s].arch(values);
  } catch (const ConfigError& error) {
    settle(s, values, Leaf::Why::kUnreadable, result_.counts.unreadable);
    result_.unreadable_reason =
        result_.unreadable_reason.empty() ? error.what() : result_.unreadable_reason;
    return kNoMapping;
  }
  const auto area = optima_.area(*arch);
  if (options_.limits.area && area && *area > options_.limits.area->count()) {
    settle(s, values, Leaf::Why::kArea, result_.counts.by_area);
    return kNoMapping;
  }
  const DesignMachine design = machine(s, single(values), {*arch, *arch});
  check_reading(s, values, design);
  auto found =
      value_.find(design,
                  {[&](const Assessment& known) { return closes(known.lower, area.value_or(0)); },
                   archive_.worth(area.value_or(0)) / (1 + options_.gap)},
                  [this] { return seconds_left(); });
  bool is_limited = false;
  if (found && !closes(found->lower, area.value_or(0)) && options_.limits.on_figures()) {
    found = with_own_figures(design, std::move(*found));
    is_limited = found && !std::isinf(found->value) && is_beyond(options_.limits, *found);
    if (is_limited) {
      write_down(design, number_of(s, values));
      result_.evidence.is_by_choice = true;
      found = best_within(design, *found, archive_.worth(area.value_or(0)) / (1 + options_.gap));
    }
  }
  if (!found) {
    tried_[s].erase(values);
    return std::nullopt;
  }
  if (std::isinf(found->lower)) {
    is_limited ? settle(s, values, Leaf::Why::kLimit, result_.counts.by_limit)
               : settle(s, values, Leaf::Why::kBound, result_.counts.infeasible);
    return kNoMapping;
  }
  if (!closes(found->lower, area.value_or(0))) {
    if (!is_limited) {
      write_down(design, number_of(s, values));
    }
    keep(s, values, *arch, *found, area);
  }
  return found->lower;
}

// Equally good mappings may differ in energy and latency: those of a search of this very machine.
std::optional<Assessment> DesignSearch::with_own_figures(const DesignMachine& design,
                                                         Assessment found) {
  if (options_.objective.is_joint) {
    return found;
  }
  for (std::size_t l = 0; l < found.layers.size(); ++l) {
    if (!found.layers[l].is_own) {
      const auto own = optima_.search(design, l, options_.objective.function, {seconds_left()});
      if (!own) {
        return std::nullopt;
      }
      found.layers[l] = *own;
    }
  }
  value_.add_up(design, found);
  return found;
}

std::size_t DesignSearch::number_of(std::size_t s, const Values& values) const {
  std::size_t number = spaces_[s].number(values);
  for (std::size_t before = 0; before < s; ++before) {
    number += campaign_.machines[before].designs();
  }
  return number;
}

// A design that was valued, as a sweep writes it: each layer has a row of its own search, whatever
// it was known from before. Not if there is no time left for that, or no memory:
// such a search has no row.
void DesignSearch::write_down(const DesignMachine& design, std::size_t number) {
  if (options_.answers == nullptr) {
    return;
  }
  Objective objective{options_.objective.function};
  objective.mode = campaign_.questions.front().objective.mode;
  for (std::size_t l = 0; l < optima_.layers().size(); ++l) {
    const CampaignLayer& layer = *optima_.layers()[l].layer;
    if (options_.answers->find(design.arch, layer, objective)) {
      continue;
    }
    if (layer.stream) {
      options_.answers->keep(design.arch, layer, objective,
                             price_record(design.arch, *layer.stream));
    } else if (over() || !optima_.search(design, l, objective.function, {seconds_left()}) ||
               !options_.answers->find(design.arch, layer, objective)) {
      return;
    }
  }
  options_.answers->list(number, design.arch);
}

void DesignSearch::keep(std::size_t s, const Values& values, const Arch& arch,
                        const Assessment& found, std::optional<double> area) {
  settle(s, values, Leaf::Why::kBound, result_.counts.valued);
  closed_ = std::min(closed_, found.lower);
  is_exact_ = is_exact_ && found.is_exact();
  archive_.take(designed(s, values, arch, found, area));
}

BestDesign DesignSearch::designed(std::size_t s, const Values& values, const Arch& arch,
                                  const Assessment& found, std::optional<double> area) const {
  BestDesign best;
  best.space = s;
  best.values = values;
  best.number = number_of(s, values);
  best.settings = spaces_[s].settings(values);
  best.arch = arch;
  best.area = area;
  best.value = found.value;
  best.layers = found.layers;
  return best;
}

// What a design comes to if it is better than `worth`. Of a joint choice roughly: with the mappings
// that are known from the layers' own EDPs. nullopt: interrupted.
std::optional<Assessment> DesignSearch::look_at(std::size_t s, const Values& values, double worth) {
  Assessment useless;
  useless.lower = kNoMapping;
  std::optional<Arch> arch;
  try {
    arch = spaces_[s].arch(values);
  } catch (const ConfigError&) {
    return useless;
  }
  if (is_too_large({*arch, *arch})) {
    return useless;
  }
  Aim aim{[&](const Assessment& known) { return known.lower * (1 + kRounding) >= worth; }};
  aim.is_rough = true;
  const DesignMachine design = machine(s, single(values), {*arch, *arch});
  const auto found = value_.find(design, aim, [this] { return seconds_left(); });
  return found && !std::isinf(found->value) && is_beyond(options_.limits, *found)
             ? roughly_within(design, *found)
             : found;
}

double DesignSearch::area_of(std::size_t space, const Values& values) {
  const auto enclosure = spaces_[space].enclosure(single(values));
  return enclosure ? optima_.area(enclosure->least).value_or(0) : 0;
}

double DesignSearch::area_allowed() const {
  return options_.limits.area ? options_.limits.area->count() : kNoMapping;
}

// Among designs of a box of at most this area.
Descent DesignSearch::descent(const OpenBox& box, double limit) {
  Descent descent{box.box, !std::isinf(limit)};
  descent.area = [this, &box](const Values& values) { return area_of(box.space, values); };
  descent.is_allowed = [this, &box, limit](const Values& values) {
    return contains(box.box, values) && (std::isinf(limit) || area_of(box.space, values) <= limit);
  };
  return descent;
}

// The best design of a local search is valued in full. False: interrupted.
bool DesignSearch::seed_below(const OpenBox& box, double limit) {
  std::optional<Values> best;
  double worth = kNoMapping;
  std::set<Values> seen;
  Descent descent = this->descent(box, limit);
  descent.take = [&](const Values& values) {
    if (!descent.is_allowed(values) || !seen.insert(values).second) {
      return true;
    }
    looked_at_ = looked_at_.value_or(std::pair{box.space, values});
    const auto found = look_at(box.space, values, worth);
    if (found && found->value < worth) {
      best = values;
      worth = found->value;
    }
    return found.has_value();
  };
  descent.is_best = [&](const Values& values) { return best == values; };
  const bool is_done = descend(descent);
  looked_at_ = best ? std::optional{std::pair{box.space, *best}} : looked_at_;
  return is_done && (!best || value_design(box.space, *best).has_value());
}

bool DesignSearch::seed(const OpenBox& box) {
  std::vector<double> limits{area_allowed()};
  if (options_.wanted == Wanted::kFront) {
    const double least = area_of(box.space, low_end(box.box));
    const double most = std::min(limits[0], area_of(box.space, high_end(box.box)));
    for (int i = 1; i < kFrontSeeds; ++i) {
      limits.push_back(least * std::pow(most / least, static_cast<double>(i) / kFrontSeeds));
    }
  }
  return std::all_of(limits.begin(), limits.end(),
                     [&](double limit) { return seed_below(box, limit); });
}

// Where a search ends before any design is valued: the best one that was looked at, or the first
// one of a descent, with the mappings that are found at once. Where it has none, the largest one.
void DesignSearch::keep_hastily() {
  const OpenBox& box = open_.top();
  const Descent descent = this->descent(box, area_allowed());
  std::vector<std::pair<std::size_t, Values>> designs;
  if (looked_at_) {
    designs.push_back(*looked_at_);
  } else if (const std::optional<Values> start = descent_start(descent)) {
    designs.emplace_back(box.space, *start);
  }
  if (descent.is_allowed(high_end(box.box))) {
    designs.emplace_back(box.space, high_end(box.box));
  }
  std::any_of(designs.begin(), designs.end(),
              [this](const auto& design) { return keep_hastily(design.first, design.second); });
}

// False: nothing is found at once.
bool DesignSearch::keep_hastily(std::size_t s, const Values& values) {
  std::optional<Arch> arch;
  try {
    arch = spaces_[s].arch(values);
  } catch (const ConfigError&) {
    return false;
  }
  const DesignMachine design = machine(s, single(values), {*arch, *arch});
  for (std::size_t l = 0; l < optima_.layers().size(); ++l) {
    if (std::isinf(optima_.known(design, l, options_.objective.function).value)) {
      optima_.search(design, l, options_.objective.function, {0});
    }
  }
  Assessment known = value_.known(design);
  if (!std::isinf(known.value) && is_beyond(options_.limits, known)) {
    known = known_within(design, known);
  }
  if (std::isinf(known.value)) {
    return false;
  }
  archive_.take(designed(s, values, *arch, known, optima_.area(*arch)));
  is_exact_ = false;
  return true;
}

// Boxes of which nothing is known get the bounds that are found at once.
void DesignSearch::bound_hastily() {
  std::vector<OpenBox> boxes;
  while (!open_.empty() && open_.top().bound == 0 && boxes.size() < kMostInHaste) {
    boxes.push_back(open_.top());
    open_.pop();
  }
  for (OpenBox& box : boxes) {
    if (const auto enclosure = spaces_[box.space].enclosure(box.box)) {
      const DesignMachine composite = machine(box.space, box.box, *enclosure);
      for (std::size_t l = 0; l < optima_.layers().size(); ++l) {
        if (optima_.known(composite, l, options_.objective.function).lower == 0) {
          optima_.search(composite, l, options_.objective.function, {0});
        }
      }
      box.bound = value_.known(composite).lower;
    }
    open_.push(std::move(box));
  }
}

void DesignSearch::find_edges() {
  const BestDesign& best = archive_.designs().front();
  const DesignSpace& space = spaces_[best.space];
  for (std::size_t a = 0; a < space.axes().size(); ++a) {
    const DesignAxis& axis = space.axes()[a];
    const std::size_t value = best.values[a];
    const bool is_high = value + 1 == axis.values.size();
    if (axis.values.size() > 1 && axis.branched.empty() && axis.name != "list" &&
        (value == 0 || is_high)) {
      result_.edges.push_back({axis.name, flow_text(axis.values[value].front().value), is_high});
    }
  }
}

// The same figures as of a sweep: ties go as they go in a search of this very machine.
void DesignSearch::complete(BestDesign& best) {
  const DesignMachine design = machine(best.space, single(best.values), {best.arch, best.arch});
  Assessment all{best.value, best.value, best.layers};
  if (!options_.objective.is_joint) {
    for (std::size_t l = 0; l < all.layers.size() && !over(); ++l) {
      if (!all.layers[l].is_own) {
        const auto found = optima_.search(design, l, options_.objective.function, {seconds_left()});
        all.layers[l] = found && found->is_exact() ? *found : all.layers[l];
      }
    }
    value_.add_up(design, all);
  }
  best.value = all.value;
  best.layers = all.layers;
  for (std::size_t l = 0; l < best.layers.size(); ++l) {
    best.energy += optima_.layers()[l].count * best.layers[l].energy;
    best.cycles += optima_.layers()[l].count * best.layers[l].cycles;
  }
}

void DesignSearch::finish() {
  const std::vector<BestDesign>& designs = archive_.designs();
  result_.interrupted = !open_.empty();
  if (result_.interrupted) {
    bound_hastily();
  }
  if (result_.interrupted && designs.empty()) {
    keep_hastily();
  }
  result_.out_of_memory = result_.out_of_memory || (result_.interrupted && is_short_of_memory());
  result_.lower_bound = std::min(closed_, designs.empty() ? kNoMapping : designs.front().value);
  if (result_.interrupted) {
    result_.lower_bound = std::min(result_.lower_bound, open_.top().bound);
  }
  const bool is_one = options_.wanted == Wanted::kBest && options_.top == 1;
  result_.proven =
      is_one ? closes(result_.lower_bound, kNoMapping) : !result_.interrupted && is_exact_;
  for (; !open_.empty(); open_.pop()) {
    result_.counts.open += rest_of(open_.top());
    leave(open_.top(), Leaf::Why::kBound);
  }
  for (DesignSpace& space : spaces_) {
    result_.evidence.axes.push_back(space.axes());
    for (const DesignAxis& axis : space.axes()) {
      if (!axis.branched.empty()) {
        result_.branched.emplace_back(axis.name, axis.branched);
      }
    }
  }
  result_.layers = optima_.layers().size();
  for (BestDesign best : designs) {
    complete(best);
    result_.designs.push_back(std::move(best));
  }
  if (options_.certificate) {
    result_.evidence.bounds = optima_.proven();
  }
  result_.searches = optima_.searches();
  result_.answered = optima_.answered();
  result_.short_of_memory = optima_.short_of_memory();
  result_.peak_bytes = optima_.peak_bytes() + most_held_;
  if (!designs.empty()) {
    result_.unknown_areas = optima_.areas(designs.front().arch).missing;
    find_edges();
    find_steps();
  }
  result_.seconds = elapsed();
}

}  // namespace mapsim
