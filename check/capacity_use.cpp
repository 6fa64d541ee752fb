// SPDX-License-Identifier: Apache-2.0
#include "check/capacity_use.hpp"

#include "arch/buffering.hpp"
#include "check/geometry.hpp"
#include "check/nonzeros.hpp"
#include "costmodel/nest.hpp"

namespace mapsim::check {

CapacityUse::CapacityUse(const Graph& graph, const Goal& goal, std::size_t first)
    : graph_{graph}, end_{first} {
  for (const CapacityConstraint& capacity : graph.capacities()) {
    const bool measured = goal.kind == Goal::Kind::kCurve && capacity.level == goal.level &&
                          capacity.role == goal.role;
    measured_ = measured ? std::optional{slots_.size()} : measured_;
    slots_.push_back(measured || capacity.sharers.size() > 1 ? std::optional{end_++}
                                                             : std::nullopt);
  }
}

bool CapacityUse::add(std::size_t edge, double bits, std::vector<double>& values) const {
  const auto capacity = graph_.capacity_of(graph_.edges()[edge]);
  if (!capacity || !slots_[*capacity]) {
    return true;
  }
  double& used = values[*slots_[*capacity]];
  used += bits;
  return used <= graph_.capacities()[*capacity].bits;
}

bool CapacityUse::add_outermost(std::size_t residency, std::vector<double>& values) const {
  const Workload& workload = graph_.problem().workload();
  for (std::size_t r = 0; r < slots_.size(); ++r) {
    const CapacityConstraint& capacity = graph_.capacities()[r];
    double used = 0;
    for (const TensorId t : workload.tensors.ids()) {
      if (capacity.level != LevelId{0} || !capacity.sharers.contains(t)) {
        continue;
      }
      const Tensor& tensor = workload.tensors[t];
      const bool final = graph_.residences(t)[graph_.residence_at(residency, t)].final;
      const Bits width = final ? tensor.bits : tensor.partial_bits;
      if (graph_.problem().sparse() != nullptr) {
        used += NonzeroFlows{graph_.problem()}.stored_bits(t, capacity.level, bounds_of(workload),
                                                           width);
        continue;
      }
      auto bits = static_cast<double>(width.count());
      for (const Rank& rank : tensor.ranks) {
        bits *= static_cast<double>(count_coordinates(rank, bounds_of(workload)));
      }
      used += bits;
    }
    if (used > capacity.bits) {
      return false;
    }
    if (r == measured_) {
      values[*slots_[r]] += used;
    }
  }
  return true;
}

double CapacityUse::capacity_for(const std::vector<double>& values) const {
  return measured_
             ? copies_of(graph_.problem().arch().levels[graph_.capacities()[*measured_].level]) *
                   values[*slots_[*measured_]]
             : 0;
}

void CapacityUse::leave(std::size_t residency, Direction direction,
                        std::vector<double>& values) const {
  for (std::size_t r = 0; r < slots_.size(); ++r) {
    const CapacityConstraint& capacity = graph_.capacities()[r];
    bool open = !slots_[r] || r == measured_;
    for (const TensorId t : graph_.problem().workload().tensors.ids()) {
      const Residence& at = graph_.residences(t)[graph_.residence_at(residency, t)];
      const bool outside = !at.latch && at.level < capacity.level;
      open =
          open || (capacity.sharers.contains(t) && outside == (direction == Direction::kInwards));
    }
    if (!open) {
      values[*slots_[r]] = 0;
    }
  }
}

}  // namespace mapsim::check
