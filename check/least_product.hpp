// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

namespace mapsim::check {

// Proven bounds of all mappings of a layer [pJ, cycles].
struct LayerBounds {
  double count = 1;
  double root = 0;    // energy * latency is at least its square
  double cycles = 0;  // latency is at least this
  // Lines: (weight, value). energy + weight * latency is at least the value.
  std::vector<std::pair<double, double>> lines{};
};

// Indices of the lines that are not implied by the others and `cycles`.
std::vector<std::size_t> useful_lines(const LayerBounds& layer);

// No choice of one mapping a layer has a lower product of total energy and total latency. Whatever
// the weight w > 0: E T >= (E + w T)^2 / 4w, and E + w T is no less than the sum of what is proven
// of the layers; equal for w = E / T, so that the least over all w is a bound.
double least_product(const std::vector<LayerBounds>& layers);

}  // namespace mapsim::check
