// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "mapper/graph/imperfect_tiles.hpp"
#include "mapper/graph/state_graph.hpp"

namespace mapsim::imperfect {

// Dims that are alone in a rank of the tensor.
DimSet single_dims(const Tensor& tensor);

// Per stage and residency, [stage * graph.residencies() + residency]: dims whose chains still
// matter, being unrolled further in, or not alone in a rank of a tensor that is still to be placed.
std::vector<DimSet> dims_that_matter(const exact::StateGraph& graph, const Tiles& tiles);

}  // namespace mapsim::imperfect
