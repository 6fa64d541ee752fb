// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/chain_front.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "mapper/deadline.hpp"
#include "mapper/fusion/additive.hpp"
#include "mapper/fusion/chain_hull.hpp"
#include "mapper/fusion/front_of.hpp"
#include "mapper/graph/parts.hpp"

// In two phases. First the vertices of the convex hull: each is the least energy + w * latency for
// some w. Then what may lie between two neighbours, above the line through them and below the
// corners of the steps that known points make: all trees of which energy + w * latency is less than
// at the farthest corner.

namespace mapsim {

using exact::kInfinity;

namespace {

struct Figures {
  double energy = 0;  // [pJ]
  double cycles = 0;
  double along(double weight) const { return energy + weight * cycles; }
};
Figures figures_of(const ChainPoint& point) {
  return {point.cost.energy.count(), static_cast<double>(point.cost.latency.count())};
}

class FrontSearch {
 public:
  // `known`: the best whatever the limits; then only the best within them is asked for, else all
  // points.
  FrontSearch(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
              const SearchOptions& options, const ChainResult* known = nullptr)
      : arch_{arch}, chain_{chain}, limits_{limits}, options_{options}, known_{known} {}

  ChainFront run() {
    const std::optional<Figures> least_energy = search(0, kInfinity);
    const std::optional<Figures> least_cycles =
        is_open_ && least_energy ? search(kInfinity, kInfinity) : std::nullopt;
    if (least_cycles) {
      split(*least_energy, *least_cycles);
    }
    front_.complete = is_open_;
    std::erase_if(points_, [&](const Known& known) { return !is_within(known); });
    std::sort(points_.begin(), points_.end(),
              [](const Known& a, const Known& b) { return a.energy < b.energy; });
    for (Known& known : points_) {
      front_.points.push_back(std::move(known.point));
    }
    return std::move(front_);
  }

 private:
  struct Known {
    double energy = 0;
    double cycles = 0;
    ChainPoint point;
  };
  const Objective& objective() const { return options_.objective; }
  double most_energy() const {
    return objective().max_energy ? objective().max_energy->count() * (1 + kRounding) : kInfinity;
  }
  double most_cycles() const {
    return objective().max_latency ? static_cast<double>(objective().max_latency->count())
                                   : kInfinity;
  }
  bool is_within(const Known& known) const {
    return known.energy <= most_energy() && known.cycles <= most_cycles();
  }
  // Can nothing with more energy than the one and more latency than the other be of use?
  bool is_of_no_use(double energy, double cycles) const {
    if (energy > most_energy() || cycles > most_cycles()) {
      return true;
    }
    const double value = objective().function.value(energy, cycles);
    return known_ != nullptr &&
           std::any_of(points_.begin(), points_.end(), [&](const Known& known) {
             return is_within(known) &&
                    objective().function.value(known.energy, known.cycles) <= value;
           });
  }

  SearchOptions options_of(double weight) const {
    SearchOptions options = options_;
    options.objective = std::isinf(weight) ? Objective::kLatency : Objective::kEnergy;
    if (weight > 0 && !std::isinf(weight)) {
      options.objective.function = ObjectiveFunction::weighted_sum(weight);
    }
    options.budget.seconds = options_.budget.seconds - front_.seconds;
    return options;
  }
  void add(MappingTree tree, TreeCost cost) {
    ChainPoint point{std::move(tree), std::move(cost)};
    const Figures figures = figures_of(point);
    if (!fusion::is_dominated(points_, figures.energy, figures.cycles)) {
      fusion::drop_covered(points_, figures.energy, figures.cycles);
      points_.push_back({figures.energy, figures.cycles, std::move(point)});
    }
  }
  // The point that is best along a line; nullopt: none is better than the cutoff.
  std::optional<Figures> search(double weight, double cutoff) {
    const bool is_known = known_ != nullptr && std::isinf(cutoff) && known_->lines.size() == 1 &&
                          known_->lines[0].weight == weight;
    ChainResult found =
        is_known ? *known_
                 : fusion::search_additive(arch_, chain_, limits_, options_of(weight), cutoff);
    if (!is_known) {
      account(found);
    }
    front_.lines.push_back({weight, found.lower_bound});
    is_open_ = is_open_ && found.proven;
    if (!found.cost) {
      return std::nullopt;
    }
    const ChainPoint point{std::move(*found.best), std::move(*found.cost)};
    add(point.tree, point.cost);
    return figures_of(point);
  }

