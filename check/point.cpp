// SPDX-License-Identifier: Apache-2.0
#include "check/point.hpp"

#include <fmt/format.h>

#include <variant>

#include "arch/buffering.hpp"
#include "check/engine.hpp"
#include "costmodel/reference/data_set.hpp"
#include "costmodel/reference/simulate.hpp"

namespace mapsim::check {

namespace {

// The mapping's use of the curve's capacity [b].
double capacity_for(const Problem& problem, const Goal& goal, const Cost& cost) {
  double bits = 0;
  for (const TensorId t : problem.workload().tensors.ids()) {
    const TensorCounts& at = cost.counts.levels[goal.level][t];
    if (at.kept && (!goal.role || *goal.role == problem.workload().tensors[t].role)) {
      bits += static_cast<double>(at.footprint * at.bits.count());
    }
  }
  return copies_of(problem.arch().levels[goal.level]) * bits;
}

double cycles_of(const Goal& goal, const Cost& cost) {
  return static_cast<double>((goal.ramped ? cost.latency.ramped : cost.latency.steady).count());
}

// The figures, whether or not they are within the limits.
Figures figures_of_frame(const Problem& problem, const Goal& goal, const Cost& cost) {
  const auto frames = static_cast<double>(frames_of(problem.workload().form));
  return goal.unlimited(cost.energy.total.count() / frames, cycles_of(goal, cost) / frames,
                        goal.kind == Goal::Kind::kCurve ? capacity_for(problem, goal, cost) : 0);
}

bool is_within_limits(const Goal& goal, const Cost& cost) {
  return goal.is_within_limits(cost.energy.total.count(), cycles_of(goal, cost));
}

}  // namespace

Figures figures_of(const Problem& problem, const Goal& goal, const Cost& cost) {
  return is_within_limits(goal, cost) ? figures_of_frame(problem, goal, cost)
                                      : Figures{kInfinity, kInfinity};
}

std::vector<std::string> faults_of_point(const Problem& problem, const Goal& goal,
                                         const Point& point, std::int64_t max_steps, bool& walked) {
  const Evaluation evaluation = evaluate(problem, point.mapping);
  const Cost* cost = std::get_if<Cost>(&evaluation);
  if (cost == nullptr) {
    return {"the mapping does not fit the machine"};
  }
  std::vector<std::string> faults;
  const auto require = [&faults](bool holds, const std::string& otherwise) {
    if (!holds) {
      faults.push_back(otherwise);
    }
  };
  const Figures found = figures_of_frame(problem, goal, *cost);
  require(found.first == point.figures.first,
          fmt::format("the mapping has a value of {}, not {}", value_text(found.first, goal),
                      value_text(point.figures.first, goal)));
  require(found.second == point.figures.second,
          fmt::format("the mapping takes {}, not {}", measure_text(found.second, goal),
                      measure_text(point.figures.second, goal)));
  require(is_within_limits(goal, *cost), "the mapping is beyond the objective's limits");
  if (problem.macs() <= max_steps) {
    const Workload& workload = problem.workload();
    const Simulation walk = simulate(
        problem, point.mapping,
        cost->sparse ? operands_with_zeros(workload, 1) : random_operands(workload, 1), max_steps);
    walked = true;
    require(walk.counts == cost->counts,
            "the reference simulator counts other accesses of the mapping than the closed form");
    if (cost->sparse && has_known_zeros(workload)) {
      for (const ZeroCount& count : zero_counts(problem, point.mapping, *cost, walk)) {
        require(count.agrees(), fmt::format("the reference simulator counts {} of {}, not {}",
                                            count.simulated, count.name, count.expected));
      }
    }
  }
  return faults;
}

}  // namespace mapsim::check
