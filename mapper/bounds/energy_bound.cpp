// SPDX-License-Identifier: Apache-2.0
#include "mapper/bounds/energy_bound.hpp"

#include <algorithm>
#include <optional>

#include "costmodel/boundary_cost.hpp"
#include "costmodel/crossing.hpp"
#include "costmodel/nest.hpp"
#include "mapper/bounds/unrolling_bound.hpp"
#include "mapper/objective.hpp"

namespace mapsim::exact {

double energy_bound(const Mapspace& space) {
  const Problem& problem = space.problem();
  const Arch& arch = problem.arch();
  const auto macs = static_cast<double>(problem.workload().macs());
  const PerDim<std::int64_t> whole = bounds_of(problem.workload());
  const auto access = [&](LevelId l, bool output) {
    return parent_energy(arch.levels[l], output).crossing_pj;
  };
  double bound = macs * problem.mac_energy().count();
  for (const TensorId t : problem.workload().tensors.ids()) {
    const Tensor& tensor = problem.workload().tensors[t];
    const bool output = t == problem.workload().output();
    const double bits = problem.moved_bits(t, tensor.bits);
    const double once = static_cast<double>(footprint(tensor, whole)) * bits;
    const LevelId source = space.entry().source(t);
    double least = kInfinity;
    for (std::size_t i = arch.levels.size(); i-- > index_of(source);) {
      const auto l = static_cast<LevelId>(i);
      double served = arch.compute.register_reuse.contains(tensor.role) ? 0 : macs * bits;
      for (const FanoutId f : arch.fanouts.ids()) {
        if (arch.is_above(l, f) && problem.is_merged(f, t)) {
          served /= static_cast<double>(arch.fanouts[f].x * arch.fanouts[f].y);
        }
      }
      if (space.keep_rule(l, t) != KeepRule::kBypass) {
        const double outermost = once * access(source, output);
        least = std::min(least, l == source ? std::max(once, served) * access(l, output)
                                            : outermost + served * access(l, output));
      }
      if (space.keep_rule(l, t) == KeepRule::kKeep) {
        break;  // nothing further out can be the last
      }
    }
    bound += least;
  }
  return bound;
}

std::vector<double> least_port_bits(const StateGraph& graph) {
  const Problem& problem = graph.problem();
  const Workload& workload = problem.workload();
  std::vector<double> bits(graph.ports().size(), 0.0);
  if (graph.space().entry().is_of_branch()) {
    return bits;  // entries may go on with tiles that others brought
  }
  const PerFanout<std::size_t>& levels_above = problem.arch().levels_above;
  if (std::find(levels_above.begin(), levels_above.end(), 0) != levels_above.end()) {
    return bits;
  }
  for (const TensorId t : workload.tensors.ids()) {
    const Tensor& tensor = workload.tensors[t];
    const Access access = crossing_access(/*at_parent=*/true, t == workload.output());
    for (std::size_t q = 0; q < bits.size(); ++q) {
      const Port& port = graph.ports()[q];
      bits[q] += port.level == LevelId{0} && passes(access, port.kind)
                     ? static_cast<double>(footprint(tensor, bounds_of(workload))) *
                           problem.moved_bits(t, tensor.bits) * (1 - kRounding)
                     : 0;
    }
  }
  return bits;
}

EnergyBound::EnergyBound(const StateGraph& graph) : graph_{&graph} {
  const Workload& workload = graph.problem().workload();
  const std::size_t latch = graph.problem().arch().levels.size();
  for (const TensorId t : workload.tensors.ids()) {
    TensorPaths path;
    path.use = use_of(workload, workload.tensors[t]);
    path.serves[latch] = graph.residences(t).back().latch;
    for (const BoundaryEdge& edge : graph.edges()) {
      if (edge.tensor == t && edge.to == BoundaryEdge::kMac) {
        path.serves[index_of(graph.residences(t)[edge.from].level)] = true;
      } else if (edge.tensor == t) {
        path.boundaries.push_back(boundary_of(edge));
      }
    }
    std::sort(path.boundaries.begin(), path.boundaries.end());
    path.boundaries.erase(std::unique(path.boundaries.begin(), path.boundaries.end()),
                          path.boundaries.end());
    for (const TensorId other : paths_.ids()) {
      if (meet_once(workload, paths_[other].use, path.use)) {
        pairs_.emplace_back(other, t);
      }
    }
    paths_.push_back(path);
  }
}

PathBoundary EnergyBound::boundary_of(const BoundaryEdge& edge) const {
  const std::vector<Residence>& residences = graph_->residences(edge.tensor);
  const auto node = [&](const Residence& residence) {
    return residence.latch ? graph_->problem().arch().levels.size() : index_of(residence.level);
  };
  return {node(residences[edge.from]), node(residences[edge.to])};
}

double EnergyBound::of(const UnrollingClass& unrolling_class) const {
  return UnrollingBound(graph_->space(), paths_, pairs_, unrolling_class).least();
}

double EnergyBound::by_phases(const UnrollingClass& unrolling_class, double enough) const {
  return UnrollingBound(graph_->space(), paths_, pairs_, unrolling_class).least_by_phases(enough);
}

double EnergyBound::of(const UnrollingBound::Boxes& boxes) const {
  return UnrollingBound(graph_->space(), paths_, pairs_, boxes).least();
}

// The busiest instance of a port moves at least the mean over the instances that the unrolling
// uses.
std::vector<BoundWeights> EnergyBound::weights_of_figures(
    const UnrollingClass& unrolling_class) const {
  const Arch& arch = graph_->problem().arch();
  std::vector<BoundWeights> weights(1 + graph_->ports().size());
  weights.front() = energy_weights(graph_->problem());
  for (std::size_t q = 0; q < graph_->ports().size(); ++q) {
    const Port& port = graph_->ports()[q];
    double instances = 1;
    for (const FanoutId f : unrolling_class.factors.ids()) {
      for (const std::int64_t factor : unrolling_class.factors[f]) {
        instances *= arch.levels_above[f] <= index_of(port.level) ? static_cast<double>(factor) : 1;
      }
    }
    const auto weight = [&](Action action) {
      const bool all_pass = std::all_of(kAccesses.begin(), kAccesses.end(), [&](Access access) {
        return rule_of(access).action != action || passes(access, port.kind);
      });
      return all_pass ? 1 / instances : 0;
    };
    weights[1 + q].operations = 0;
    weights[1 + q].levels[index_of(port.level)] = {weight(Action::kRead), weight(Action::kWrite),
                                                   weight(Action::kUpdate)};
  }
  return weights;
}

std::vector<Pattern> EnergyBound::patterns(const UnrollingClass& unrolling_class,
                                           const ObjectiveKeyOf& key_of, const Incumbent& known,
                                           bool first_only) const {
  return UnrollingBound(graph_->space(), paths_, pairs_, unrolling_class)
      .patterns(weights_of_figures(unrolling_class), key_of, known, first_only);
}

std::vector<bool> EnergyBound::edges_outside(const Pattern& pattern) const {
  std::vector<bool> outside;
  for (const BoundaryEdge& edge : graph_->edges()) {
    const TensorId t = edge.tensor;
    if (edge.to == BoundaryEdge::kMac) {
      const Residence& residence = graph_->residences(t)[edge.from];
      const std::size_t node =
          residence.latch ? graph_->problem().arch().levels.size() : index_of(residence.level);
      outside.push_back(node != pattern.serving[t]);
    } else {
      const std::vector<PathBoundary>& boundaries = pattern.boundaries[t];
      outside.push_back(std::find(boundaries.begin(), boundaries.end(), boundary_of(edge)) ==
                        boundaries.end());
    }
  }
  return outside;
}

}  // namespace mapsim::exact