  // Between two points of which the one has less energy, the other less latency.
  void split(const Figures& a, const Figures& b) {
    if (!is_open_ || !(a.energy < b.energy) || !(a.cycles > b.cycles) ||
        is_of_no_use(a.energy, b.cycles)) {
      return;
    }
    constexpr double kBeyond = 1e-10;
    const double weight = (b.energy - a.energy) / (a.cycles - b.cycles);
    const double line = a.along(weight);
    const std::optional<Figures> between = search(weight, line);
    if (between && between->along(weight) < line * (1 - kBeyond)) {
      split(a, *between);
      split(*between, b);
    } else if (is_open_) {
      fill(a, b, weight);
    }
  }
  // What lies behind the line through two neighbours of the hull.
  void fill(const Figures& a, const Figures& b, double weight) {
    constexpr double kCutoffSlack = 1e-9;
    std::vector<Figures> steps{a, b};
    for (const Known& known : points_) {
      if (known.energy > a.energy && known.energy < b.energy) {
        steps.push_back({known.energy, known.cycles});
      }
    }
    std::sort(steps.begin(), steps.end(),
              [](const Figures& x, const Figures& y) { return x.energy < y.energy; });
    double farthest = 0;
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const Figures corner{std::min(steps[i].energy, most_energy()),
                           std::min(steps[i - 1].cycles - 1, most_cycles())};
      if (!is_of_no_use(steps[i - 1].energy, steps[i].cycles)) {
        farthest = std::max(farthest, corner.along(weight));
      }
    }
    const double cutoff = farthest * (1 + kCutoffSlack);
    if (!(cutoff > a.along(weight))) {
      return;
    }
    fusion::AllTrees all = fusion::search_all(arch_, chain_, limits_, options_of(weight), cutoff);
    account(all);
    is_open_ = all.complete;
    for (MappingTree& tree : all.trees) {
      auto evaluation = evaluate_tree(arch_, chain_, tree);
      if (auto* cost = std::get_if<TreeCost>(&evaluation)) {
        add(std::move(tree), std::move(*cost));
      }
    }
  }
  // `found`: a ChainResult or AllTrees.
  template <class Found>
  void account(const Found& found) {
    ++front_.searches;
    front_.seconds += found.seconds;
    front_.out_of_memory = front_.out_of_memory || found.out_of_memory;
    front_.peak_bytes = std::max(front_.peak_bytes, found.peak_bytes);
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const FusionLimits& limits_;
  const SearchOptions& options_;
  const ChainResult* known_;
  bool is_open_ = true;  // nothing was stopped
  std::vector<Known> points_;
  ChainFront front_;
};

}  // namespace

ChainFront search_chain_front(const Arch& arch, const EinsumChain& chain,
                              const FusionLimits& limits, const SearchOptions& options) {
  return FrontSearch(arch, chain, limits, options).run();
}

namespace {

// Of two lines of one weight the one that says more.
void add_line(const HullLine& line, std::vector<HullLine>& lines) {
  const auto known = std::find_if(lines.begin(), lines.end(), [&](const HullLine& other) {
    return other.weight == line.weight;
  });
  if (known == lines.end()) {
    lines.push_back(line);
  } else {
    known->least = std::max(known->least, line.least);
  }
}

// The optimum whatever the limits, with the lines that prove it. It takes half of the time at most,
// so that some is left for where limits bind.
ChainResult search_without_limits(const Arch& arch, const EinsumChain& chain,
                                  const FusionLimits& limits, SearchOptions options) {
  options.objective.max_energy.reset();
  options.objective.max_latency.reset();
  options.budget.seconds /= 2;
  ChainResult found = search_chain(arch, chain, limits, options);
  if (fusion::is_additive(options.objective)) {
    const ObjectiveFunction& function = options.objective.function;
    found.lines = {{function.is_latency() ? kInfinity : function.value(0, 1), found.lower_bound}};
  }
  return found;
}

}  // namespace

ChainResult fusion::search_within_limits(const Arch& arch, const EinsumChain& chain,
                                         const FusionLimits& limits, const SearchOptions& options) {
  ChainResult free = search_without_limits(arch, chain, limits, options);
  const auto keeps_limits = [&](const TreeCost& cost) {
    return is_within_limits(options.objective, cost.energy.count(),
                            static_cast<double>(cost.latency.count()));
  };
  if (free.proven && (!free.cost || keeps_limits(*free.cost))) {
    return free;
  }
  SearchOptions rest = options;
  rest.budget.seconds -= free.seconds;
  ChainFront front = FrontSearch(arch, chain, limits, rest, &free).run();
  ChainResult result;
  result.proven = front.complete;
  result.seconds = free.seconds + front.seconds;
  result.out_of_memory = front.out_of_memory;
  result.peak_bytes = std::max(free.peak_bytes, front.peak_bytes);
  result.lines = std::move(front.lines);
  for (const HullLine& line : free.lines) {
    add_line(line, result.lines);
  }
  if (free.cost && keeps_limits(*free.cost)) {
    result.best = std::move(free.best);
    result.cost = std::move(free.cost);
  }
  result.lower_bound = least_value(options.objective.function, result.lines);
  for (ChainPoint& point : front.points) {
    const double value = value_of(options.objective, point.cost);
    if (!result.cost || value < value_of(options.objective, *result.cost)) {
      result.best = std::move(point.tree);
      result.cost = std::move(point.cost);
    }
  }
  if (result.proven) {
    result.lower_bound = result.cost ? value_of(options.objective, *result.cost) : kInfinity;
  }
  return result;
}

}  // namespace mapsim
