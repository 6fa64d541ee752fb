// SPDX-License-Identifier: Apache-2.0
#include "mapper/nvdla/front.hpp"

#include <omp.h>

#include <chrono>
#include <utility>
#include <vector>

#include "core/threads.hpp"
#include "mapper/branch/front_points.hpp"
#include "mapper/nvdla/schedules.hpp"
#include "mapper/nvdla/search.hpp"
#include "workloads/form.hpp"

namespace mapsim {

namespace {

exact::ObjectiveKey key_of(const FrontPoint& point) {
  return {point.value, static_cast<double>(point.measure)};
}

struct FormFront {
  std::vector<FrontPoint> points;
  std::int64_t evaluations = 0;
  InfeasibleReport infeasible;
};

FormFront front_of(const Problem& problem, const Objective& objective) {
  const NvdlaSpace engine = nvdla_space(problem, objective.mode);
  FormFront found;
  FrontPoints points(false);
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
      FrontPoint point{cost.energy.total.count(), latency_of(objective.mode, cost.latency).count(),
                       std::move(mapping), cost, problem.workload().form};
      const exact::ObjectiveKey key = key_of(point);
      points.insert(key, std::move(point));
    }
  }
  found.points = points.take();
  return found;
}

}  // namespace

Front search_engine_front(const Mapspace& space, const SearchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Problem& problem = space.problem();
  if (space.constraints() != Mapspace{problem, {}}.constraints()) {
    throw UnsupportedSearch("the schedules of an NVDLA-like engine take no constraints");
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
  FrontPoints points(false);
  for (FormFront& part : parts) {
    front.statistics.evaluations += part.evaluations;
    for (FrontPoint& point : part.points) {
      const exact::ObjectiveKey key = key_of(point);
      points.insert(key, std::move(point));
    }
    add(front.infeasible, part.infeasible);
  }
  front.points = points.take();
  if (!front.points.empty()) {
    front.infeasible = {};
  }
  front.mapspace_size = std::to_string(count_schedules(problem, Frames::kOne));
  front.statistics.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return front;
}

}  // namespace mapsim
