// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "costmodel/fusion/group_counts.hpp"
#include "mapper/deadline.hpp"

namespace mapsim::fusion {

// The classes of interfaces of a group. A class cuts some dims of the sink once, in some order, and
// has all choices of scopes. The first class cuts none.
class InterfaceClasses {
 public:
  // `held` counts the memory of the classes. Throws UnsupportedSearch if there are too many.
  InterfaceClasses(const EinsumChain& group, std::size_t most_loops, GroupCounter& counter,
                   HeldMemory& held);

  std::size_t size() const { return classes_.size(); }
  const std::vector<Temporal>& loops(std::size_t index) const { return classes_[index]; }
  // A lower bound of how often an einsum does all its operations in the interfaces of a class.
  double least_runs(std::size_t index, std::size_t e) const;

 private:
  void find_driven(const Temporal& loop, GroupCounter& counter);

  const EinsumChain& group_;
  std::vector<std::vector<Temporal>> classes_;
  PerDim<std::vector<bool>> driven_;  // per dim of the sink and einsum
};

// Per einsum of a group: do all boxes with which interfaces enter it divide its bounds? Those of
// the last einsum do, and those of einsums whose output such an einsum reads point by point. Boxes
// that a window reads have halos and divide nothing; a bound of the whole einsum then holds for
// them only through their operations.
std::vector<bool> with_boxes_that_divide(const EinsumChain& group);

}  // namespace mapsim::fusion
