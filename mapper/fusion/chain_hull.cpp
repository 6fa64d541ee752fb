// SPDX-License-Identifier: Apache-2.0
#include "mapper/fusion/chain_hull.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "mapper/fusion/additive.hpp"
#include "mapper/graph/parts.hpp"
#include "mapper/objective.hpp"

namespace mapsim::fusion {

using exact::kInfinity;

namespace {

constexpr double kCloseEnough = 1e-9;  // relative gap of a proof

struct Point {
  double energy = 0;  // [pJ]
  double cycles = 0;
};
double along(double weight, const Point& point) {
  return std::isinf(weight) ? point.cycles : point.energy + weight * point.cycles;
}

Point crossing(const HullLine& a, const HullLine& b) {
  if (std::isinf(b.weight)) {
    return {a.least - a.weight * b.least, b.least};
  }
  const double cycles = (b.least - a.least) / (b.weight - a.weight);
  return {a.least - a.weight * cycles, cycles};
}
bool is_beyond_all(const std::vector<HullLine>& lines, const Point& point) {
  return std::all_of(lines.begin(), lines.end(), [&](const HullLine& line) {
    const double size = std::isinf(line.weight)
                            ? std::abs(point.cycles)
                            : std::abs(point.energy) + std::abs(line.weight * point.cycles);
    return along(line.weight, point) >= line.least - kRounding * size;
  });
}

// Where two lines cross and no third one is crossed.
struct Corner {
  double value = kInfinity;
  HullLine less, more;  // weights
};
// The best one. Lines have different weights.
Corner best_corner(const ObjectiveFunction& function, std::vector<HullLine> lines) {
  std::sort(lines.begin(), lines.end(),
            [](const HullLine& a, const HullLine& b) { return a.weight < b.weight; });
  Corner best;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t j = i + 1; j < lines.size(); ++j) {
      const Point point = crossing(lines[i], lines[j]);
      if (!is_beyond_all(lines, point)) {
        continue;
      }
      const double value = function.value(std::max(0.0, point.energy), std::max(0.0, point.cycles));
      if (value < best.value) {
        best = {value, lines[i], lines[j]};
      }
    }
  }
  return best;
}

class HullSearch {
 public:
  HullSearch(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
             const SearchOptions& options)
      : arch_{arch}, chain_{chain}, limits_{limits}, options_{options} {}

  ChainResult run() {
    const ObjectiveFunction& function = options_.objective.function;
    lines_.push_back({kInfinity, least_cycles()});
    bool is_open = search(0);
    if (is_open && result_.cost) {
      // Where the objective's slope at the point of least energy is that of the sum.
      const double energy = result_.cost->energy.count();
      const auto cycles = static_cast<double>(result_.cost->latency.count());
      const double up = function.value(energy, cycles * (1 + kStep)) / value() - 1;
      const double right = function.value(energy * (1 + kStep), cycles) / value() - 1;
      is_open = search(up / right * energy / cycles);
    }
    while (is_open && result_.cost && !is_closed()) {
      const Corner corner = best_corner(function, lines_);
      const std::optional<double> weight = weight_between(corner.less, corner.more);
      is_open = weight && search(*weight);
    }
    result_.lower_bound = least_value(function, lines_);
    result_.proven = result_.cost ? is_closed() : is_open;
    if (result_.proven && result_.cost) {
      result_.lower_bound = std::min(result_.lower_bound, value());
    }
    result_.lines = lines_;
    return std::move(result_);
  }

 private:
  static constexpr double kStep = 1e-6;

  double value() const { return value_of(options_.objective, *result_.cost); }
  bool is_closed() const {
    return best_corner(options_.objective.function, lines_).value >= value() * (1 - kCloseEnough);
  }
  double least_cycles() const {
    double sum = 0;
    for (const Workload& workload : chain_.einsums) {
      const Problem problem{arch_, workload};
      const AdditiveObjective objective{problem, Objective::kLatency};
      sum += objective.least_cycles(problem, static_cast<double>(workload.macs()));
    }
    return sum;
  }

  // False: it was stopped. Adds a line and perhaps a point.
  bool search(double weight) {
    SearchOptions options = options_;
    options.objective = Objective{};
    if (std::isinf(weight)) {
      options.objective.function = Objective::kLatency.function;
    } else if (weight > 0) {
      options.objective.function = ObjectiveFunction::weighted_sum(weight);
    }
    options.budget.seconds = std::max(0.0, options_.budget.seconds - result_.seconds);
    double cutoff = kInfinity;
    for (const Point& point : points_) {
      cutoff = std::min(cutoff, along(weight, point));
    }
    ChainResult found = search_additive(arch_, chain_, limits_, options, cutoff);
    std::erase_if(lines_, [&](const HullLine& line) { return line.weight == weight; });
    lines_.push_back({weight, found.lower_bound});
    if (found.cost) {
      points_.push_back(
          {found.cost->energy.count(), static_cast<double>(found.cost->latency.count())});
      if (!result_.cost || value_of(options_.objective, *found.cost) < value()) {
        result_.best = std::move(found.best);
        result_.cost = std::move(found.cost);
      }
    }
    result_.seconds += found.seconds;
    result_.groups += found.groups;
    result_.classes += found.classes;
    result_.interfaces += found.interfaces;
    result_.branches += found.branches;
    result_.labels += found.labels;
    return found.proven;
  }

  // The known point that is best along a line.
  const Point& point_of(double weight) const {
    return *std::min_element(points_.begin(), points_.end(), [&](const Point& a, const Point& b) {
      return along(weight, a) < along(weight, b);
    });
  }
  // Of a line through the points of both; nullopt: they are one point, so nothing is beyond them.
  std::optional<double> weight_between(const HullLine& less, const HullLine& more) const {
    const Point& a = point_of(less.weight);
    const Point& b = point_of(more.weight);
    if (std::isinf(more.weight) && b.cycles > more.least * (1 + kCloseEnough)) {
      return more.weight;  // so far the line is no more than a guess
    }
    const double weight = (b.energy - a.energy) / (a.cycles - b.cycles);
    return weight > less.weight && weight < more.weight ? std::optional(weight) : std::nullopt;
  }

  const Arch& arch_;
  const EinsumChain& chain_;
  const FusionLimits& limits_;
  const SearchOptions& options_;
  std::vector<HullLine> lines_;
  std::vector<Point> points_;
  ChainResult result_;
};

}  // namespace

double least_value(const ObjectiveFunction& function, const std::vector<HullLine>& lines) {
  const double value = best_corner(function, lines).value;
  return value < kInfinity ? value : 0;
}

ChainResult search_hull(const Arch& arch, const EinsumChain& chain, const FusionLimits& limits,
                        const SearchOptions& options) {
  return HullSearch(arch, chain, limits, options).run();
}

}  // namespace mapsim::fusion
