// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "mapper/bounds/moves.hpp"
#include "mapper/bounds/per_tensor_bound.hpp"
#include "mapper/graph/edge_costs.hpp"
#include "mapper/graph/valuation.hpp"

namespace mapsim::exact {

struct BeamNest {
  Key key;                  // infinite: it came to no end
  std::vector<Step> steps;  // from the start to the end
};

// A nest that fits, and of a good one as a rule: a beam search, step by step from the start, of the
// nodes that promise the least energy by what each tensor alone has to go; if the objective is time
// alone, of those first that have taken the least time so far. It may come to no end, or to none
// within the objective's limits. Machines whose outermost level is finite are not searched.
BeamNest beam_search(const StateGraph& graph, const Unrolled& unrolled, EdgeCosts& costs,
                     const PerTensorBound& per_tensor, const Valuation& valuation);

}  // namespace mapsim::exact
