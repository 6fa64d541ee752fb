// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace mapsim::check {

// What is proven of all mappings of a layer [pJ, cycles].
struct LayerBounds {
  double count = 1;
  double root = 0;    // none has less energy * latency than its square
  double cycles = 0;  // none is faster
  // None has less energy + weight * latency than the second: weight, value.
  std::vector<std::pair<double, double>> lines{};
};

// Those of the lines that say more than all others and `cycles`, by their place.
std::vector<std::size_t> useful_lines(const LayerBounds& layer);

// No choice of one mapping a layer has a lower product of total energy and total latency. Whatever
// the weight w > 0: E T >= (E + w T)^2 / 4w, and E + w T is no less than the sum of what is proven
// of the layers; equal for w = E / T, so that the least over all w is a bound.
double least_product(const std::vector<LayerBounds>& layers);

}  // namespace mapsim::check
