// SPDX-License-Identifier: Apache-2.0
#include "mapper/label_search/capacity_use.hpp"

#include "costmodel/sparse/model.hpp"

namespace mapsim::exact {

CarriedCapacities::CarriedCapacities(const StateGraph& graph, std::optional<std::size_t> measured,
                                     std::size_t first)
    : graph_{graph}, first_{first}, width_{first} {
  for (std::size_t r = 0; r < graph.capacities().size(); ++r) {
    const CapacityConstraint& capacity = graph.capacities()[r];
    const bool carried = (capacity.is_shared && capacity.bits < kInfinity) || r == measured;
    slots_.push_back(carried ? std::optional{width_++} : std::nullopt);
    if (carried) {
      limits_.push_back(capacity.bits);
    }
  }
  for (const BoundaryEdge& edge : graph.edges()) {
    const auto capacity = graph.capacity_of(edge);
    slot_of_edge_.push_back(capacity ? slots_[*capacity] : std::nullopt);
  }
}

bool CarriedCapacities::add_start(std::size_t residency, double* values) const {
  if (graph_.space().entry().is_of_branch()) {
    return true;  // capacities of a branch are what tensors outside it leave
  }
  const Workload& workload = graph_.problem().workload();
  const PerDim<std::int64_t> bounds = bounds_of(workload);
  for (std::size_t r = 0; r < graph_.capacities().size(); ++r) {
    const CapacityConstraint& capacity = graph_.capacities()[r];
    double used = 0;
    for (const TensorId t : workload.tensors.ids()) {
      const Tensor& tensor = workload.tensors[t];
      if (capacity.level == LevelId{0} && (!capacity.role || *capacity.role == tensor.role)) {
        const bool narrow = graph_.residence(residency, t).narrow;
        const Bits width = narrow ? tensor.bits : tensor.partial_bits;
        used += graph_.problem().sparse() != nullptr
                    ? graph_.problem().sparse()->stored_bits(capacity.level, t,
                                                             tile_shape(tensor, bounds), width)
                    : static_cast<double>(footprint(tensor, bounds)) *
                          static_cast<double>(width.count());
      }
    }
    if (used > capacity.bits) {
      return false;
    }
    if (slots_[r]) {
      values[*slots_[r]] += used;
    }
  }
  return true;
}

CapacityUse::CapacityUse(SearchTables& tables, std::optional<std::size_t> measured,
                         std::size_t first)
    : CarriedCapacities{tables.graph, measured, first}, tables_{tables} {
  const auto& capacities = tables.graph.capacities();
  for (std::size_t r = 0; r < capacities.size(); ++r) {
    if (slot(r) && measured != r && capacities[r].level != LevelId{0}) {
      filling_.push_back(r);
    }
  }
  entrants_.resize(capacities.size() * tables.graph.stages() * tables.graph.residencies());
}

const CapacityUse::Entrants& CapacityUse::entrants(std::size_t r, const Node& node) {
  const StateGraph& graph = tables_.graph;
  Entrants& entrants =
      entrants_[(r * graph.stages() + node.stage) * graph.residencies() + node.residency];
  if (entrants.known) {
    return entrants;
  }
  entrants.known = true;
  const CapacityConstraint& capacity = graph.capacities()[r];
  const std::size_t crossed = graph.crossed(node.stage);
  for (const TensorId t : graph.problem().workload().tensors.ids()) {
    const Residence& at = graph.residence(node.residency, t);
    const bool has_role =
        !capacity.role || graph.problem().workload().tensors[t].role == *capacity.role;
    if (at.latch || !has_role || index_of(at.level) >= index_of(capacity.level)) {
      continue;
    }
    // A tensor that may be stored in two widths counts with the wider one.
    const double* widest = nullptr;
    bool enters = false;
    for (std::size_t p = 0; p < graph.edges().size(); ++p) {
      const BoundaryEdge& edge = graph.edges()[p];
      if (edge.tensor != t || edge.crossed < crossed || graph.capacity_of(edge) != r ||
          tables_.costs.is_left_out(p)) {
        continue;
      }
      enters = true;
      if (edge.crossed == crossed && (widest == nullptr || !graph.residences(t)[edge.to].narrow)) {
        widest = tables_.costs.bits(p).data();
      }
    }
    if (enters && widest != nullptr) {
      entrants.bits.push_back(widest);
    }
    entrants.unbounded = entrants.unbounded || (enters && widest == nullptr);
  }
  return entrants;
}

double CapacityUse::most(std::size_t capacity, const Node& node) {
  const Entrants& all = entrants(capacity, node);
  double sum = all.unbounded ? kInfinity : 0;
  for (const double* bits : all.bits) {
    sum += bits[node.tile];
  }
  return sum;
}

void CapacityUse::drop_non_binding(const Node& node, double* values) {
  for (const std::size_t r : filling_) {
    double& used = values[*slot(r)];
    if (used > 0 && used + most(r, node) <= tables_.graph.capacities()[r].bits) {
      used = 0;
    }
  }
}

}  // namespace mapsim::exact
