// SPDX-License-Identifier: Apache-2.0
#include "costmodel/boundary_cost.hpp"

#include "costmodel/network.hpp"

namespace mapsim {

namespace {

EndEnergy end_energy(const Storage& level, bool at_parent, bool output) {
  const auto energy = [&](Access access) {
    return energy_of(level.energy, rule_of(access).action).count();
  };
  return {energy(crossing_access(at_parent, output)),
          output ? energy(returning_access(at_parent)) : 0};
}

}  // namespace

EndEnergy parent_energy(const Storage& parent, bool output) {
  return end_energy(parent, true, output);
}

EndEnergy child_energy(const Storage& child, bool output) {
  return end_energy(child, false, output);
}

NetworkEnergy network_energy(const Problem& problem, FanoutId fanout, bool output) {
  return {output ? problem.addition_energy(fanout).count() : 0,
          problem.arch().fanouts[fanout].energy_per_hop.value_or(PicojoulesPerBit{0}).count()};
}

BoundaryCost::BoundaryCost(const Problem& problem, const Boundary& boundary,
                           std::span<const Port> ports, Tracked tracked)
    : output_{boundary.tensor == problem.workload().output()},
      final_at_parent_{boundary.final_at_parent},
      distinct_{boundary.distinct},
      parent_padding_{boundary.parent_padding},
      child_padding_{boundary.child_padding} {
  constexpr double kRounding = 1e-10;  // of flows that are bounds: sums in another order
  const Tensor& tensor = problem.workload().tensors[boundary.tensor];
  const Arch& arch = problem.arch();
  two_widths_ = output_ && tensor.bits != tensor.partial_bits;
  most_once_ = distinct_ * (1 + kRounding);
  final_bits_ = problem.moved_bits(boundary.tensor, tensor.bits);
  partial_bits_ = problem.moved_bits(boundary.tensor, tensor.partial_bits);
  parent_bits_ = two_widths_ && !final_at_parent_ ? partial_bits_ : final_bits_;
  parent_ = parent_energy(arch.levels[boundary.parent], output_);
  if (tracked.ports) {
    add_passages(boundary.parent, true, ports);
  }
  ports_at_parent_ = ports_.size();
  if (!boundary.child) {
    return;
  }
  child_ = child_energy(arch.levels[*boundary.child], output_);
  if (tracked.ports) {
    add_passages(*boundary.child, false, ports);
  }
  if (tracked.edges) {
    edge_rate_ = edge_rate(problem, boundary.parent, *boundary.child, output_);
    edge_component_ = resources(tracked, ports.size()) - 1;
  }
}

void BoundaryCost::add_passages(LevelId level, bool at_parent, std::span<const Port> ports) {
  for (std::size_t q = 0; q < ports.size(); ++q) {
    const bool crossing = passes(crossing_access(at_parent, output_), ports[q].kind);
    const bool returning = output_ && passes(returning_access(at_parent), ports[q].kind);
    if (ports[q].level == level && (crossing || returning)) {
      ports_.push_back({1 + q, crossing ? 1.0 : 0.0, returning ? 1.0 : 0.0});
    }
  }
}

double BoundaryCost::network_pj(const NetworkEnergy& energy, const NetworkFlow& flow) const {
  double pj = energy.addition_pj * (flow.entering - flow.leaving);
  if (energy.hop_pj > 0) {
    const bool partial = two_widths_ && !crosses_once(flow.entering, distinct_);
    const double routed = flow.entering / flow.group_size;
    pj += energy.hop_pj * (partial ? partial_bits_ : final_bits_) *
          word_hops(flow.leaving, routed, routed * flow.route, flow.returning);
  }
  return pj;
}

}  // namespace mapsim
