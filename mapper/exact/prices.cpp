// SPDX-License-Identifier: Apache-2.0
#include "mapper/exact/prices.hpp"

#include <algorithm>

#include "mapper/exact/instance.hpp"
#include "mapper/exact/moves.hpp"

namespace mapsim::exact {

PricedCosts::PricedCosts(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
                         std::vector<double> price_of_room)
    : skeleton_{skeleton},
      unrolled_{unrolled},
      costs_{costs},
      price_of_room_{std::move(price_of_room)},
      plain_(skeleton.placings().size()),
      sliding_(skeleton.placings().size(),
               PerDim<std::vector<double>>(unrolled.lattices.front().dims())) {}

double PricedCosts::price(std::size_t placing) const {
  const auto room = skeleton_.room_of(skeleton_.placings()[placing]);
  return room ? price_of_room_[*room] : 0;
}

const std::vector<double>& PricedCosts::plain(std::size_t placing) {
  std::vector<double>& priced = plain_[placing];
  if (priced.empty()) {
    const std::vector<double>& cost = costs_.plain(placing);
    const std::vector<double>& bits = costs_.bits(placing);
    const double each = price(placing);
    priced.resize(bits.size());
    for (std::size_t tile = 0; tile < bits.size(); ++tile) {
      priced[tile] = cost[tile] + each * bits[tile];
    }
  }
  return priced;
}

const std::vector<double>& PricedCosts::sliding(std::size_t placing, DimId dim) {
  std::vector<double>& priced = sliding_[placing][dim];
  if (priced.empty()) {
    const Lattice& lattice = unrolled_.lattices[skeleton_.placings()[placing].crossed];
    const auto& runs = lattice.runs(dim);
    const std::size_t rests = lattice.size() / lattice.positions(dim).size();
    const std::vector<double>& cost = costs_.sliding(placing, dim);
    const std::vector<double>& bits = costs_.bits(placing);
    const double each = price(placing);
    priced.resize(runs.size() * rests);
    for (std::size_t run = 0; run < runs.size(); ++run) {
      for (std::size_t rest = 0; rest < rests; ++rest) {
        const std::size_t tile = lattice.from_rest(dim, rest, runs[run].to);
        priced[run * rests + rest] = cost[run * rests + rest] + each * bits[tile];
      }
    }
  }
  return priced;
}

namespace {

constexpr int kSteps = 10;  // a bound pass each

Node best_start(const Instance& instance, const Bound& bound) {
  Node best;
  double least = kInfinity;
  for (const std::size_t pointers : instance.skeleton.starts()) {
    const Node start{0, pointers, instance.unrolled.lattices.front().size() - 1};
    if (bound.at(start, 0) < least) {
      least = bound.at(start, 0);
      best = start;
    }
  }
  return best;
}

// Bits that the cheapest way to the end places in each room.
std::vector<double> used_bits(Instance& instance, PricedCosts& costs, const Bound& bound, Node at) {
  std::vector<double> used(instance.skeleton.rooms().size(), 0.0);
  for (bool ended = false; !ended;) {
    double least = kInfinity;
    Step next;
    std::vector<Payment> paid;
    for_each_move(instance.skeleton, instance.unrolled, costs, at,
                  [&](const Step& step, std::span<const Payment> payments) {
                    const bool end = step.kind == Step::Kind::kEnd;
                    double total = end ? 0 : bound.at(step.node, 0);
                    for (const Payment& payment : payments) {
                      total += payment.cost[0];
                    }
                    if (total < least) {
                      least = total;
                      next = step;
                      paid.assign(payments.begin(), payments.end());
                    }
                  });
    ended = !(least < kInfinity) || next.kind == Step::Kind::kEnd;
    at = next.node;
    for (const Payment& payment : paid) {
      if (payment.placing != Placing::kMac) {
        if (const auto room =
                instance.skeleton.room_of(instance.skeleton.placings()[payment.placing])) {
          used[*room] += instance.costs.bits(payment.placing)[payment.tile];
        }
      }
    }
  }
  return used;
}

}  // namespace

// Held, Wolfe and Crowder (1974), with Polyak's step towards `target`, in shares of the rooms: room
// r has the multiplier price x bits, and the subgradient used / bits - 1.
std::optional<Prices> find_prices(Instance& instance, const std::vector<std::size_t>& rooms,
                                  double target) {
  const auto& all = instance.skeleton.rooms();
  std::vector<double> multipliers(all.size(), 0.0);
  std::optional<Prices> best;
  double best_value = instance.bound.at(best_start(instance, instance.bound), 0);
  double pace = 1;
  for (int i = 0; i < kSteps && best_value < target; ++i) {
    std::vector<double> prices(all.size(), 0.0);
    double paid_back = 0;
    for (const std::size_t r : rooms) {
      prices[r] = multipliers[r] / all[r].bits;
      paid_back += multipliers[r];
    }
    PricedCosts costs(instance.skeleton, instance.unrolled, instance.costs, prices);
    Bound bound(instance.skeleton, instance.unrolled, costs);
    const Node from = best_start(instance, bound);
    const double value = bound.at(from, 0) - paid_back;
    const std::vector<double> used = used_bits(instance, costs, bound, from);
    if (value > best_value) {
      best_value = value;
      best.emplace(prices, std::move(bound));
    } else if (i > 0) {
      pace /= 2;
    }
    double norm = 0;
    for (const std::size_t r : rooms) {
      norm += (used[r] / all[r].bits - 1) * (used[r] / all[r].bits - 1);
    }
    for (const std::size_t r : rooms) {
      const double slope = used[r] / all[r].bits - 1;
      multipliers[r] = std::max(0.0, multipliers[r] + pace * (target - value) / norm * slope);
    }
    if (!(norm > 0)) {
      break;
    }
  }
  return best;
}

}  // namespace mapsim::exact
