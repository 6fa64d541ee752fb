// SPDX-License-Identifier: Apache-2.0
// Fronts of layers on designs, for limits that choose the mappings.
#include <algorithm>
#include <cmath>
#include <utility>

#include "design/layers.hpp"
#include "mapper/branch/partial_folds.hpp"
#include "mapper/front.hpp"

namespace mapsim {

// What a search of a front leaves out may be better: other forms of a layer on an engine, and folds
// with a remainder. There a few mappings have to do.
std::optional<LayerFront> LayerOptima::front_by_optima(const DesignMachine& machine,
                                                       std::size_t layer,
                                                       const ObjectiveFunction& function,
                                                       const std::function<double()>& seconds) {
  LayerFront front;
  front.is_all = false;
  for (const ObjectiveFunction& asked :
       {function, ObjectiveFunction::product(1, 0), ObjectiveFunction::product(0, 1),
        ObjectiveFunction::product(1, 1)}) {
    const auto found = search(machine, layer, asked, {seconds()});
    if (!found) {
      return std::nullopt;
    }
    if (!std::isinf(found->value)) {
      front.points.push_back({found->energy, found->cycles, found->mapping, found->is_own});
    }
  }
  return front;
}

std::optional<LayerFront> LayerOptima::front(const DesignMachine& machine, std::size_t layer,
                                             const ObjectiveFunction& function,
                                             const std::function<double()>& seconds) {
  if (layers_[layer].layer->stream) {
    const LayerFigures only = stream(machine, layer, function);
    return LayerFront{{{only.energy, only.cycles, std::nullopt, true}}};
  }
  const auto known = fronts_.find({machine.space, layer, machine.box});
  if (known != fronts_.end()) {
    return known->second;
  }
  const Problem problem = this->problem(machine, layer);
  const Mapspace space{problem, constraints_of(problem)};
  Objective latency = Objective::kLatency;
  latency.mode = question_.objective.mode;
  if (machine.is_engine || exact::has_partial_folds(space, latency)) {
    return front_by_optima(machine, layer, function, seconds);
  }
  SearchOptions options = options_;
  options.objective = latency;
  options.budget.seconds = seconds();
  Front found = search_front(space, options);
  ++searches_;
  peak_bytes_ = std::max(peak_bytes_, found.statistics.peak_bytes);
  if (!found.complete && (found.statistics.seconds >= options.budget.seconds ||
                          (options_.stop != nullptr && options_.stop->load()))) {
    return std::nullopt;
  }
  short_of_memory_ += found.complete ? 0 : 1;
  LayerFront front;
  front.is_all = found.complete;
  for (FrontPoint& point : found.points) {
    front.points.push_back(
        {point.value, static_cast<double>(point.measure), std::move(point.mapping), true});
  }
  fronts_.emplace(std::tuple{machine.space, layer, machine.box}, front);
  return front;
}

}  // namespace mapsim
