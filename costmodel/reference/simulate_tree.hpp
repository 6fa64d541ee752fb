// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "costmodel/fusion/evaluate_tree.hpp"
#include "costmodel/reference/simulate.hpp"

namespace mapsim {

struct TreeSimulation {
  TreeCounts counts;                 // every field of the closed form's, found by walking
  std::vector<DenseTensor> outputs;  // per einsum; intermediates: as they were made last
};

// The definition of what a tree does (docs/model.md#fused-mappings): walks the branches step by
// step, moves point sets with their values, and multiplies what it finds. An intermediate is
// forgotten when its scope is passed; a sum is read back iff its parent holds a value of it. Throws
// SimulationFault if a value is missing, or the points that a step must make are no box.
// `max_steps` bounds the walk: std::length_error beyond it.
TreeSimulation simulate_tree(const Arch& arch, const EinsumChain& chain, const MappingTree& tree,
                             const std::vector<PerTensor<DenseTensor>>& operands,
                             std::int64_t max_steps);

}  // namespace mapsim
