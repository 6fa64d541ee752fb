// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "arch/arch.hpp"
#include "costmodel/accesses.hpp"
#include "costmodel/boundary_flow.hpp"
#include "costmodel/problem.hpp"
#include "costmodel/resource_vector.hpp"
#include "costmodel/timing/array.hpp"

namespace mapsim {

// The one rule for the cost of a boundary (docs/model.md#boundary-cost): between a tensor's tile
// at a level (the child) and the next level out that keeps the tensor (the parent). The flows
// (how many elements cross) are inputs: callers count them, tabulate them per tile, or bound them
// from below. The rule gives the energy (accesses.hpp) and the width that an element is charged,
// the ports that it passes, the effect of padding, and the time of the first fill or the last
// drain.

// The least whole number of cycles from `cycles` on. Sums of fractions of bits in another order
// differ by some units in the last place, so that 16 cycles may come as 16 + 4e-15. 1e-14 is some
// 45 of these units; for times below 10^11 cycles it is less than a thousandth of a cycle.
inline double ceil_of_sum(double cycles) {
  constexpr double kSumError = 1e-14;
  const double nearest = std::round(cycles);
  return std::abs(cycles - nearest) <= cycles * kSumError ? nearest : std::ceil(cycles);
}

inline double transfer_cycles(double bits, BitsPerCycle rate) {
  return ceil_of_sum(bits / rate.count());
}

// Energy [pJ per bit] of an end's flow.
struct EndEnergy {
  double crossing_pj = 0, returning_pj = 0;
  double of(const EndFlow& flow) const {
    return flow.crossing * crossing_pj + flow.returning * returning_pj;
  }
};
EndEnergy parent_energy(const Storage& parent, bool output);
EndEnergy child_energy(const Storage& child, bool output);

struct NetworkEnergy {
  double addition_pj = 0, hop_pj = 0;  // per addition, of sums; per bit and hop
};
NetworkEnergy network_energy(const Problem& problem, FanoutId fanout, bool output);

struct Boundary {
  TensorId tensor{};
  LevelId parent{};
  std::optional<LevelId> child;  // none: the compute units, or a register of theirs
  bool final_at_parent = false;  // outputs with two widths: the parent stores final sums
  double distinct = 0;           // elements of the output; if more cross, they are partial sums
  Padding parent_padding{};      // of the elements that pass ports
  Padding child_padding{};
};

// The cost of one boundary as a function of its flow, by coefficients that are computed once.
class BoundaryCost {
 public:
  BoundaryCost() = default;
  BoundaryCost(const Problem& problem, const Boundary& boundary, std::span<const Port> ports,
               Tracked tracked);

  // Is any port of that end tracked? Otherwise the busiest instance's flow is not needed.
  bool tracks_parent() const { return ports_at_parent_ > 0; }
  bool tracks_child() const { return ports_at_parent_ < ports_.size(); }
  // Outputs with two widths: is this number of elements that cross the parent's end consistent with
  // final_at_parent? `is_bound`: it is a lower bound of the number.
  bool admits(double crossing, bool is_bound = false) const {
    return !two_widths_ || (is_bound ? !final_at_parent_ || crossing <= most_once_
                                     : final_at_parent_ == crosses_once(crossing, distinct_));
  }
  // Adds component k of a flow's cost to out[k * step]; a bound of the flow gives a bound of the
  // cost. Returns false, and adds nothing, if the boundary does not admit the flow.
  bool charge(const BoundaryFlow& flow, double* out, std::size_t step) const {
    if (!admits(flow.parent.crossing, flow.is_bound)) {
      return false;
    }
    if (flow.nonzeros != nullptr) {
      charge_nonzeros(flow, *flow.nonzeros, out, step);
      return true;
    }
    const double child_bits = bits_at_child(flow);
    out[0] += parent_bits_ * parent_.of(flow.parent) + child_bits * child_.of(flow.child) +
              flow.networks_pj;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const bool at_parent = i < ports_at_parent_;
      const EndFlow& busy = at_parent ? flow.busy_parent : flow.busy_child;
      const double moved =
          ports_[i].crossing * busy.crossing + ports_[i].returning * busy.returning;
      const Padding& padding = at_parent ? parent_padding_ : child_padding_;
      out[ports_[i].component * step] +=
          padding.of(moved * (at_parent ? parent_bits_ : child_bits));
    }
    if (edge_rate_) {
      out[edge_component_ * step] +=
          transfer_cycles(child_padding_.of(flow.tile * child_bits), *edge_rate_);
    }
    return true;
  }
  // A lower bound on the energy [pJ] of one more element that crosses the parent's end.
  double least_crossing_pj() const { return least_bits_ * parent_.crossing_pj; }
  // The energy of one network between child and parent; sums have their width below it.
  double network_pj(const NetworkEnergy& energy, const NetworkFlow& flow) const;

 private:
  // A port at an end. `crossing`, `returning`: 1 if these elements of the flow pass the port,
  // otherwise 0.
  struct Passage {
    std::size_t component = 0;
    double crossing = 0, returning = 0;
  };

  bool is_partial_at_child(const BoundaryFlow& flow) const {
    const bool once = flow.is_bound ? flow.child.crossing <= most_once_
                                    : crosses_once(flow.child.crossing, distinct_);
    return two_widths_ && !once;
  }
  double bits_at_child(const BoundaryFlow& flow) const {
    return is_partial_at_child(flow) ? partial_bits_ : final_bits_;
  }
  void charge_nonzeros(const BoundaryFlow& flow, const FlowOfNonzeros& nonzeros, double* out,
                       std::size_t step) const;
  void add_passages(LevelId level, bool at_parent, std::span<const Port> ports);

  bool output_ = false;
  bool two_widths_ = false;       // an output whose partial sums are wider than final ones
  bool final_at_parent_ = false;  // Boundary::final_at_parent
  double distinct_ = 0;           // Boundary::distinct
  double most_once_ = 0;          // the same, and the rounding error of a bound
  // Bits that an element moves on average. At the child: a partial sum, or any other element
  double partial_bits_ = 0, final_bits_ = 0;
  double parent_bits_ = 0, least_bits_ = 0;  // at the parent; there, if sums were final
  // The width of a final sum or another element, and of a partial sum [b]
  double width_ = 0, partial_width_ = 0;
  EndEnergy parent_, child_;
  std::vector<Passage> ports_;  // the parent's, then the child's
  std::size_t ports_at_parent_ = 0;
  Padding parent_padding_, child_padding_;
  std::optional<BitsPerCycle> edge_rate_;
  std::size_t edge_component_ = 0;
};

}  // namespace mapsim
