// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "mapper/exact/bound.hpp"
#include "mapper/exact/costs.hpp"
#include "mapper/exact/outlook.hpp"

namespace mapsim::exact {

struct Instance;

// What a sum of costs weighs: one number for each component, and for each bit in a room.
struct Weights {
  std::vector<double> component;
  std::vector<double> room;
};

// Weighted sums in place of the tables of components.
class PricedCosts {
 public:
  PricedCosts(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs, Weights weights);
  std::size_t components() const { return 1; }
  const std::vector<double>& plain(std::size_t placing);
  const std::vector<double>& sliding(std::size_t placing, DimId dim);
  std::vector<double> mac(const std::vector<std::size_t>& placings, std::size_t tile);

 private:
  double price(std::size_t placing) const;
  void add_components(const std::vector<double>& cost, std::vector<double>& sum) const;

  const Skeleton& skeleton_;
  const Unrolled& unrolled_;
  Costs& costs_;
  Weights weights_;
  std::vector<std::vector<double>> plain_;
  std::vector<PerDim<std::vector<double>>> sliding_;
};

// A Lagrangian bound on both figures. The busiest port is at least as busy as any weighted mean of
// the ports and the compute units, and whatever is still placed in a room takes at most what is
// left of it. So for any prices (of a cycle of each port, of a bit of each room) the least priced
// sum to go gives
//   energy + slope * latency >= paid + to go + constant - sum over rooms of price * what is left,
// or, where energy has no weight, the same of latency alone.
class Prices {
 public:
  // `slope`: pJ per cycle; none: a bound on latency.
  Prices(Weights weights, std::optional<double> slope, double constant, Bound bound)
      : weights_{std::move(weights)},
        slope_{slope},
        constant_{constant},
        bound_{std::move(bound)} {}

  double price(std::size_t room) const { return weights_.room[room]; }
  // Narrows what bounds leave of the mappings that go on from `node`, having paid so much; `refund`
  // is the price of what is left of the rooms. Infinite: nothing goes on from there.
  void narrow(const Node& node, const double* paid, double refund, Outlook& outlook,
              std::vector<Line>& lines) const;

 private:
  Weights weights_;
  std::optional<double> slope_;
  double constant_;
  Bound bound_;
};

// Where a bound at the start should come to lie: nothing that takes `latency` needs less than
// `energy`; with `of_latency`, nothing takes less than `latency`.
struct Aim {
  double energy = 0;
  double latency = 0;
  bool of_latency = false;
};
// Given what the bounds leave at the start: where to aim next; nullopt: it is enough.
using NextAim = std::function<std::optional<Aim>(const Outlook& root)>;

// Lagrange multipliers of the `rooms` and of all ports, one set after the other, each by a few
// cutting planes (Kelley 1960) of the dual function of its aim. Only those by which the bound at
// the start gained.
std::vector<Prices> find_prices(Instance& instance, const std::vector<std::size_t>& rooms,
                                const NextAim& next_aim);

}  // namespace mapsim::exact
