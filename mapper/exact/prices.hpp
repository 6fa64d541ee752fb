// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "mapper/exact/bound.hpp"
#include "mapper/exact/costs.hpp"

namespace mapsim::exact {

struct Instance;

// Energy tables in which every bit that a tile takes in a room has a price [pJ].
class PricedCosts {
 public:
  PricedCosts(const Skeleton& skeleton, const Unrolled& unrolled, Costs& costs,
              std::vector<double> price_of_room);
  std::size_t components() const { return 1; }
  const std::vector<double>& plain(std::size_t placing);
  const std::vector<double>& sliding(std::size_t placing, DimId dim);
  std::vector<double> mac(const std::vector<std::size_t>& placings, std::size_t tile) {
    return {costs_.mac(placings, tile).front()};
  }

 private:
  double price(std::size_t placing) const;

  const Skeleton& skeleton_;
  const Unrolled& unrolled_;
  Costs& costs_;
  std::vector<double> price_of_room_;
  std::vector<std::vector<double>> plain_;
  std::vector<PerDim<std::vector<double>>> sliding_;
};

// A Lagrangian bound. Whatever is still placed in a room takes at most what is left of it, so the
// energy to go is at least the least priced energy to go minus the price of what is left. Where
// tensors compete for a room this is far above the bound that gives each the room for itself.
class Prices {
 public:
  Prices(std::vector<double> price_of_room, Bound bound)
      : price_of_room_{std::move(price_of_room)}, bound_{std::move(bound)} {}
  double priced_to_go(const Node& node) const { return bound_.at(node, 0); }
  double price(std::size_t room) const { return price_of_room_[room]; }

 private:
  std::vector<double> price_of_room_;
  Bound bound_;
};

// Prices of the `rooms` that make the bound at the start large, by a few steps of the subgradient
// method; `target` is an energy that some mapping reaches (or a guess). nullopt: nothing gained.
std::optional<Prices> find_prices(Instance& instance, const std::vector<std::size_t>& rooms,
                                  double target);

}  // namespace mapsim::exact
