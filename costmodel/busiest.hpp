// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "costmodel/evaluate.hpp"

namespace mapsim {

// Time of the compute units where instances that have less to do wait for the one that has most
// (docs/sparsity.md#time).
struct BusiestInstance {
  double steps = 0;    // on average over data sets
  bool exact = false;  // else a lower bound
  Cycles compute{0};
  Cycles steady{0};  // of the whole: the slowest of these and the ports
};

// None where no instance waits for another: nothing is skipped, or work is shared.
std::optional<BusiestInstance> busiest_instance(const Problem& problem, const Mapping& mapping,
                                                const Cost& cost);

}  // namespace mapsim
