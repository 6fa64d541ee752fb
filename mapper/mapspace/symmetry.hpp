// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::branch {

// All renamings of dims that leave the ranks of every tensor the same, up to their order. The first
// one renames nothing. It is the only one if rules distinguish dims or places in the array.
std::vector<PerDim<DimId>> renamings_of(const Mapspace& space);

// Symmetry of perfect factors: two classes of unrollings are equal if they differ only in names of
// dims, such as the two directions of a square image. They have the same costs and bounds, so the
// first one in the order of lists stands for all.
class Symmetry {
 public:
  explicit Symmetry(const Mapspace& space);  // which outlives the symmetry

  using Tuple = UnrollingClasses::Tuple;
  // Is the class the first of those that equal it?
  bool is_first(const Tuple& tuple) const;
  std::vector<Tuple> others(const Tuple& tuple) const;  // each of them once

 private:
  // Calls visit(tuple) with the image of a class under each renaming, until it returns false.
  template <class Visit>
  void for_each_image(const Tuple& tuple, const Visit& visit) const;

  const UnrollingClasses& classes_;
  // Per renaming (but the first), fanout and choice: the image of the choice, if the fanout has it.
  std::vector<PerFanout<std::vector<std::uint32_t>>> images_;
};

// For each listed class of unrollings of a space, the first class that equals it but for names of
// dims. Renaming dims turns each mapping of one into a mapping of the other with the same cost, so
// their optima and bounds are equal. For a square image under a square kernel, for example, P and
// Q, R and S may be exchanged. With imperfect factors, classes that have the same dims along other
// axes are equal, too. A class stands for itself if rules distinguish dims or places in the array.
// Where a space has more renamings than are listed, fewer equal classes are found.
std::vector<std::size_t> symmetric_classes(const Mapspace& space);

}  // namespace mapsim::branch
