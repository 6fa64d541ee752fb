// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "mapper/bounds/phase_boxes.hpp"
#include "mapper/bounds/unrolling_bound.hpp"

namespace mapsim::exact {

// Refetches of several tensors at once, in nests of imperfect factors
// (docs/decisions/0104-bounds-by-phases.md). phases.cpp has the lemma.
class UnrollingBound::Phases {
 public:
  // Bounds of `enough` and more need not be closer [pJ].
  Phases(const UnrollingBound& bound, double enough);

  // A lower bound for the chosen serving nodes, if tensors move in this order, the one whose
  // innermost moving loop is furthest in first. `fills`: what is known of each tensor alone;
  // `best`: the least bound of other orders, which is enough, too.
  double least(const Fills& fills, const std::vector<TensorId>& order, double best);

 private:
  // Where a tensor is kept first: the boundary behind its source.
  using FirstBoundaries = PerTensor<PathBoundary>;
  struct Kept {
    TensorId tensor{};
    std::size_t node = 0;
    double bits = 0;  // of an element
  };
  // What is charged for the outermost level: elements beyond those that are charged already.
  struct Charged {
    Fills fills;           // that arrive at the serving nodes
    TensorSet left_out;    // tensors that are charged for their serving node alone
    double enough = 0;     // [pJ]
    double tolerance = 0;  // [pJ]
  };

  bool slides(TensorId t) const;
  bool slide_apart(const std::vector<TensorId>& tensors) const;
  PerDim<std::int64_t> instances(std::size_t node) const;
  double element_bits(TensorId t) const;
  bool may_share(std::size_t node, TensorId one, TensorId other) const;
  PerDim<ExtentDomain> extents(const PerDim<ExtentDomain>& domains,
                               const PerDim<std::int64_t>& instances,
                               std::span<const TensorId> staying) const;
  std::vector<SharedTiles> capacities(const std::vector<Kept>& kept) const;
  double least_served(const Fills& fills, const std::vector<TensorId>& order, double enough,
                      double tolerance) const;
  std::vector<SharedTiles> capacities_at(std::size_t node, const std::vector<TensorId>& order,
                                         std::size_t staying) const;
  double least_outer(const Charged& charged) const;
  double least_outer(const FirstBoundaries& first, const Charged& charged) const;
  double least_outer(const FirstBoundaries& first, const std::vector<TensorId>& order,
                     const Charged& charged) const;
  std::vector<SharedTiles> capacities_of(const FirstBoundaries& first,
                                         const std::vector<TensorId>& order, std::size_t staying,
                                         double bits_of_sums) const;
  double beyond(TensorId t, const PathBoundary& boundary, double elements,
                const Charged& charged) const;

  const UnrollingBound& bound_;
  const Workload& workload_;
  PerDim<ExtentDomain> all_extents_;  // all ceil(D/n)
  double enough_;
};

}  // namespace mapsim::exact
