// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "mapper/graph/tensor_use.hpp"
#include "mapper/mapspace/unrolling_classes.hpp"

namespace mapsim::branch {

// A box: a set of choices of one fanout (FanoutChoice), described by figures for bounds. The bounds
// hold for each choice in it.
struct FactorBox {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  // At most: operations of one element that the instances do at one time
  PerTensor<double> most_served;
  PerTensor<double> most_copies;    // at most: instances along dims that the tensor does not have
  PerTensor<double> fewest_copies;  // at least: the same
  PerDim<double> most;              // at most: instances along the dim
  PerDim<double> divisor;  // of the instances along the dim: a common divisor of all choices
  // Imperfect factors: at least, instances along X and along Y
  std::array<PerDim<double>, 2> fewest_along;
  double instances = 1;  // at most: instances
  PackedFactors common;  // `divisor`, packed
  double spread = 1;     // the largest ratio between two choices of a most_served or most_copies
  // The boxes with each half of the choices; kNone if there is one choice, or before the split.
  std::uint32_t left = kNone;
  std::uint32_t right = kNone;
  std::uint32_t choice = kNone;  // the choice, if there is only one
};

// The boxes of one fanout as binary trees, which grow where they are split. The choice that leaves
// the fanout idle has a tree of its own, because its state graph differs from that of the others.
class BoxTree {
 public:
  // All choices that `classes` has for the fanout. `uses`: per tensor.
  BoxTree(const UnrollingClasses& classes, FanoutId fanout,
          const PerTensor<exact::TensorUse>& uses);

  // Valid until the next split.
  const FactorBox& operator[](std::uint32_t box) const { return boxes_[box]; }
  // The box of the choice with one instance
  std::optional<std::uint32_t> idle() const { return idle_; }
  std::optional<std::uint32_t> busy() const { return busy_; }  // the root of all other choices
  // Makes the two halves of a box with more than one choice, unless they are there.
  void split(std::uint32_t box);

 private:
  // The choices of a box: a part of `order_`.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t widest = 0;  // the figure in which they differ most
    double mean = 1;         // the geometric mean of its least and its most
  };
  const double* row(std::uint32_t choice) const { return &rows_[choice * width_]; }
  std::uint32_t add(std::size_t begin, std::size_t end);

  const PrimeFields& primes_;
  const std::vector<FanoutChoice>& choices_;
  std::size_t width_ = 0;     // figures of a choice
  std::vector<double> rows_;  // figures, by choice
  std::vector<std::uint32_t> order_;
  std::vector<FactorBox> boxes_;
  std::vector<Range> ranges_;  // by box
  std::optional<std::uint32_t> idle_;
  std::optional<std::uint32_t> busy_;
};

}  // namespace mapsim::branch
