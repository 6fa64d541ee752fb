// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "costmodel/evaluate.hpp"

namespace mapsim {

// Time of the compute units if instances with less work wait for the one with most
// (docs/sparsity.md#time).
struct BusiestInstance {
  double steps = 0;    // on average over data sets
  bool exact = false;  // otherwise a lower bound
  Cycles compute{0};
  Cycles steady{0};  // of the whole: the slowest of these and the ports
};

// nullopt if no instance waits for another: nothing is skipped, or work is shared.
std::optional<BusiestInstance> busiest_instance(const Problem& problem, const Mapping& mapping,
                                                const Cost& cost);

}  // namespace mapsim
