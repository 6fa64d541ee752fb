// SPDX-License-Identifier: Apache-2.0
#include "app/space.hpp"

#include <variant>

#include "app/arguments.hpp"
#include "mapper/constraints.hpp"
#include "mapper/supported.hpp"

namespace mapsim {

Constraints read_space(const Problem& problem, const std::string& file, bool even, bool imperfect) {
  Constraints constraints = file.empty() ? Constraints{} : load_constraints(file, problem);
  constraints.even = constraints.even || even;
  constraints.factors.balanced = constraints.factors.balanced || imperfect;
  check_supported(problem, constraints, "exact");
  return constraints;
}

Frames frames_of(const Arch& arch, bool batches) {
  if (batches && !std::holds_alternative<NvdlaTiming>(arch.compute.timing)) {
    throw UsageError("--batches: only for engines after NVDLA (docs/nvdla.md)");
  }
  return batches ? Frames::kBatches : Frames::kOne;
}

}  // namespace mapsim
