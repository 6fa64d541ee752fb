// SPDX-License-Identifier: Apache-2.0
#include "costmodel/boundary_cost.hpp"

#include "costmodel/network.hpp"
#include "costmodel/sparse/model.hpp"

namespace mapsim {

namespace {

EndEnergy end_energy(const Storage& level, bool at_parent, bool output) {
  const auto energy = [&](Access access) {
    return energy_of(level.energy, rule_of(access).action).count();
  };
  return {energy(crossing_access(at_parent, output)),
          output ? energy(returning_access(at_parent)) : 0};
}

// What an element of this width moves at a level on average; at least, where it depends on tiles.
double bits_at(const Problem& problem, TensorId tensor, LevelId level, Bits width) {
  const SparseModel* sparse = problem.sparse();
  if (sparse == nullptr || sparse->has_conditions() || !sparse->is_constant(level, tensor)) {
    return problem.moved_bits(tensor, width);
  }
  const MovedShare share = sparse->moved(level, tensor, {});
  return static_cast<double>(width.count()) * share.elements + share.format_bits;
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
  // Flows may be bounds, which are sums in another order and less exact than figures of mappings.
  constexpr double kFlowError = 1e-10;
  const Tensor& tensor = problem.workload().tensors[boundary.tensor];
  const Arch& arch = problem.arch();
  two_widths_ = output_ && tensor.bits != tensor.partial_bits;
  most_once_ = distinct_ * (1 + kFlowError);
  const LevelId inner = boundary.child.value_or(boundary.parent);
  final_bits_ = bits_at(problem, boundary.tensor, inner, tensor.bits);
  partial_bits_ = bits_at(problem, boundary.tensor, inner, tensor.partial_bits);
  least_bits_ = bits_at(problem, boundary.tensor, boundary.parent, tensor.bits);
  parent_bits_ = two_widths_ && !final_at_parent_
                     ? bits_at(problem, boundary.tensor, boundary.parent, tensor.partial_bits)
                     : least_bits_;
  width_ = static_cast<double>(tensor.bits.count());
  partial_width_ = static_cast<double>(tensor.partial_bits.count());
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

// As charge(), of what zeros leave of the flow.
void BoundaryCost::charge_nonzeros(const BoundaryFlow& flow, const FlowOfNonzeros& nonzeros,
                                   double* out, std::size_t step) const {
  const double parent_width =
      (two_widths_ && !final_at_parent_ ? partial_width_ : width_) * nonzeros.parent.elements;
  const double child_width =
      (is_partial_at_child(flow) ? partial_width_ : width_) * nonzeros.child.elements;
  const double parent_bits = parent_width + nonzeros.parent.format_bits;
  const double child_bits = child_width + nonzeros.child.format_bits;
  const auto all = [](const EndFlow& end) { return end.crossing + end.returning; };
  out[0] +=
      nonzeros.made * (parent_bits * parent_.of(flow.parent) + child_bits * child_.of(flow.child)) +
      nonzeros.parent_idle_pj * parent_width * all(flow.parent) +
      nonzeros.child_idle_pj * child_width * all(flow.child) + flow.networks_pj;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    const bool at_parent = i < ports_at_parent_;
    const EndFlow& busy = at_parent ? flow.busy_parent : flow.busy_child;
    out[ports_[i].component * step] +=
        nonzeros.unskipped * (at_parent ? parent_bits : child_bits) *
        (ports_[i].crossing * busy.crossing + ports_[i].returning * busy.returning);
  }
  if (edge_rate_) {
    out[edge_component_ * step] += transfer_cycles(flow.tile * child_bits, *edge_rate_);
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
