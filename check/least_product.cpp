// SPDX-License-Identifier: Apache-2.0
#include "check/least_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mapsim::check {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// From a weight on: energy + w * cycles.
struct Piece {
  double from = 0, energy = 0, cycles = 0;
  double at(double weight) const { return energy + weight * cycles; }
};

// The least energy + w * latency of a layer is concave in w, and grows by the least latency or
// more: what is proven at single weights holds between them, as the upper envelope of chords.
std::vector<Piece> envelope(const LayerBounds& layer) {
  std::vector<std::pair<double, double>> points = layer.lines;
  points.emplace_back(0, 0);
  std::sort(points.begin(), points.end());
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < points.size();) {
    const auto [weight, value] = points[i];
    std::size_t next = i + 1;
    double steepest = layer.cycles;  // beyond the last point
    std::size_t to = points.size();
    for (; next < points.size(); ++next) {
      const auto& [further, high] = points[next];
      if (further == weight) {
        break;  // a higher one at the same weight
      }
      const double slope = (high - value) / (further - weight);
      if (slope > steepest) {
        steepest = slope;
        to = next;
      }
    }
    if (next < points.size()) {
      i = next;
      continue;
    }
    pieces.push_back({weight, value - weight * steepest, steepest});
    i = to;
  }
  return pieces;
}

// Where a piece meets the curve 2 root sqrt(w), which no mapping is below either.
void add_crossings(const Piece& piece, double root, std::vector<double>& weights) {
  const double inside = root * root - piece.energy * piece.cycles;
  if (inside < 0) {
    return;
  }
  for (const double sign : {-1.0, 1.0}) {
    const double at = piece.cycles > 0 ? (root + sign * std::sqrt(inside)) / piece.cycles
                      : root > 0       ? piece.energy / (2 * root)
                                       : 0;
    if (at > 0) {
      weights.push_back(at * at);
    }
  }
}

// The least of (energy / u + cycles * u) / 2 for u from `low` to `high`.
double least_half(double energy, double cycles, double low, double high) {
  const double best = cycles > 0 ? std::sqrt(std::max(0.0, energy) / cycles) : kInfinite;
  const double at = std::clamp(best, low, high);
  return ((energy > 0 ? energy / at : 0) + (cycles > 0 ? cycles * at : 0)) / 2;
}

}  // namespace

std::vector<std::size_t> useful_lines(const LayerBounds& layer) {
  std::vector<std::size_t> useful;
  for (const Piece& piece : envelope(layer)) {
    for (std::size_t i = 0; i < layer.lines.size(); ++i) {
      const auto& [weight, value] = layer.lines[i];
      if (weight == piece.from && value >= piece.at(weight) * (1 - 1e-12)) {
        useful.push_back(i);
        break;
      }
    }
  }
  return useful;
}

double least_product(const std::vector<LayerBounds>& layers) {
  std::vector<std::vector<Piece>> all;
  std::vector<double> weights{0};
  for (const LayerBounds& layer : layers) {
    all.push_back(envelope(layer));
    for (const Piece& piece : all.back()) {
      weights.push_back(piece.from);
      add_crossings(piece, layer.root, weights);
    }
  }
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  std::vector<std::size_t> at(layers.size(), 0);
  double least = kInfinite;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double low = weights[i];
    const double high = i + 1 < weights.size() ? weights[i + 1] : kInfinite;
    const double inside = high < kInfinite ? (low + high) / 2 : 2 * low + 1;
    double energy = 0;
    double cycles = 0;
    double roots = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      while (at[l] + 1 < all[l].size() && all[l][at[l] + 1].from <= low) {
        ++at[l];
      }
      // Both hold, whatever is higher.
      const Piece& piece = all[l][at[l]];
      if (2 * layers[l].root * std::sqrt(inside) > piece.at(inside)) {
        roots += layers[l].count * layers[l].root;
      } else {
        energy += layers[l].count * piece.energy;
        cycles += layers[l].count * piece.cycles;
      }
    }
    least = std::min(least, roots + least_half(energy, cycles, std::sqrt(low), std::sqrt(high)));
  }
  return least * least;
}

}  // namespace mapsim::check
