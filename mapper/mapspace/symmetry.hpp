// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "mapper/mapspace/mapspace.hpp"

namespace mapsim::branch {

// All ways to rename dims that leave every tensor's ranks what they are, but for their order; the
// first one renames nothing. No others where rules tell dims apart, or places on the array.
std::vector<PerDim<DimId>> renamings_of(const Mapspace& space);

// Symmetry classes of perfect factors: classes of unrollings that differ in nothing but names of
// dims, such as the two directions of a square image. Whatever is true of one is true of the
// others, so that the first of them in the order of lists stands for all.
class Symmetry {
 public:
  explicit Symmetry(const Mapspace& space);  // which outlives the symmetry

  using Tuple = UnrollingClasses::Tuple;
  bool is_first(const Tuple& tuple) const;
  std::vector<Tuple> others(const Tuple& tuple) const;  // each once

 private:
  // Calls visit(tuple) with what each renaming makes of it, until it returns false.
  template <class Visit>
  void for_each_image(const Tuple& tuple, const Visit& visit) const;

  const UnrollingClasses& classes_;
  // Per renaming but the first, fanout and choice: the choice that it becomes, if the fanout has
  // it.
  std::vector<PerFanout<std::vector<std::uint32_t>>> images_;
};

}  // namespace mapsim::branch
