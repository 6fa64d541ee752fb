// SPDX-License-Identifier: Apache-2.0
#include "front_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "exact_check.hpp"
#include "membership.hpp"

namespace mapsim {
namespace {

bool is_close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

std::string order_mismatch(const Front& front) {
  for (std::size_t i = 1; i < front.points.size(); ++i) {
    if (!(front.points[i].value > front.points[i - 1].value) ||
        !(front.points[i].measure < front.points[i - 1].measure)) {
      return fmt::format("point {} does not lie below and right of the one before", i);
    }
  }
  return "";
}

// Each point's mapping lies in the space, and evaluate() says what the point says.
std::string mapping_mismatch(const Mapspace& space, const Objective& objective,
                             const FrontPoint& point) {
  const std::string outside = why_outside(space, point.mapping);
  if (!outside.empty()) {
    return "mapping outside the mapspace: " + outside;
  }
  const Evaluation evaluation = evaluate(space.problem(), point.mapping);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  const bool same = cost != nullptr && cost->energy.total == point.cost.energy.total &&
                    cost->latency.ramped == point.cost.latency.ramped &&
                    objective_value(objective, *cost) == point.value;
  return same ? "" : "a mapping does not cost what is claimed";
}

std::optional<double> optimum(const Problem& problem, const Constraints& constraints,
                              const Objective& objective) {
  SearchOptions options;
  options.objective = objective;
  const SearchResult result = search_exact(Mapspace(problem, constraints), options);
  return result.cost ? std::optional{objective_value(objective, *result.cost)} : std::nullopt;
}

Problem with_capacity(const Problem& problem, const CurveCapacity& of, std::int64_t bits) {
  Arch arch = problem.arch();
  Capacity& capacity = arch.levels[of.level].capacity;
  (of.role ? capacity.per_role[*of.role] : capacity.shared.emplace()) = Bits{bits};
  return Problem(std::move(arch), problem.workload());
}

}  // namespace

std::string front_mismatch(const SearchCase& random, LatencyMode mode) {
  const Mapspace space(random.problem, random.constraints);
  SearchOptions options;
  options.objective.mode = mode;
  const Front front = search_front(space, options);
  const Survey seen = survey(space);
  if (!front.complete || front.mapspace_size != std::to_string(seen.size)) {
    return "not complete, or of another space";
  }
  if (front.points.empty() != seen.fitting.empty() ||
      front.points.empty() == front.infeasible.reasons.empty()) {
    return "feasibility";
  }
  for (const Figures& figures : seen.fitting) {
    const bool covered =
        std::any_of(front.points.begin(), front.points.end(), [&](const FrontPoint& point) {
          return point.value <= figures.energy * (1 + 1e-9) &&
                 static_cast<double>(point.measure) <= figures.cycles(mode);
        });
    if (!covered) {
      return fmt::format("a mapping of {} pJ and {} cycles lies below the front", figures.energy,
                         figures.cycles(mode));
    }
  }
  for (const FrontPoint& point : front.points) {
    const std::string wrong = mapping_mismatch(space, Objective::kEnergy, point);
    if (!wrong.empty()) {
      return wrong;
    }
    if (point.measure != latency_of(mode, point.cost.latency).count()) {
      return "a point's latency is not its mapping's";
    }
  }
  return order_mismatch(front);
}

std::string curve_mismatch(const SearchCase& random, const Objective& objective,
                           const CurveCapacity& of, int& steps) {
  SearchOptions options;
  options.objective = objective;
  const Mapspace space(random.problem, random.constraints);
  const Front curve = search_curve(space, options, of);
  if (!curve.complete) {
    return "not complete";
  }
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const FrontPoint& point = curve.points[i];
    ++steps;
    const Problem enough = with_capacity(random.problem, of, point.measure);
    const auto at = optimum(enough, random.constraints, objective);
    if (!at || !is_close(*at, point.value)) {
      return fmt::format("{} with {} bits where a search finds {}", point.value, point.measure,
                         at.value_or(-1));
    }
    const std::string wrong =
        mapping_mismatch(Mapspace(enough, random.constraints), objective, point);
    if (!wrong.empty()) {
      return wrong;
    }
    if (point.measure == 0) {
      continue;
    }
    const auto below = optimum(with_capacity(random.problem, of, point.measure - 1),
                               random.constraints, objective);
    const bool last = i + 1 == curve.points.size();
    if (last ? below.has_value() : !below || !is_close(*below, curve.points[i + 1].value)) {
      return fmt::format("with one bit less than {} a search finds {}", point.measure,
                         below.value_or(-1));
    }
  }
  return order_mismatch(curve);
}

std::string front_difference(const Front& a, const Front& b) {
  const bool same_points =
      std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(),
                 [](const FrontPoint& x, const FrontPoint& y) {
                   return x.value == y.value && x.measure == y.measure && x.mapping == y.mapping;
                 });
  if (!same_points) {
    return "points";
  }
  if (a.statistics.labels != b.statistics.labels || a.statistics.states != b.statistics.states ||
      a.statistics.unrollings != b.statistics.unrollings ||
      a.statistics.evaluations != b.statistics.evaluations) {
    return "statistics";
  }
  return a.complete == b.complete && a.infeasible == b.infeasible ? "" : "completeness";
}

}  // namespace mapsim
