// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "mapper/graph/tensor_use.hpp"
#include "mapper/mapspace/unrolling_classes.hpp"

namespace mapsim::branch {

// A set of choices of one fanout, by what bounds need of them: of every choice in it, a tensor has
// no more instances than `most_...` and no fewer than `fewest_...`.
struct Box {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  PerTensor<double> most_served;    // operations that an element serves at one time
  PerTensor<double> most_copies;    // instances along dims that the tensor does not have
  PerTensor<double> fewest_copies;  // ...
  PerDim<double> most;              // instances along the dim
  PerDim<double> divisor;           // of the instances along the dim, common to all choices
  double instances = 1;             // at most
  PackedFactors common;             // `divisor`
  double spread = 1;                // how much the choices differ: the largest ratio of one figure
  std::uint32_t left = kNone;       // boxes, each with half of the choices; of one choice: none
  std::uint32_t right = kNone;
  std::uint32_t choice = kNone;  // if there is but one
};

// The boxes of one fanout as a binary tree. Choices that use the fanout and the one that does not
// are kept apart: each has a tree of its own, since the search graph is another one.
class BoxTree {
 public:
  // `uses`: of the tensors. All choices of `classes` for the fanout.
  BoxTree(const UnrollingClasses& classes, FanoutId fanout,
          const PerTensor<exact::TensorUse>& uses);

  const Box& operator[](std::uint32_t box) const { return boxes_[box]; }
  std::optional<std::uint32_t> idle() const { return idle_; }  // the choice of one instance
  std::optional<std::uint32_t> busy() const { return busy_; }  // the root of the others

 private:
  struct Figures;
  std::uint32_t build(std::vector<Figures>& figures, std::size_t begin, std::size_t end);

  const PrimeFields& primes_;
  std::vector<Box> boxes_;
  std::optional<std::uint32_t> idle_;
  std::optional<std::uint32_t> busy_;
};

}  // namespace mapsim::branch
