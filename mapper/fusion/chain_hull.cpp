// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/chain_hull.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "mapper/fusion/additive.hpp"
#include "mapper/graph/parts.hpp"
#include "mapper/objective.hpp"
#include "mapper/shared_budget.hpp"

namespace mapsim::fusion {

using exact::kInfinity;

namespace {

constexpr double kCloseEnough = 1e-9;  // relative gap of a proof

HullPoint crossing(const HullLine& a, const HullLine& b) {
  if (std::isinf(b.weight)) {
    return {a.least - a.weight * b.least, b.least};
  }
  const double cycles = (b.least - a.least) / (b.weight - a.weight);
  return {a.least - a.weight * cycles, cycles};
}
bool is_beyond_all(const std::vector<HullLine>& lines, const HullPoint& point) {
  return std::all_of(lines.begin(), lines.end(), [&](const HullLine& line) {
    const double size = std::isinf(line.weight)
                            ? std::abs(point.cycles)
                            : std::abs(point.energy) + std::abs(line.weight * point.cycles);
    return point.along(line.weight) >= line.least - kRounding * size;
  });
}

// Where two lines cross, or a line and a limit, and no third one is crossed.
struct Corner {
  double value = kInfinity;
  HullLine less, more;  // weights; at a limit one line
  HullPoint at{};
  bool at_limit = false;
};
// The best one. Lines have different weights.
Corner best_corner(const ObjectiveFunction& function, const HullLimits& limits,
                   std::vector<HullLine> lines) {
  std::sort(lines.begin(), lines.end(),
            [](const HullLine& a, const HullLine& b) { return a.weight < b.weight; });
  Corner best;
  const auto take = [&](const HullPoint& point, const HullLine& less, const HullLine& more,
                        bool at_limit) {
    if (!limits.allow(point) || !is_beyond_all(lines, point)) {
      return;
    }
    const double value = function.value(std::max(0.0, point.energy), std::max(0.0, point.cycles));
    if (value < best.value) {
      best = {value, less, more, point, at_limit};
    }
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto [weight, least] = lines[i];
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      take(crossing(lines[i], lines[j]), lines[i], lines[j], false);
    }
    if (!std::isinf(limits.cycles) && !std::isinf(weight)) {
      take({least - weight * limits.cycles, limits.cycles}, lines[i], lines[i], true);
    }
    if (!std::isinf(limits.energy) && weight > 0) {
      take({limits.energy, std::isinf(weight) ? least : (least - limits.energy) / weight}, lines[i],
           lines[i], true);
    }
  }
  return best;
}

class HullSearch {
 public:
  HullSearch(const ObjectiveFunction& function, const HullLimits& limits,
             const std::function<LeastSum(double weight)>& least_sum)
      : function_{function}, limits_{limits}, least_sum_{least_sum} {}

  Hull run(double least_cycles) {
    hull_.lines.push_back({kInfinity, least_cycles});
    bool is_open = search(0);
    if (is_open && limits_.any()) {
      search_within_limits();
      return std::move(hull_);
    }
    if (is_open && hull_.best) {
      // Where the objective's slope at the point of least energy is that of the sum.
      const auto [energy, cycles] = *hull_.best;
      const double up = function_.value(energy, cycles * (1 + kStep)) / value() - 1;
      const double right = function_.value(energy * (1 + kStep), cycles) / value() - 1;
      const double weight = up / right * energy / cycles;
      is_open = search(std::isnan(weight) ? kInfinity : weight);  // NaN: without energies
    }
    while (is_open && hull_.best && !is_closed()) {
      const Corner corner = best_corner(function_, limits_, hull_.lines);
      const std::optional<double> weight = weight_between(corner.less, corner.more);
      is_open = weight && search(*weight);
    }
    hull_.lower_bound = least_value(function_, hull_.lines);
    hull_.proven = hull_.best ? is_closed() : is_open;
    if (hull_.proven && hull_.best) {
      hull_.lower_bound = std::min(hull_.lower_bound, value());
    }
    return std::move(hull_);
  }

 private:
  static constexpr double kStep = 1e-6;

