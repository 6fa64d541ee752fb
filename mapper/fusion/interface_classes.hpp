// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "mapper/deadline.hpp"
#include "mapper/fusion/interface.hpp"

namespace mapsim::fusion {

// The interface below whose loops everything is made and read at once: it holds nothing from step
// to step, so that its boxes are those of all interfaces with these loops.
Interface innermost(const EinsumChain& group, const std::vector<Temporal>& loops);

// The classes of interfaces of a group: each has some dims of the sink cut once, in any order, with
// any scopes. The first one cuts none.
class InterfaceClasses {
 public:
  // `held` pays for what is known of classes. Throws UnsupportedSearch where they are too many.
  InterfaceClasses(const EinsumChain& group, std::size_t most_loops, GroupCounter& counter,
                   Held& held);

  std::size_t size() const { return classes_.size(); }
  const std::vector<Temporal>& loops(std::size_t index) const { return classes_[index]; }
  // How often an einsum does all its operations in interfaces of a class, at least.
  double least_runs(std::size_t index, std::size_t e) const;

 private:
  void find_driven(const Temporal& loop, GroupCounter& counter);

  const EinsumChain& group_;
  std::vector<std::vector<Temporal>> classes_;
  PerDim<std::vector<bool>> driven_;  // per dim of the sink and einsum
};

}  // namespace mapsim::fusion
