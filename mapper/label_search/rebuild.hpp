// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "costmodel/mapping.hpp"
#include "mapper/label_search/label_search.hpp"

namespace mapsim::exact {

// The mapping that the steps of a label describe, in canonical form.
Mapping rebuild(const StateGraph& graph, const Unrolled& unrolled, const Unrolling& unrolling,
                const std::vector<Step>& steps);

}  // namespace mapsim::exact