  // Weights are asked for until the best corner is a point that is known, or lies at a limit
  // between two known ones that no further weight separates.
  void search_within_limits() {
    bool is_open = search(kInfinity);
    Corner corner = best_corner(function_, limits_, hull_.lines);
    while (is_open && !std::isinf(corner.value) &&
           !(hull_.best && corner.value >= value() * (1 - kCloseEnough))) {
      const std::optional<double> weight =
          corner.at_limit ? weight_at(corner.at) : weight_between(corner.less, corner.more);
      if (!weight || asked_.contains(*weight)) {
        break;
      }
      is_open = search(*weight);
      corner = best_corner(function_, limits_, hull_.lines);
    }
    hull_.lower_bound = corner.value;
    hull_.proven = hull_.best ? corner.value >= value() * (1 - kCloseEnough)
                              : is_open && std::isinf(corner.value);
    if (hull_.best) {
      hull_.lower_bound = std::min(hull_.lower_bound, value());
    }
  }

  // Of the lower edge of the known points that a limit cuts near `at`; nullopt: none does.
  std::optional<double> weight_at(const HullPoint& at) const {
    std::optional<double> weight;
    double least = kInfinity;
    const bool by_cycles = at.cycles == limits_.cycles;
    for (const HullPoint& slow : points_) {
      for (const HullPoint& fast : points_) {
        if (!(fast.cycles < slow.cycles && fast.energy > slow.energy)) {
          continue;
        }
        const double slope = (fast.energy - slow.energy) / (slow.cycles - fast.cycles);
        const bool is_cut = by_cycles ? fast.cycles <= at.cycles && at.cycles <= slow.cycles
                                      : slow.energy <= at.energy && at.energy <= fast.energy;
        const double there = by_cycles ? slow.energy + slope * (slow.cycles - at.cycles)
                                       : fast.cycles + (fast.energy - at.energy) / slope;
        if (is_cut && there < least) {
          least = there;
          weight = slope;
        }
      }
    }
    return weight;
  }

  double value() const { return value_of(*hull_.best); }
  double value_of(const HullPoint& point) const {
    return function_.value(point.energy, point.cycles);
  }
  bool is_closed() const {
    return least_value(function_, hull_.lines) >= value() * (1 - kCloseEnough);
  }

  // False: it was stopped. Adds a line and perhaps a point.
  bool search(double weight) {
    const LeastSum found = least_sum_(weight);
    asked_.insert(weight);
    std::erase_if(hull_.lines, [&](const HullLine& line) { return line.weight == weight; });
    hull_.lines.push_back({weight, found.bound});
    if (found.best) {
      points_.push_back(*found.best);
      if (limits_.allow(*found.best) && (!hull_.best || value_of(*found.best) < value())) {
        hull_.best = found.best;
      }
    }
    return found.proven;
  }

  // The known point that is best along a line.
  const HullPoint& point_of(double weight) const {
    return *std::min_element(
        points_.begin(), points_.end(),
        [&](const HullPoint& a, const HullPoint& b) { return a.along(weight) < b.along(weight); });
  }
  // Of a line through the points of both; nullopt: they are one point, so nothing is beyond them.
  std::optional<double> weight_between(const HullLine& less, const HullLine& more) const {
    const HullPoint& a = point_of(less.weight);
    const HullPoint& b = point_of(more.weight);
    if (std::isinf(more.weight) && b.cycles > more.least * (1 + kCloseEnough)) {
      return more.weight;  // so far the line is no more than a guess
    }
    const double weight = (b.energy - a.energy) / (a.cycles - b.cycles);
    return weight > less.weight && weight < more.weight ? std::optional(weight) : std::nullopt;
  }

  ObjectiveFunction function_;
  HullLimits limits_;
  const std::function<LeastSum(double weight)>& least_sum_;
  std::set<double> asked_;  // weights
  std::vector<HullPoint> points_;
  Hull hull_;
};

ObjectiveFunction function_of(double weight) {
  return std::isinf(weight) ? Objective::kLatency.function
         : weight > 0       ? ObjectiveFunction::weighted_sum(weight)
                            : Objective::kEnergy.function;
}
HullPoint figures_of(const ChainPoint& point) {
  return {point.cost.energy.count(), static_cast<double>(point.cost.latency.count())};
}

}  // namespace

