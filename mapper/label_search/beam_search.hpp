// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "mapper/bounds/per_tensor_bound.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/path_objective.hpp"
#include "mapper/label_search/steps.hpp"

namespace mapsim::exact {

struct BeamNest {
  ObjectiveKey key;         // infinite: the search did not reach the end
  std::vector<Step> steps;  // from the start to the end
};

// A nest that fits and is usually good, for a first incumbent. The beam search goes step by step
// from the start. It keeps the nodes with the least estimated energy: the cost so far plus each
// tensor's least cost to go. If the objective is latency alone, nodes with the least latency so far
// come first. The search may fail: it may reach no end, or none within the objective's limits. It
// does nothing if the capacity of the outermost level is finite.
BeamNest beam_search(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                     const PerTensorBound& per_tensor, const PathObjective& path_objective);

}  // namespace mapsim::exact
