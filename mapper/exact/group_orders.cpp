// SPDX-License-Identifier: Apache-2.0
// Which legs a nest of a group may take: docs/decisions/0040.
#include <algorithm>
#include <vector>

#include "mapper/exact/group_floor.hpp"
#include "mapper/exact/parts.hpp"
#include "mapper/objective.hpp"

namespace mapsim::exact {

// The orders in which tensors may be placed on their ways to the nodes that are chosen: a graph of
// where each was placed last. Who is placed later moves further in, while the others' tiles stay.
class GroupFloor::Orders {
 public:
  explicit Orders(const GroupFloor& floor)
      : floor_{floor},
        nodes_{floor.latch_ + 1},
        fills_(floor.routes_.size(), PerTensor<std::vector<double>>(floor.routes_.size())),
        strides_(floor.routes_.size()) {
    for (std::size_t i = strides_.size(); i-- > 0;) {
      const auto t = static_cast<TensorId>(i);
      strides_[t] = states_;
      states_ *= floor.chosen_[t].node + 1;
    }
    for (const auto& [one, other] : floor.pairs_) {
      find_fills(one, other);
      find_fills(other, one);
    }
  }

  // The legs of orders that need no more than `most` for ways and accesses [pJ].
  void mark(double most, Legs& legs) const {
    for (const TensorId t : strides_.ids()) {
      const Choice& choice = floor_.chosen_[t];
      most -= choice.cost - floor_.sides_[t].paid[choice.node];
    }
    std::vector<double> on(states_, kInfinity);  // from each state to the end
    on.back() = 0;
    for (std::size_t state = states_; state-- > 0;) {
      for_each_leg(state, [&](TensorId, std::size_t, std::size_t next, double cost) {
        on[state] = std::min(on[state], cost + on[next]);
      });
    }
    std::vector<double> paid(states_, kInfinity);
    paid[0] = 0;
    for (std::size_t state = 0; state < states_; ++state) {
      if (!(paid[state] + on[state] <= most)) {
        continue;
      }
      for_each_leg(state, [&](TensorId t, std::size_t leg, std::size_t next, double cost) {
        paid[next] = std::min(paid[next], paid[state] + cost);
        legs[t][leg] = legs[t][leg] || paid[state] + cost + on[next] <= most;
      });
    }
  }

 private:
  std::size_t node(std::size_t state, TensorId t) const {
    return state / strides_[t] % (floor_.chosen_[t].node + 1);
  }

  // fills_[moves][stays][to, at]
  void find_fills(TensorId moves, TensorId stays) {
    std::vector<double>& fills = fills_[moves][stays];
    fills.assign(nodes_ * nodes_, 0.0);
    const auto last = [this](TensorId t) {
      return std::min(floor_.chosen_[t].node, floor_.latch_ - 1);
    };
    for (std::size_t to = 1; to <= last(moves); ++to) {
      for (std::size_t at = 1; at <= last(stays); ++at) {
        fills[to * nodes_ + at] = to > 1 && !is_behind_fanout(to)
                                      ? fills[(to - 1) * nodes_ + at]
                                      : floor_.macs_ / floor_.operations(moves, to, stays, at);
      }
    }
  }
  bool is_behind_fanout(std::size_t node) const {
    const PerFanout<std::size_t>& above = floor_.problem_.arch().levels_above;
    return std::find(above.begin(), above.end(), node) != above.end();
  }

  // Calls visit(tensor, leg, next state, energy) for all that may be placed next.
  template <class Visit>
  void for_each_leg(std::size_t state, const Visit& visit) const {
    for (const TensorId t : strides_.ids()) {
      const std::vector<RouteLeg>& legs = floor_.routes_[t].legs;
      const std::size_t from = node(state, t);
      for (std::size_t i = 0; i < legs.size(); ++i) {
        if (legs[i].from == from && legs[i].to <= floor_.chosen_[t].node) {
          visit(t, i, state + (legs[i].to - from) * strides_[t],
                floor_.leg(t, legs[i], fills(state, t, legs[i].to)));
        }
      }
    }
  }
  double fills(std::size_t state, TensorId t, std::size_t to) const {
    double most = floor_.fills_at_least(t, to);
    for (const TensorId other : strides_.ids()) {
      if (!fills_[t][other].empty()) {
        most = std::max(most, fills_[t][other][to * nodes_ + node(state, other)]);
      }
    }
    return most;
  }

  const GroupFloor& floor_;
  std::size_t nodes_;
  PerTensor<PerTensor<std::vector<double>>> fills_;
  PerTensor<std::size_t> strides_;
  std::size_t states_ = 1;
};

PerTensor<std::vector<bool>> GroupFloor::legs_within(double most) {
  constexpr std::size_t kMostTensors = 4;
  Legs legs(routes_.size());
  for (const TensorId t : routes_.ids()) {
    legs[t].resize(routes_[t].legs.size(), routes_.size() > kMostTensors);
  }
  if (routes_.size() <= kMostTensors) {
    mark(0, most * (1 + kRounding) - macs_ * problem_.mac_energy().count(), legs);
  }
  return legs;
}

// The legs of all choices for the tensors from this one on.
void GroupFloor::mark(std::size_t tensor, double most, Legs& legs) {
  if (!(least_to_come(tensor) <= most)) {
    return;
  }
  if (tensor == choices_.size()) {
    Orders(*this).mark(most, legs);
    return;
  }
  const auto t = static_cast<TensorId>(tensor);
  for (const Choice& choice : choices_[t]) {
    chosen_[t] = choice;
    mark(tensor + 1, most, legs);
  }
}

}  // namespace mapsim::exact
