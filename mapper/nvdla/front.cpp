// SPDX-License-Identifier: Apache-2.0
#include "mapper/nvdla/front.hpp"

#include <omp.h>

#include <chrono>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "core/threads.hpp"
#include "mapper/nvdla/schedules.hpp"
#include "mapper/nvdla/search.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

// Points none of which is better than another in both figures, by their measure.
class Stairs {
 public:
  // The first of equal ones stays.
  void insert(FrontPoint point) {
    auto next = points_.upper_bound(point.measure);
    if (next != points_.begin() && std::prev(next)->second.value <= above(point.value)) {
      return;
    }
    next = points_.lower_bound(point.measure);
    while (next != points_.end() && point.value <= above(next->second.value)) {
      next = points_.erase(next);
    }
    const std::int64_t measure = point.measure;
    points_.insert_or_assign(measure, std::move(point));
  }
  // The least value first.
  std::vector<FrontPoint> take() {
    std::vector<FrontPoint> points;
    for (auto step = points_.rbegin(); step != points_.rend(); ++step) {
      points.push_back(std::move(step->second));
    }
    return points;
  }

 private:
  static double above(double value) { return value * (1 + kRounding); }
  std::map<std::int64_t, FrontPoint> points_;
};

struct FormFront {
  std::vector<FrontPoint> points;
  std::int64_t evaluations = 0;
  InfeasibleReport infeasible;
};

FormFront front_of(const Problem& problem, const Objective& objective) {
  const NvdlaSpace engine = nvdla_space(problem, objective.mode);
  FormFront found;
  Stairs stairs;
  Evaluator evaluator{problem};
  for (const NvdlaSchedule& schedule : engine.schedules) {
    ++found.evaluations;
    Mapping mapping = mapping_of(problem, schedule);
    if (const auto why = evaluator.evaluate(mapping)) {
      add(found.infeasible, problem, *why);
    } else if (!is_within_limits(objective, evaluator.cost())) {
      add_beyond_limits(found.infeasible, objective, evaluator.cost());
    } else {
      const Cost& cost = evaluator.cost();
      stairs.insert({cost.energy.total.count(), latency_of(objective.mode, cost.latency).count(),
                     std::move(mapping), cost, problem.workload().form});
    }
  }
  found.points = stairs.take();
  return found;
}

}  // namespace

Front search_engine_front(const Mapspace& space, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Problem& problem = space.problem();
  if (space.constraints() != Mapspace{problem, {}}.constraints()) {
    throw UnsupportedSearch("the schedules of an engine after NVDLA take no constraints");
  }
  check_engine(problem);
  std::vector<Problem> formed;
  for (const Form form : forms_of(problem, Frames::kOne)) {
    if (std::optional<Workload> workload = in_form(problem.workload(), form)) {
      formed.emplace_back(problem.arch(), std::move(*workload));
    }
  }
  std::vector<FormFront> parts(formed.size());
  for_each_on_threads(formed.size(), options.threads,
                      [&](std::size_t f) { parts[f] = front_of(formed[f], options.objective); });
  Front front;
  front.schedules = true;
  front.complete = true;
  Stairs stairs;
  for (FormFront& part : parts) {
    front.statistics.evaluations += part.evaluations;
    for (FrontPoint& point : part.points) {
      stairs.insert(std::move(point));
    }
    add(front.infeasible, part.infeasible);
  }
  front.points = stairs.take();
  if (!front.points.empty()) {
    front.infeasible = {};
  }
  front.mapspace_size = std::to_string(count_schedules(problem, Frames::kOne));
  front.statistics.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return front;
}

}  // namespace mapsim
