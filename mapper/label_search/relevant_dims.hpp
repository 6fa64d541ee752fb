// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "mapper/graph/extent_lattice.hpp"
#include "mapper/graph/state_graph.hpp"

namespace mapsim::imperfect {

// The dims that are alone in some rank of the tensor.
DimSet single_dims(const Tensor& tensor);

// Per [stage * graph.residencies() + residency]: the dims whose loop chain still affects a cost. A
// fanout further in unrolls such a dim, or some tensor that can still be kept does not have it as
// the only dim of a rank.
std::vector<DimSet> dims_that_matter(const exact::StateGraph& graph, const ExtentLattice& tiles);

}  // namespace mapsim::imperfect