double least_value(const ObjectiveFunction& function, const std::vector<HullLine>& lines) {
  const double value = best_corner(function, {}, lines).value;
  return value < kInfinity ? value : 0;
}

double HullPoint::along(double weight) const {
  return std::isinf(weight) ? cycles : energy + weight * cycles;
}

bool HullLimits::allow(const HullPoint& point) const {
  return point.energy <= energy * (1 + kRounding) && point.cycles <= cycles * (1 + kRounding);
}

Hull search_hull(const ObjectiveFunction& function, const HullLimits& limits, double least_cycles,
                 const std::function<LeastSum(double weight)>& least_sum) {
  return HullSearch(function, limits, least_sum).run(least_cycles);
}

ChainSums::ChainSums(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits)
    : arch_{arch}, chain_{chain}, limits_{limits}, least_cycles_{0} {
  for (const Workload& workload : chain_.einsums) {
    const Problem problem{arch_, workload};
    const AdditiveObjective objective{problem, Objective::kLatency};
    least_cycles_ += objective.least_cycles(problem, static_cast<double>(workload.macs()));
  }
  lines_.push_back({kInfinity, least_cycles_});
}

const ChainPoint& ChainSums::best(double weight) const {
  return *std::min_element(points_.begin(), points_.end(),
                           [&](const ChainPoint& a, const ChainPoint& b) {
                             return figures_of(a).along(weight) < figures_of(b).along(weight);
                           });
}

void ChainSums::know(const ChainSums& other) {
  points_.insert(points_.end(), other.points_.begin(), other.points_.end());
}

LeastSum ChainSums::least(double weight, const SearchOptions& options) {
  // Lines bound every sum, and a point that reaches the bound is the least.
  const auto bound = [&] { return least_value(function_of(weight), lines_); };
  const auto value = [&] { return figures_of(best(weight)).along(weight); };
  const auto is_known = [&] { return !points_.empty() && value() <= bound() * (1 + kRounding); };
  if (!asked_.contains(weight) && !is_known()) {
    search(weight, options);
  }
  const auto asked = asked_.find(weight);
  const bool proven = asked == asked_.end() || asked->second;
  if (points_.empty()) {
    return {std::nullopt, bound(), proven};
  }
  return {figures_of(best(weight)), std::min(bound(), value()), proven};
}

void ChainSums::search(double weight, const SearchOptions& options) {
  SearchOptions sum = options;
  sum.objective = Objective{};
  sum.objective.function = function_of(weight);
  const double cutoff = points_.empty() ? kInfinity : figures_of(best(weight)).along(weight);
  ChainResult found = search_additive(arch_, chain_, limits_, sum, cutoff);
  std::erase_if(lines_, [&](const HullLine& line) { return line.weight == weight; });
  lines_.push_back({weight, found.lower_bound});
  asked_[weight] = found.proven;
  if (found.cost) {
    points_.push_back({std::move(*found.best), std::move(*found.cost)});
  }
  effort_.seconds += found.seconds;
  effort_.out_of_memory = effort_.out_of_memory || found.out_of_memory;
  effort_.peak_bytes = std::max(effort_.peak_bytes, found.peak_bytes);
  effort_.groups += found.groups;
  effort_.classes += found.classes;
  effort_.interfaces += found.interfaces;
  effort_.branches += found.branches;
  effort_.labels += found.labels;
}

ChainResult search_product(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                           const SearchOptions& options) {
  ChainSums sums(arch, chain, limits);
  const SharedBudget budget{options};
  std::optional<ChainPoint> best;
  const Hull hull =
      search_hull(options.objective.function, {}, sums.least_cycles(), [&](double weight) {
        const LeastSum least = sums.least(weight, budget.rest());
        if (least.best && (!best || value_of(options.objective, sums.best(weight).cost) <
                                        value_of(options.objective, best->cost))) {
          best = sums.best(weight);
        }
        return least;
      });
  ChainResult result = sums.effort();
  if (best) {
    result.best = std::move(best->tree);
    result.cost = std::move(best->cost);
  }
  result.lower_bound = hull.lower_bound;
  result.lines = hull.lines;
  result.proven = hull.proven;
  return result;
}

}  // namespace mapsim::fusion
