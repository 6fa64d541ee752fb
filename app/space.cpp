// SPDX-License-Identifier: Apache-2.0
#include "app/space.hpp"

#include "app/arguments.hpp"
#include "mapper/constraints.hpp"

namespace mapsim {

Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect) {
  Constraints constraints = file.empty() ? Constraints{} : load_constraints(file, problem);
  constraints.even = constraints.even || even;
  constraints.factors.balanced = constraints.factors.balanced || imperfect;
  if (!constraints.factors.balanced) {
    return constraints;
  }
  // What a constraints file would not have let through.
  if (rungs(problem.workload(), constraints.factors) > kMostRungs) {
    throw UsageError("--imperfect: too many extents; a constraints file can limit their pieces");
  }
  return constraints;
}

}  // namespace mapsim
