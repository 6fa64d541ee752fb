// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "arch/timing/array.hpp"
#include "costmodel/nest.hpp"
#include "costmodel/problem.hpp"

namespace mapsim {

// Adjacent instances of an array per dim, under a spatial unrolling.
struct ArrayUse {
  PerDim<std::int64_t> x, y;
};
ArrayUse idle_array(const Workload& workload);

// The same, all dims together.
struct ArraySize {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};
ArraySize size_of(const ArrayUse& use);

// Transfers in whole tiles: `whole` elements move for `used` ones.
struct Padding {
  std::int64_t whole = 1;
  std::int64_t used = 1;
  double of(double bits) const {
    return bits * static_cast<double>(whole) / static_cast<double>(used);
  }
};
Padding padding_of(std::int64_t whole, std::int64_t used);  // in lowest terms

// The padding of a tensor, of all its tiles and of the first one, which is the fullest.
struct TilePadding {
  Padding all, first;
};

// Why an array cannot run a nest, or its distance from one that it can.
struct Obstacle {
  double excess = 0;                     // log2 of the instances with other needs, summed; 0: none
  std::optional<TensorId> stays, stuck;  // as in NotRunnable
};

// A tensor in an array: kept below it, or latched at the compute units.
struct Stationary {
  TensorId tensor{};
  std::size_t position = 0;  // loops above its place
  std::size_t folded = 0;    // loops up to the innermost one that exchanges it
};
PerTensor<std::optional<Stationary>> kept_in_array(const Problem& problem, FanoutId array,
                                                   const Nest& nest);

// The folds of a perfect nest, which are all alike. A fold is one tile of the tensor that stays.
struct EqualFolds {
  std::optional<TensorId> stays{};  // none: nothing does, and there is one fold
  double cycles = 0;                // of one instance's steps at the issue interval, in all folds
  double folds = 1;
  double fresh = 1;   // folds with a tile that the array has not held before
  double points = 0;  // of the tile, in one instance
};

// Lower bounds for a tensor that stays in an array, whatever its tiles: folds, and elements of one
// instance in all folds. Infinite: the tensor cannot stay in the array.
struct LeastFolds {
  double folds = std::numeric_limits<double>::infinity();
  double elements = std::numeric_limits<double>::infinity();
};
LeastFolds least_folds(const Problem& problem, FanoutId array, const PerDim<std::int64_t>& bounds,
                       TensorId tensor);

}  // namespace mapsim
